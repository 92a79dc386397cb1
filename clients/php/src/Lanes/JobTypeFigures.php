<?php

declare(strict_types=1);

namespace Offbeat\Lanes;

use DateInterval;
use Offbeat\Internal\JsonAnswer;
use Offbeat\Times;
use Offbeat\V1beta1;

/** A type of job, and how its jobs fare. Mean sojourns are medians over the streams of jobs. */
final class JobTypeFigures implements \JsonSerializable
{
    use JsonAnswer;

    /**
     * @param int $sampleCount how many of the samples are of this type
     * @param float $jobRatio the share of all jobs: 0 to 1
     * @param float $workRatio the share of all run time: 0 to 1
     * @param ?float $timeoutRatio the share of its jobs that run longer than the attempt timeout of the express lane of
     *     the plan's lane set: 0 to 1; null without a lane set
     * @param ?DateInterval $meanSojournWithLanes from arrival to end, with the plan's lane set; null without one
     * @param ?DateInterval $meanSojournByType the same with the plan's lanes by type; null without these
     * @param DateInterval $meanSojournWithoutLanes the same with one queue
     */
    public function __construct(
        public readonly string $name,
        public readonly int $sampleCount,
        public readonly float $jobRatio,
        public readonly float $workRatio,
        public readonly DateInterval $meanRunTime,
        public readonly DateInterval $p50RunTime,
        public readonly DateInterval $p99RunTime,
        public readonly DateInterval $maxRunTime,
        public readonly ?float $timeoutRatio,
        public readonly ?DateInterval $meanSojournWithLanes,
        public readonly ?DateInterval $meanSojournByType,
        public readonly DateInterval $meanSojournWithoutLanes,
    ) {
    }

    /** @internal */
    public static function fromMessage(V1beta1\JobTypeFigures $message): self
    {
        return new self(
            name: $message->getName(),
            sampleCount: $message->getSampleCount(),
            jobRatio: $message->getJobRatio(),
            workRatio: $message->getWorkRatio(),
            meanRunTime: Times::fromDuration($message->getMeanRunTime()),
            p50RunTime: Times::fromDuration($message->getP50RunTime()),
            p99RunTime: Times::fromDuration($message->getP99RunTime()),
            maxRunTime: Times::fromDuration($message->getMaxRunTime()),
            timeoutRatio: $message->hasTimeoutRatio() ? $message->getTimeoutRatio() : null,
            meanSojournWithLanes: Times::fromOptional($message->getMeanSojournWithLanes()),
            meanSojournByType: Times::fromOptional($message->getMeanSojournByType()),
            meanSojournWithoutLanes: Times::fromDuration($message->getMeanSojournWithoutLanes()),
        );
    }
}
