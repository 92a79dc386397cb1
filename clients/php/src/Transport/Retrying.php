<?php

declare(strict_types=1);

namespace Offbeat\Transport;

use Offbeat\Exception\DeadlineExceeded;
use Offbeat\Exception\Unavailable;

/**
 * Makes calls again, quickly, that found no sidecar: one that is beside its caller is
 * back soon. The methods that go by it are pure functions, so that it does no harm if
 * the first attempt was answered and the answer lost.
 *
 * @internal
 */
final class Retrying implements Transport
{
    private const ATTEMPTS = 4;
    private const BACKOFF_SECONDS = 0.05; // doubled each time

    public function __construct(private readonly Transport $transport)
    {
    }

    public function call(string $method, string $bytes, float $timeout): string
    {
        $deadline = self::now() + $timeout;
        for ($attempt = 1; ; ++$attempt) {
            $left = $deadline - self::now();
            if ($left <= 0) {
                throw new DeadlineExceeded("no complete answer within $timeout s");
            }
            try {
                return $this->transport->call($method, $bytes, $left);
            } catch (Unavailable $lost) {
                $delay = self::BACKOFF_SECONDS * 2 ** ($attempt - 1);
                if ($attempt === self::ATTEMPTS || self::now() + $delay >= $deadline) {
                    throw $lost;
                }
                usleep((int) ($delay * 1_000_000));
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
