<?php

declare(strict_types=1);

namespace Offbeat;

use Offbeat\Exception\InvalidArgument;

/**
 * A circuit breaker for a sidecar that does not answer. After $failureCount consecutive calls without an answer it
 * opens, and calls fail at once with CircuitOpen. After $openDuration it lets one call through, while others still
 * fail. If that call gets no answer either, the breaker stays open for twice as long as before, up to $maxOpenDuration.
 * A refusal counts as an answer.
 *
 * Processes that call the same address share the state: in APCu if it is enabled, otherwise in a file in the temporary
 * folder, which the processes of one user share. If neither can be used, each process has a state of its own.
 */
final class Breaker
{
    /**
     * @param int $failureCount consecutive calls without an answer after which it opens
     * @param int|float $openDuration how long it stays open, in seconds; doubled each time that the next call gets no
     *     answer either
     * @param int|float $maxOpenDuration the longest time that it stays open, in seconds
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
