<?php

declare(strict_types=1);

namespace Offbeat\Internal\NamedSpread;

use Offbeat\Exception\DeadlineExceeded;
use Offbeat\Exception\InvalidArgument;
use Offbeat\Exception\OffbeatException;
use Offbeat\Exception\ResourceExhausted;
use Offbeat\Exception\Unavailable;
use Offbeat\Internal\Clock;
use Offbeat\Internal\Transport\RetryingTransport;

/**
 * Retries calls, with pauses, while the sidecar restarts or is full, until no call has succeeded for a number of
 * seconds.
 *
 * @internal
 */
final class Retries
{
    /** Seconds for calls that neither a producer nor a consumer makes: the same as for other services. */
    private const OF_A_CALL = RetryingTransport::PATIENCE_SECONDS;

    private const PAUSE = 0.05; // doubled each time
    private const LONGEST_PAUSE = 1.0;

    private ?float $since = null;
    private float $lastFailure = -INF;
    private float $pause = self::PAUSE;

    public function __construct(private readonly float $seconds)
    {
        if (!is_finite($seconds) || $seconds < 0) {
            throw InvalidArgument::refused('patience', $seconds, 'must be a number of seconds, 0 or more');
        }
    }

    /** The retries of a single call with this timeout, in seconds. */
    public static function ofACall(float $timeout): self
    {
        return new self(min(self::OF_A_CALL, $timeout));
    }

    /**
     * @template T
     *
     * @param \Closure(): T $call
     * @param float $deadline when to stop in any case, by Clock
     *
     * @return T
     *
     * @throws OffbeatException the last error
     */
    public function run(\Closure $call, float $deadline = INF): mixed
    {
        if ($this->lastFailure < Clock::now() - self::LONGEST_PAUSE) {
            $this->since = null; // the last failure is too long ago to count
        }
        while (true) {
            $this->since ??= Clock::now();
            try {
                $answer = $call();
                $this->since = null;
                $this->pause = self::PAUSE;

                return $answer;
            } catch (Unavailable|DeadlineExceeded $lost) {
                $this->wait($lost, $this->pause, $deadline);
            } catch (ResourceExhausted $full) {
                if ($full->retryDelay === null) {
                    throw $full; // the same call would be refused again
                }
                $this->wait($full, $full->retryDelay, $deadline);
            }
        }
    }

    private function wait(OffbeatException $why, float $pause, float $deadline): void
    {
        $this->lastFailure = $now = Clock::now();
        $end = ($this->since ??= $now) + $this->seconds;
        if ($now >= $end) {
            throw $why;
        }
        if ($now >= $deadline) {
            throw new DeadlineExceeded('not done in time', previous: $why);
        }
        Clock::sleep(min($pause, $end - $now, $deadline - $now));
        $this->pause = min($this->pause * 2, self::LONGEST_PAUSE);
    }
}
