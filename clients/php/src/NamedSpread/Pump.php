<?php

declare(strict_types=1);

namespace Offbeat\NamedSpread;

use Offbeat\Exception\OffbeatException;
use Offbeat\Internal\Check;
use Offbeat\Internal\Clock;
use Offbeat\Times;

/**
 * Hands the jobs of a spread over to another queue, in the order of the spread, and extends their leases.
 *
 * The closure puts a job into the queue, with its token(). Any process settles the job by the token, with
 * NamedSpread::settle(). At most maxConsumerLeaseCount jobs, a limit of the spread, are handed over but not settled.
 * Twice the feederCount is a good value for it.
 *
 * A job that is not settled within holdFor counts as lost: its lease ends, and the job is handed over again, as its
 * next attempt. The same happens to jobs of a pump whose process has ended, since another pump does not know them.
 */
final class Pump
{
    /** The most jobs of a pull. If the process is killed, they wait until their leases end. */
    private const PULLED_JOBS = 16;

    /** The longest time that a pull waits, in seconds: a stopped pump ends within about this time. */
    private const LONGEST_WAIT = 1.0;

    /**
     * Leases are extended after a third of their duration, but at the latest after this, in seconds. Until then, the
     * pump also holds jobs that have been settled.
     */
    private const LONGEST_ROUND = 5.0;

    private const FIRST_PAUSE = 0.5;
    private const LONGEST_PAUSE = 30.0;

    /** In seconds. */
    private readonly float $holdFor;
    /** @var list<array{LeaseToken, float}> jobs that were handed over, and until when each is held, by Clock */
    private array $held = [];
    /** When leases are extended next, by Clock, and how long after that again, in seconds. */
    private float $nextRound = 0.0;
    private float $round = self::LONGEST_ROUND;
    private bool $stopped = false;

    /**
     * @internal
     *
     * @param \Closure(LeasedJob): mixed $handOver
     */
    public function __construct(
        private readonly NamedSpread $spread,
        private readonly string $spreadName,
        private readonly string $consumerId,
        private readonly \Closure $handOver,
        \DateInterval|int|float $holdFor,
    ) {
        $this->holdFor = Check::timeout('hold_for', $holdFor instanceof \DateInterval ? Times::seconds($holdFor) : $holdFor);
    }

    /**
     * Hands over the jobs that are ready, after a wait of up to a second for the first. Returns false once the spread
     * has ended.
     *
     * @throws \Throwable what the closure throws. The job and those after it are then released, with a delay of a
     *     second.
     */
    public function step(): bool
    {
        if (Clock::now() >= $this->nextRound) {
            $this->extendLeases();
        }
        $wait = max(0.0, min(self::LONGEST_WAIT, $this->nextRound - Clock::now()));
        $pulled = $this->spread->pull($this->consumerId, self::PULLED_JOBS, round($wait, 3));
        $pulledAt = Clock::now();
        foreach ($pulled->jobs as $place => $job) {
            if ($job->expired()) {
                continue; // it expired while earlier jobs were handed over: another consumer may have it
            }
            try {
                ($this->handOver)($job);
            } catch (\Throwable $refused) {
                $this->release(array_slice($pulled->jobs, $place));
                throw $refused;
            }
            $this->hold($job, $pulledAt);
        }

        return $pulled->emptyReason !== EmptyReason::SpreadClosed;
    }

    /**
     * Hands jobs over until stop() is called or the spread has ended. An error goes to PHP's log, and run() continues
     * after a pause of 0.5 to 30 seconds.
     */
    public function run(): void
    {
        $pause = self::FIRST_PAUSE;
        while (!$this->stopped) {
            try {
                if (!$this->step()) {
                    break;
                }
                $pause = self::FIRST_PAUSE;
            } catch (\Throwable $error) {
                $class = $error::class;
                error_log("offbeat: the pump of $this->spreadName continues in $pause s: {$error->getMessage()} ($class)");
                $this->rest($pause);
                $pause = min(2 * $pause, self::LONGEST_PAUSE);
            }
        }
        $this->stopped = false;
    }

    /**
     * Ends run() after its current step; if it is not running, the next run() ends at once. May be called by the
     * closure and by signal handlers.
     */
    public function stop(): void
    {
        $this->stopped = true;
    }

    private function hold(LeasedJob $job, float $pulledAt): void
    {
        $this->held[] = [$job->token(), $pulledAt + $this->holdFor];
        $this->round = min(Times::seconds($job->leaseDuration()) / 3, self::LONGEST_ROUND);
        $this->nextRound = min($this->nextRound, $pulledAt + $this->round);
    }

    /** @param list<LeasedJob> $jobs */
    private function release(array $jobs): void
    {
        try {
            $this->spread->settle(array_map(static fn (LeasedJob $job): array => [$job, SettleAction::Release, 1], $jobs));
        } catch (OffbeatException) {
            // The leases end by themselves; the exception to throw is that of the closure.
        }
    }

    /** Extends the leases of the jobs that the pump holds, and forgets those that are settled or lost. */
    private function extendLeases(): void
    {
        $now = Clock::now();
        $held = array_values(array_filter($this->held, static fn (array $job): bool => $job[1] > $now));
        $results = $this->spread->settle(array_map(static fn (array $job): array => [$job[0], SettleAction::ExtendLease], $held));
        $isExtended = static fn (int $place): bool => $results[$place]->outcome === SettleOutcome::Extended;
        $this->held = array_values(array_filter($held, $isExtended, ARRAY_FILTER_USE_KEY));
        $this->nextRound = $now + $this->round;
    }

    /** Pauses, even if a signal ends a sleep early, until stop() is called. */
    private function rest(float $pause): void
    {
        $end = Clock::now() + $pause;
        while (!$this->stopped && ($left = $end - Clock::now()) > 0) {
            Clock::sleep(min($left, self::LONGEST_WAIT));
        }
    }
}
