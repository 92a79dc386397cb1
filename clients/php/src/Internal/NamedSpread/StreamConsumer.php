<?php

declare(strict_types=1);

namespace Offbeat\Internal\NamedSpread;

use Offbeat\Exception\NotFound;
use Offbeat\Exception\OffbeatException;
use Offbeat\Exception\Unavailable;
use Offbeat\Internal\Check;
use Offbeat\Internal\Clock;
use Offbeat\Internal\Transport\Conversation;
use Offbeat\NamedSpread\Consumer;
use Offbeat\NamedSpread\LeasedJob;
use Offbeat\NamedSpread\SettleOutcome;
use Offbeat\NamedSpread\SettleResult;
use Offbeat\Times;
use Offbeat\V1;

/**
 * A consumer that takes jobs from a stream, and settles them on it. If the stream breaks off, settlements without a
 * result are sent again by calls, and another stream is started.
 *
 * @internal
 */
final class StreamConsumer extends Consumer
{
    /** How long the start of a stream may take, in seconds, and how often it is tried. */
    private const LONG_BEGINNING = 0.1;
    private const BEGINNINGS = 3;

    private ?Conversation $conversation = null;
    /** The zero of the sidecar's clock, by Clock. */
    private float $zero = 0;
    /** @var list<JobSettlement> sent on the stream, without a result yet */
    private array $unanswered = [];
    /** Jobs that were handed out or dropped since credit was last granted. */
    private int $used = 0;

    public function __construct(
        Calls $calls,
        Retries $retries,
        ?\Closure $onOutcome,
        string $consumerId,
        private readonly int $window,
    ) {
        parent::__construct($calls, $retries, $onOutcome, $consumerId);
        Check::int32('start.credit.job_count', $window);
    }

    public function flush(): array
    {
        $settled = [];
        try {
            $this->write();
            while ($this->unanswered !== []) {
                array_push($settled, ...$this->read($this->calls->service->timeout));
            }
        } catch (OffbeatException) {
            $this->disconnect();
        }

        return [...$settled, ...$this->settleByCalls()];
    }

    protected function fetch(): void
    {
        $this->retries->run(function (): void {
            try {
                $this->connect();
                $this->write();
                $this->read();
            } catch (NotFound $unknown) {
                $this->disconnect();
                $this->calls->reopen($unknown);
            } catch (OffbeatException $lost) {
                $this->disconnect();
                throw $lost;
            }
        });
    }

    protected function sendQueued(): void
    {
        try {
            $this->write();
        } catch (OffbeatException) {
            $this->disconnect();
        }
        $this->settleByCalls(); // those that could not be written
    }

    protected function handedOut(): void
    {
        if (++$this->used * 2 < $this->window || $this->conversation === null) {
            return;
        }
        try {
            $this->conversation->write((new V1\StreamJobsRequest())->setCredit(self::credit($this->used))->serializeToString());
            $this->used = 0;
        } catch (OffbeatException) {
            $this->disconnect();
        }
    }

    protected function hangUp(): void
    {
        try {
            $this->write();
            $this->conversation?->finish(); // no more jobs are leased after this
            while ($this->conversation !== null) {
                $this->read($this->calls->service->timeout);
            }
        } catch (OffbeatException) {
            $this->disconnect();
        }
        $this->settleByCalls();
    }

    private function connect(): void
    {
        if ($this->conversation !== null) {
            return;
        }
        $this->settleByCalls();
        for ($beginning = 1; ; ++$beginning) {
            $asked = Clock::now();
            $this->conversation = $this->calls->stream($this->consumerId);
            $this->used = 0;
            $started = $this->next($this->calls->service->timeout)?->getStarted();
            if ($started === null) {
                throw new Unavailable('the stream did not begin');
            }
            // Each lease seems shorter by the time that the start took: after a slow start, try again.
            if (Clock::now() - $asked <= self::LONG_BEGINNING || $beginning === self::BEGINNINGS) {
                break;
            }
            $this->disconnect();
        }
        // The stream cannot have started before it was requested, so that no lease seems longer than it is.
        $this->zero = $asked - Times::seconds(Times::fromDuration($started->getUptime()));
        $this->conversation->write((new V1\StreamJobsRequest())->setCredit(self::credit($this->window))->serializeToString());
    }

    private function disconnect(): void
    {
        $this->conversation?->close();
        $this->conversation = null;
        if ($this->unanswered !== []) {
            $this->queued = [...$this->unanswered, ...$this->queued];
            $this->unanswered = [];
            $this->due = 0;
        }
    }

    private static function credit(int $jobCount): V1\JobCredit
    {
        return (new V1\JobCredit())->setJobCount($jobCount);
    }

    /** Sends the queued settlements, if there is a stream. */
    private function write(): void
    {
        while ($this->conversation !== null && $this->queued !== []) {
            $batch = JobSettlement::batch($this->queued);
            $this->queued = array_slice($this->queued, count($batch));
            array_push($this->unanswered, ...$batch);
            $settlements = (new V1\JobSettlements())
                ->setEpoch($batch[0]->job->epoch)
                ->setSettlements(array_column($batch, 'message'));
            $this->conversation->write((new V1\StreamJobsRequest())->setSettlements($settlements)->serializeToString());
        }
        if ($this->queued === []) {
            $this->due = INF;
        }
    }

    /**
     * Receives a message. Returns the jobs whose settlements it answers, and their outcomes.
     *
     * @return list<array{LeasedJob, SettleOutcome}>
     */
    private function read(?float $timeout = null): array
    {
        $response = $this->next($timeout);
        if ($response === null) {
            $this->ended = true;
            $this->disconnect();

            return $this->settleByCalls();
        }
        if ($response->hasLeased()) {
            $leased = $response->getLeased();
            // Not later than now, even if one of the two clocks is faster.
            $start = min($this->zero + Times::seconds(Times::fromDuration($leased->getLeaseStartUptime())), Clock::now());
            $jobs = Messages::jobs($leased, $start + Messages::lease($leased), $this);
            array_map($this->ready->enqueue(...), $jobs);
        }
        $results = $response->hasSettleResults() ? iterator_to_array($response->getSettleResults()->getResults(), false) : [];
        $settlements = array_splice($this->unanswered, 0, count($results));

        return array_map($this->settled(...), $settlements, array_map(SettleResult::fromMessage(...), $results));
    }

    private function next(?float $timeout): ?V1\StreamJobsResponse
    {
        $bytes = $this->conversation->read($timeout);

        return $bytes === null ? null : $this->calls->service->read($bytes, new V1\StreamJobsResponse());
    }
}
