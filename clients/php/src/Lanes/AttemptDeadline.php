<?php

declare(strict_types=1);

namespace Offbeat\Lanes;

use Offbeat\Exception\AttemptTimedOut;
use Offbeat\Internal\Clock;
use Offbeat\Times;

/**
 * Enforces the timeout of a LaneRoute. Nothing interrupts the job: it must call check() often, wherever it can stop.
 *
 *     $deadline = $route->deadline(); // the attempt begins
 *     foreach ($rows as $row) {
 *         $deadline->check();
 *         import($row);
 *     }
 *
 * Time counts from when this object is made, by the monotonic clock, also in a forked process.
 */
final class AttemptDeadline
{
    /** When the time is up, by Clock; null if there is no timeout. */
    private readonly ?float $end;

    /** The attempt starts now. */
    public function __construct(public readonly LaneRoute $route)
    {
        $timeout = $route->attemptTimeout;
        $this->end = $timeout === null ? null : Clock::now() + Times::seconds($timeout);
    }

    /**
     * The job must call this often.
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
     * The rest of the attempt in seconds, for the timeouts of what the job calls: 0.0 if its time is up, null if there
     * is no timeout.
     */
    public function remaining(): ?float
    {
        return $this->end === null ? null : max(0.0, $this->end - Clock::now());
    }

    /** Whether the time is up: for jobs that are suspended instead of aborted. */
    public function expired(): bool
    {
        return $this->end !== null && Clock::now() >= $this->end;
    }
}
