<?php

declare(strict_types=1);

namespace Offbeat\NamedSpread;

/** A job that was given up. */
final class DeadLetter
{
    /**
     * @param int $number names it, from 0 in the order of giving up
     * @param int $index its number within the group, from 0
     * @param string $job its bytes
     * @param int $attemptCount how many times it was lent
     */
    public function __construct(
        public readonly int $number,
        public readonly string $groupId,
        public readonly int $index,
        public readonly string $job,
        public readonly int $attemptCount,
        public readonly DeadLetterCause $cause,
    ) {
    }
}
