<?php

declare(strict_types=1);

namespace Offbeat\Stages;

use DateInterval;
use Offbeat\Internal\JsonAnswer;
use Offbeat\Times;
use Offbeat\V1;

/** The workers of a stage, and the reasons. */
final class StageAllocation implements \JsonSerializable
{
    use JsonAnswer;

    /**
     * @param int $workloadMicros the backlog times the mean run time, in microseconds
     * @param int $weight how many times the workload counts
     * @param DateInterval $meanRunTime the run time that was used
     * @param bool $runTimeEstimated whether that is the mean of other stages, or 1 s, because the call had none for
     *     this stage
     * @param float $score weight · workload / (workers + 1), in microseconds. For people: nothing is decided by it
     * @param float $nextQuotient what one more worker would be worth, in microseconds. For people
     * @param ?DateInterval $drainTime how long the workers take for the backlog and the jobs that arrive meanwhile;
     *     null if the backlog never drains
     * @param int $minStableWorkerCount the fewest workers that keep up with the arrivals; 0 if no job arrives
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

    /** Whether jobs arrive faster than the workers of the stage can run them. */
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
