<?php

declare(strict_types=1);

namespace Offbeat;

use Offbeat\Exception\InvalidArgument;

/**
 * A circuit breaker: after calls in a row that got no answer, calls fail at once with CircuitOpen, until one that is
 * let through after a while is answered. A refusal is an answer.
 *
 * What it knows is shared by all processes of a user that ask the same address: by APCu, where it is loaded, or else
 * in a file of the temporary folder.
 */
final class Breaker
{
    /**
     * @param int $failureCount so many calls in a row without an answer open it
     * @param int|float $openDuration for how long, in seconds; doubled each time that the next call gets no answer either
     * @param int|float $maxOpenDuration the longest that becomes
     */
    public function __construct(
        public readonly int $failureCount = 5,
        public readonly int|float $openDuration = 1,
        public readonly int|float $maxOpenDuration = 30,
    ) {
        if ($failureCount < 1 || $failureCount > 1_000) {
            throw InvalidArgument::refused('failure_count', $failureCount, 'must be 1 to 1000 calls', 'ERROR_REASON_OUT_OF_RANGE');
        }
        if (!($openDuration >= 0.001 && $openDuration <= 3_600)) {
            throw InvalidArgument::refused('open_duration', $openDuration, 'must be 0.001 to 3600 s', 'ERROR_REASON_OUT_OF_RANGE');
        }
        if (!($maxOpenDuration >= $openDuration && $maxOpenDuration <= 3_600)) {
            $allowed = "must be open_duration, $openDuration s, to 3600 s";
            throw InvalidArgument::refused('max_open_duration', $maxOpenDuration, $allowed, 'ERROR_REASON_OUT_OF_RANGE');
        }
    }
}
