<?php

declare(strict_types=1);

namespace Offbeat\NamedSpread;

/** A job that is not tried again. Number and epoch together identify it, within its spread. */
final class DeadLetter
{
    /**
     * @param int $number from 0, in the order in which jobs became dead letters
     * @param int $epoch the epoch in which the number counts: in another one, the same number is another dead letter
     * @param int $jobIndex within the group, from 0
     * @param string $payload any bytes
     * @param int $attemptCount how many times it was leased
     */
    public function __construct(
        public readonly int $number,
        public readonly int $epoch,
        public readonly string $groupId,
        public readonly int $jobIndex,
        public readonly string $payload,
        public readonly int $attemptCount,
        public readonly DeadLetterCause $cause,
    ) {
    }
}
