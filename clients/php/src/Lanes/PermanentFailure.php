<?php

declare(strict_types=1);

namespace Offbeat\Lanes;

use DateInterval;
use Offbeat\Times;
use Offbeat\V1;

/** A job that is not tried again. */
final class PermanentFailure
{
    /**
     * @param string $lane whose timeout it reached, the last
     * @param ?DateInterval $attemptTimeout how long it was let run there
     * @param string $reason the same in words
     */
    public function __construct(
        public readonly string $lane,
        public readonly ?DateInterval $attemptTimeout,
        public readonly string $reason,
    ) {
    }

    /** @internal */
    public static function fromMessage(V1\PermanentFailure $message): self
    {
        return new self($message->getLane(), Times::fromOptional($message->getAttemptTimeout()), $message->getReason());
    }
}
