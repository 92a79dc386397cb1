<?php

declare(strict_types=1);

namespace Offbeat\Lanes;

use DateInterval;
use Offbeat\Internal\JsonAnswer;
use Offbeat\Times;
use Offbeat\V1;

/** The lane of a job, its timeout, and the lane after the timeout. */
final class LaneRoute implements \JsonSerializable
{
    use JsonAnswer;

    /**
     * @param int $attempt from 1: one more than the lanes whose timeout the job has exceeded
     * @param ?DateInterval $attemptTimeout how long the attempt may run; null if there is no timeout
     * @param ?string $nextLaneName the lane that follows the timeout; null if the job then fails permanently
     * @param bool $resumes whether the job continues where it was suspended
     */
    public function __construct(
        public readonly string $laneName,
        public readonly int $attempt,
        public readonly ?DateInterval $attemptTimeout,
        public readonly ?string $nextLaneName,
        public readonly RouteReason $reason,
        public readonly bool $resumes,
    ) {
    }

    /** The deadline of an attempt that starts now. */
    public function deadline(): AttemptDeadline
    {
        return new AttemptDeadline($this);
    }

    /** @internal */
    public static function fromMessage(V1\LaneRoute $message): self
    {
        return new self(
            laneName: $message->getLaneName(),
            attempt: $message->getAttempt(),
            attemptTimeout: Times::fromOptional($message->getAttemptTimeout()),
            nextLaneName: $message->getNextLaneName() === '' ? null : $message->getNextLaneName(),
            reason: RouteReason::fromMessage($message->getReason()),
            resumes: $message->getResumes(),
        );
    }
}
