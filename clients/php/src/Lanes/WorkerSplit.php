<?php

declare(strict_types=1);

namespace Offbeat\Lanes;

use Offbeat\V1;

/** How to split the workers among the lanes. */
final class WorkerSplit
{
    /**
     * @param LaneSet $laneSet the lanes, with the workers that they should have
     * @param list<LaneWorkload> $workloads one for each lane, in their order
     */
    public function __construct(
        public readonly LaneSet $laneSet,
        public readonly array $workloads,
    ) {
    }

    /** @internal */
    public static function fromMessage(V1\SplitWorkersResponse $message): self
    {
        $workloads = array_map(LaneWorkload::fromMessage(...), iterator_to_array($message->getWorkloads(), false));

        return new self(LaneSet::fromMessage($message->getLaneSet()), $workloads);
    }
}
