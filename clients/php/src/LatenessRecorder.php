<?php

declare(strict_types=1);

namespace Offbeat;

use DateTimeImmutable;
use DateTimeInterface;
use Offbeat\Exception\Unavailable;
use Offbeat\Internal\Clock;
use Prometheus\RegistryInterface;

/**
 * Records how late runs start, into the metrics of the application, into those of the sidecar, or
 * both.
 *
 *     $lateness = new LatenessRecorder('nightly', kind: 'sync', metrics: $registry);
 *     $lateness->record($scheduledTime); // at the start of the job
 *
 * It never fails the job: what goes wrong is in lastError().
 */
final class LatenessRecorder
{
    /** The upper bounds of the histogram, in seconds: those of the sidecar's own. */
    public const BUCKETS = [0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3_600.0, 14_400.0, 43_200.0, 86_400.0];

    /** The sidecar is told of so many runs at once, … */
    private const BATCH_RUNS = 500;
    /** … or, when the next run starts, after so long. */
    private const BATCH_SECONDS = 5.0;
    /** How long a job may be kept by a sidecar that does not answer. */
    private const CALL_SECONDS = 1.0;
    /** While the sidecar is away, the oldest runs beyond this are forgotten. */
    private const MAX_WAITING_RUNS = 10_000;
    /** What is later is said to be so late, since the sidecar takes no more. */
    private const MAX_SECONDS = 366 * 86_400;

    private readonly string $schedule;
    /** @var list<float> what the sidecar has not been told yet */
    private array $waiting = [];
    /** When it will be told; by Clock. */
    private float $due = INF;
    private int $pid;
    private ?\Throwable $lastError = null;

    /**
     * @param ScheduleReference|string $schedule what stands for the schedule in the labels: its name
     * @param RegistryInterface|(\Closure(float, string, string): void)|null $metrics a registry of
     *     promphp/prometheus_client_php, where it makes the histogram offbeat_run_lateness_seconds with
     *     the labels schedule and kind; or what is called with the seconds, the schedule and the kind
     * @param ?Client $client tells its sidecar, too: in batches, and the rest by flush(), or when the
     *     recorder is no longer needed
     */
    public function __construct(
        ScheduleReference|string $schedule,
        private readonly string $kind = 'default',
        private readonly RegistryInterface|\Closure|null $metrics = null,
        private readonly ?Client $client = null,
    ) {
        $this->schedule = ScheduleReference::nameOf($schedule);
        $this->pid = getmypid();
    }

    public function __destruct()
    {
        $this->flush();
    }

    /**
     * Records the start of a run.
     *
     * @param DateTimeInterface|Run|Row $scheduled the run, or when it should have started, as the job carries
     *     it: its scheduledTime
     * @param ?DateTimeInterface $startedTime when it did. Default: now
     *
     * @return float its lateness in seconds, never below 0
     */
    public function record(DateTimeInterface|Run|Row $scheduled, ?DateTimeInterface $startedTime = null): float
    {
        $scheduledTime = match (true) {
            $scheduled instanceof Run => $scheduled->scheduledTime,
            $scheduled instanceof Row => $scheduled->nextRun->scheduledTime,
            default => $scheduled,
        };
        $seconds = self::between($scheduledTime, $startedTime ?? new DateTimeImmutable());
        try {
            $this->observe($seconds);
        } catch (\Throwable $why) {
            $this->lastError = $why;
        }
        if ($this->client !== null) {
            $this->leaveToTheParent();
            $this->waiting[] = min($seconds, self::MAX_SECONDS);
            $this->due = min($this->due, Clock::now() + self::BATCH_SECONDS);
            if (count($this->waiting) % self::BATCH_RUNS === 0 || Clock::now() >= $this->due) {
                $this->flush();
            }
        }

        return $seconds;
    }

    /** Tells the sidecar what it has not been told yet. */
    public function flush(): void
    {
        $this->leaveToTheParent();
        $runs = $this->waiting;
        if ($runs === []) {
            return;
        }
        $this->waiting = [];
        $this->due = INF;
        try {
            $this->client->recordLateness($this->schedule, $runs, $this->kind, timeout: self::CALL_SECONDS);
        } catch (Unavailable $away) {
            $this->lastError = $away;
            $this->waiting = array_slice($runs, -self::MAX_WAITING_RUNS);
            $this->due = Clock::now() + self::BATCH_SECONDS;
        } catch (\Throwable $why) { // some of them, if counted again, would count twice
            $this->lastError = $why;
        }
    }

    /** The last error, if there was one. */
    public function lastError(): ?\Throwable
    {
        return $this->lastError;
    }

    private function observe(float $seconds): void
    {
        if ($this->metrics instanceof \Closure) {
            ($this->metrics)($seconds, $this->schedule, $this->kind);
        } elseif ($this->metrics !== null) {
            $this->metrics->getOrRegisterHistogram(
                'offbeat',
                'run_lateness_seconds',
                'From the scheduled to the real start of runs',
                ['schedule', 'kind'],
                self::BUCKETS,
            )->observe($seconds, [$this->schedule, $this->kind]);
        }
    }

    /** What waits in a process that was forked since is told by the one that it was forked from. */
    private function leaveToTheParent(): void
    {
        if ($this->pid !== getmypid()) {
            $this->pid = getmypid();
            $this->waiting = [];
            $this->due = INF;
        }
    }

    private static function between(DateTimeInterface $scheduled, DateTimeInterface $started): float
    {
        $micros = (int) $started->format('u') - (int) $scheduled->format('u');

        return max(0.0, $started->getTimestamp() - $scheduled->getTimestamp() + $micros / 1_000_000);
    }
}
