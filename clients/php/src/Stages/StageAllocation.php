<?php

declare(strict_types=1);

namespace Offbeat\Stages;

use DateInterval;
use Offbeat\Times;
use Offbeat\V1;

/** What a stage gets, and why. */
final class StageAllocation
{
    /**
     * @param int $workloadMicros its backlog times its mean service time, in microseconds
     * @param int $weight how many times the workload counts
     * @param DateInterval $meanServiceTime what was reckoned with
     * @param bool $serviceTimeIsEstimated whether that is the mean of the other stages, for want of its own
     * @param float $score weight · workload / (workers + 1), in microseconds. To be read: nothing
     *     is decided by it
     * @param float $nextQuotient what one worker more would be worth, in microseconds. To be read, too
     */
    public function __construct(
        public readonly string $name,
        public readonly int $workerCount,
        public readonly int $workloadMicros,
        public readonly int $weight,
        public readonly DateInterval $meanServiceTime,
        public readonly bool $serviceTimeIsEstimated,
        public readonly float $score,
        public readonly float $nextQuotient,
    ) {
    }

    /** @internal */
    public static function fromMessage(V1\StageAllocation $message): self
    {
        return new self(
            name: $message->getName(),
            workerCount: $message->getWorkerCount(),
            workloadMicros: (int) $message->getWorkloadMicros(),
            weight: $message->getWeight(),
            meanServiceTime: Times::fromDuration($message->getMeanServiceTime()),
            serviceTimeIsEstimated: $message->getServiceTimeIsEstimated(),
            score: $message->getScore(),
            nextQuotient: $message->getNextQuotient(),
        );
    }
}
