<?php

declare(strict_types=1);

namespace Offbeat\Lanes;

use DateInterval;
use Offbeat\Internal\JsonAnswer;
use Offbeat\Times;
use Offbeat\V1beta1;

/** Jobs of about one length, and how they fare, with lanes and with one queue: medians over the streams of jobs. */
final class RunTimeClass implements \JsonSerializable
{
    use JsonAnswer;

    /**
     * @param ?DateInterval $maxRunTime the longest run time; null in the last class
     * @param float $jobRatio the share of all jobs: 0 to 1
     * @param ?int $sampleCount how many of the samples are in this class; null if none were given
     * @param DateInterval $meanWaitWithLanes from arrival to first start
     * @param DateInterval $meanWaitWithoutLanes the same with one queue
     * @param DateInterval $meanSojournWithLanes from arrival to end
     * @param DateInterval $meanSojournWithoutLanes the same with one queue
     */
    public function __construct(
        public readonly ?DateInterval $maxRunTime,
        public readonly float $jobRatio,
        public readonly ?int $sampleCount,
        public readonly DateInterval $meanWaitWithLanes,
        public readonly DateInterval $meanWaitWithoutLanes,
        public readonly DateInterval $meanSojournWithLanes,
        public readonly DateInterval $meanSojournWithoutLanes,
    ) {
    }

    /** @internal */
    public static function fromMessage(V1beta1\RunTimeClass $message): self
    {
        return new self(
            maxRunTime: Times::fromOptional($message->getMaxRunTime()),
            jobRatio: $message->getJobRatio(),
            sampleCount: $message->hasSampleCount() ? $message->getSampleCount() : null,
            meanWaitWithLanes: Times::fromDuration($message->getMeanWaitWithLanes()),
            meanWaitWithoutLanes: Times::fromDuration($message->getMeanWaitWithoutLanes()),
            meanSojournWithLanes: Times::fromDuration($message->getMeanSojournWithLanes()),
            meanSojournWithoutLanes: Times::fromDuration($message->getMeanSojournWithoutLanes()),
        );
    }
}
