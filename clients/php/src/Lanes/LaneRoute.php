<?php

declare(strict_types=1);

namespace Offbeat\Lanes;

use DateInterval;
use Offbeat\Times;
use Offbeat\V1;

/** Where a job runs, for how long, and what follows a timeout. */
final class LaneRoute
{
    /**
     * @param int $attempt from 1; those that reached a timeout came before
     * @param ?DateInterval $attemptTimeout how long the attempt may run; null if as long as it likes
     * @param ?string $laneOnTimeout the lane that follows the timeout; null if the job has then
     *     failed for good
     * @param bool $resumes whether the job goes on where it was suspended
     */
    public function __construct(
        public readonly string $lane,
        public readonly int $attempt,
        public readonly ?DateInterval $attemptTimeout,
        public readonly ?string $laneOnTimeout,
        public readonly RouteReason $reason,
        public readonly bool $resumes,
    ) {
    }

    /** The deadline of an attempt that begins now, for the job to keep. */
    public function deadline(): AttemptDeadline
    {
        return new AttemptDeadline($this);
    }

    /** @internal */
    public static function fromMessage(V1\LaneRoute $message): self
    {
        return new self(
            lane: $message->getLane(),
            attempt: $message->getAttempt(),
            attemptTimeout: Times::fromOptional($message->getAttemptTimeout()),
            laneOnTimeout: $message->getLaneOnTimeout() === '' ? null : $message->getLaneOnTimeout(),
            reason: RouteReason::fromMessage($message->getReason()),
            resumes: $message->getResumes(),
        );
    }
}
