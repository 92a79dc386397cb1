<?php

declare(strict_types=1);

namespace Offbeat\Lanes;

use Offbeat\V1;

/** Another split of the workers between the lanes. */
final class WorkerSplit
{
    /**
     * @param LaneSet $laneSet the lanes, with the workers that they should have
     * @param list<int> $waitingMicros the work that was reckoned with for each lane, in microseconds
     */
    public function __construct(
        public readonly LaneSet $laneSet,
        public readonly array $waitingMicros,
    ) {
    }

    /** @internal */
    public static function fromMessage(V1\SplitWorkersResponse $message): self
    {
        $micros = array_map(intval(...), iterator_to_array($message->getWaitingMicros(), false));

        return new self(LaneSet::fromMessage($message->getLaneSet()), $micros);
    }
}
