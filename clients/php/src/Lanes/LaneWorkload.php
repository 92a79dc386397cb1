<?php

declare(strict_types=1);

namespace Offbeat\Lanes;

use Offbeat\V1;

/** The work that waits for a lane. */
final class LaneWorkload
{
    /** @param int $workloadMicros the backlog times the mean run time, in microseconds */
    public function __construct(
        public readonly string $laneName,
        public readonly int $workloadMicros,
    ) {
    }

    /** @internal */
    public static function fromMessage(V1\LaneWorkload $message): self
    {
        return new self($message->getLaneName(), (int) $message->getWorkloadMicros());
    }
}
