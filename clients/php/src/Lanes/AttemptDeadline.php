<?php

declare(strict_types=1);

namespace Offbeat\Lanes;

use Offbeat\Exception\AttemptTimedOut;
use Offbeat\Internal\Clock;
use Offbeat\Times;

/**
 * When an attempt's time is up. Nothing interrupts the job: it must call check() often, wherever
 * it can stop.
 *
 *     $deadline = $route->deadline(); // the attempt begins
 *     foreach ($rows as $row) {
 *         $deadline->check();
 *         import($row);
 *     }
 *
 * By a clock that never jumps, so that it holds in a forked process too.
 */
final class AttemptDeadline
{
    /** By Clock. */
    private readonly ?float $end;

    /** The attempt begins now. */
    public function __construct(public readonly LaneRoute $route)
    {
        $timeout = $route->attemptTimeout;
        $this->end = $timeout === null ? null : Clock::now() + Times::seconds($timeout);
    }

    /**
     * To be called by the job, often.
     *
     * @throws AttemptTimedOut if the time is up
     */
    public function check(): void
    {
        if ($this->expired()) {
            throw new AttemptTimedOut($this->route);
        }
    }

    /**
     * How many seconds the attempt has left, for the timeouts of what the job calls: 0.0 if its
     * time is up, null if it may run as long as it likes.
     */
    public function remaining(): ?float
    {
        return $this->end === null ? null : max(0.0, $this->end - Clock::now());
    }

    /** Whether the time is up: for jobs that can be suspended, and save where they are. */
    public function expired(): bool
    {
        return $this->end !== null && Clock::now() >= $this->end;
    }
}
