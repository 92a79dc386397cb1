<?php

declare(strict_types=1);

namespace Offbeat\Internal\Transport;

use Offbeat\Exception\DeadlineExceeded;
use Offbeat\Exception\Unavailable;

/**
 * Retries calls that do not reach the sidecar, for as long as a restart may take and the call's deadline allows. The
 * methods that are called through it are pure functions, so that it does no harm if an earlier attempt was answered and
 * the answer was lost.
 *
 * @internal
 */
final class RetryingTransport implements Transport
{
    /** Seconds after the first failed attempt, until which calls are retried. */
    public const PATIENCE_SECONDS = 4.0;

    private const PAUSE_SECONDS = 0.05; // doubled each time
    private const LONGEST_PAUSE_SECONDS = 0.5;

    public function __construct(
        private readonly Transport $transport,
        private readonly float $patience = self::PATIENCE_SECONDS,
    ) {
    }

    public function call(string $method, string $bytes, float $timeout): string
    {
        $deadline = self::now() + $timeout;
        $end = $lost = null;
        $pause = self::PAUSE_SECONDS;
        while (true) {
            $left = $deadline - self::now();
            if ($left <= 0) {
                throw $lost ?? new DeadlineExceeded("no complete answer within $timeout s");
            }
            try {
                return $this->transport->call($method, $bytes, $left);
            } catch (DeadlineExceeded $late) {
                // The reason why the sidecar could not be reached says more than a timeout.
                throw $lost ?? $late;
            } catch (Unavailable $lost) {
                $end ??= min($deadline, self::now() + $this->patience);
                if (self::now() + $pause >= $end) {
                    throw $lost;
                }
                usleep((int) ($pause * 1_000_000));
                $pause = min($pause * 2, self::LONGEST_PAUSE_SECONDS);
            }
        }
    }

    public function close(): void
    {
        $this->transport->close();
    }

    private static function now(): float
    {
        return hrtime(true) / 1e9;
    }
}
