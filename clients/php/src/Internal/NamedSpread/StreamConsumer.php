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
 * Takes jobs from a stream, and settles them on it. When it breaks, settlements without an answer are
 * sent again by calls, and another stream is begun.
 *
 * @internal
 */
final class StreamConsumer extends Consumer
{
    /** How long the beginning of a stream may take, in seconds, and how often it is tried. */
    private const LONG_BEGINNING = 0.1;
    private const BEGINNINGS = 3;

    private ?Conversation $conversation = null;
    /** What the service's clock counts from, by Clock. */
    private float $zero = 0;
    /** @var list<JobSettlement> sent on the stream */
    private array $unanswered = [];
    /** Jobs handed out or dropped since credit was granted. */
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
        $this->settleByCalls(); // what could not be written
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
            $this->conversation?->finish(); // from here on nothing more is leased
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
            // A lease seems shorter by what the beginning took.
            if (Clock::now() - $asked <= self::LONG_BEGINNING || $beginning === self::BEGINNINGS) {
                break;
            }
            $this->disconnect();
        }
        // What the service did at that time was not before it was asked: so no lease seems longer than it is.
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

    /** Sends the settlements that are queued, if there is a stream. */
    private static function credit(int $jobCount): V1\JobCredit
    {
        return (new V1\JobCredit())->setJobCount($jobCount);
    }

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
     * Takes a message, and says what became of settlements by it.
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
            // Not later than now, whichever of the two clocks is the quicker one.
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
