<?php

declare(strict_types=1);

namespace Offbeat;

use DateTimeImmutable;
use DateTimeInterface;
use Offbeat\Exception\Unavailable;
use Offbeat\Internal\Clock;
use Prometheus\RegistryInterface;

/**
 * Records how late runs start, in the metrics of the application, in those of the sidecar, or in both.
 *
 *     $lateness = new LatenessRecorder('nightly', kind: 'sync', metrics: $registry);
 *     $lateness->record($scheduledTime); // at the start of the job
 *
 * Recording never makes a job fail: lastError() has what went wrong.
 */
final class LatenessRecorder
{
    /** The upper bounds of the histogram, in seconds: the same as the sidecar's. */
    public const BUCKETS = [0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3_600.0, 14_400.0, 43_200.0, 86_400.0];

    /** Runs that are sent to the sidecar together. */
    private const BATCH_RUNS = 500;
    /** Seconds after which fewer are sent, when the next run starts. */
    private const BATCH_SECONDS = 5.0;
    /** Seconds: the longest time that a job waits for the sidecar. */
    private const CALL_SECONDS = 1.0;
    /** While the sidecar is unavailable, this many runs are kept, and older ones are dropped. */
    private const MAX_WAITING_RUNS = 10_000;
    /** Seconds: the largest lateness that the sidecar accepts. A larger one is sent as this. */
    private const MAX_SECONDS = 366 * 86_400;

    private readonly string $schedule;
    /** @var list<float> the lateness of the runs that have not been sent */
    private array $waiting = [];
    /** When these are sent, by Clock. */
    private float $due = INF;
    private int $pid;
    private ?\Throwable $lastError = null;

    /**
     * @param ScheduleReference|string $schedule its name, without the version, is a label of the metric
     * @param RegistryInterface|(\Closure(float, string, string): void)|null $metrics a registry of
     *     promphp/prometheus_client_php, in which the recorder makes the histogram offbeat_run_lateness_seconds with
     *     the labels schedule and kind; or a closure that is called with the seconds, the schedule and the kind
     * @param ?Client $client to record in the metrics of its sidecar too: in batches, and the rest by flush(), or when
     *     the recorder is destroyed
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
     * @param DateTimeInterface|Run|Row $scheduled the run, or the time at which it should have started, as the job
     *     carries it: its scheduledTime
     * @param ?DateTimeInterface $startedTime when it started. Default: now
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

    /** Sends the sidecar the runs that have not been sent. */
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
        } catch (\Throwable $why) { // the sidecar may have counted some: sent again, they would count twice
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

    /** Forgets, after a fork, the runs of the parent that have not been sent: the parent sends them. */
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
