<?php

declare(strict_types=1);

namespace Offbeat\NamedSpread;

/** A job that is not tried again. */
final class DeadLetter
{
    /**
     * @param int $number identifies it within the epoch, from 0
     * @param int $jobIndex within the group, from 0
     * @param string $payload any bytes
     * @param int $attemptCount how many times it was leased
     */
    public function __construct(
        public readonly int $number,
        public readonly string $groupId,
        public readonly int $jobIndex,
        public readonly string $payload,
        public readonly int $attemptCount,
        public readonly DeadLetterCause $cause,
    ) {
    }
}
