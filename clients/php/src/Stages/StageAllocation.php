<?php

declare(strict_types=1);

namespace Offbeat\Stages;

use DateInterval;
use Offbeat\Internal\JsonAnswer;
use Offbeat\Times;
use Offbeat\V1;

/** The allocation of a stage, and its reasons. */
final class StageAllocation implements \JsonSerializable
{
    use JsonAnswer;

    /**
     * @param int $workloadMicros its backlog times its mean run time, in microseconds
     * @param int $weight how many times the workload counts
     * @param DateInterval $meanRunTime what was counted with
     * @param bool $runTimeEstimated whether that is the mean of the other stages, because its own was not measured
     * @param float $score weight · workload / (workers + 1), in microseconds. To be read: nothing
     *     is decided by it
     * @param float $nextQuotient what one worker more would be worth, in microseconds. To be read, too
     * @param ?DateInterval $drainTime when its workers have done what waits and what arrives meanwhile; null:
     *     never
     * @param int $minStableWorkerCount the fewest workers that keep up with what arrives; 0 if nothing does
     */
    public function __construct(
        public readonly string $stageName,
        public readonly int $workerCount,
        public readonly int $workloadMicros,
        public readonly int $weight,
        public readonly DateInterval $meanRunTime,
        public readonly bool $runTimeEstimated,
        public readonly float $score,
        public readonly float $nextQuotient,
        public readonly ?DateInterval $drainTime,
        public readonly int $minStableWorkerCount,
    ) {
    }

    /** Whether jobs arrive faster than its workers do them. */
    public function grows(): bool
    {
        return $this->workerCount < $this->minStableWorkerCount;
    }

    /** @internal */
    public static function fromMessage(V1\StageAllocation $message): self
    {
        return new self(
            stageName: $message->getStageName(),
            workerCount: $message->getWorkerCount(),
            workloadMicros: (int) $message->getWorkloadMicros(),
            weight: $message->getWeight(),
            meanRunTime: Times::fromDuration($message->getMeanRunTime()),
            runTimeEstimated: $message->getRunTimeEstimated(),
            score: $message->getScore(),
            nextQuotient: $message->getNextQuotient(),
            drainTime: $message->hasDrainTimeMicros() ? Times::fromMicros((int) $message->getDrainTimeMicros()) : null,
            minStableWorkerCount: $message->getMinStableWorkerCount(),
        );
    }
}
