<?php

declare(strict_types=1);

namespace Offbeat\NamedSpread;

use Offbeat\Check;
use Offbeat\Exception\NotFound;
use Offbeat\Exception\OffbeatException;
use Offbeat\Exception\Unavailable;
use Offbeat\Times;
use Offbeat\Transport\Conversation;
use Offbeat\V1;

/**
 * Draws jobs by a stream, and says on it how they went. When it breaks, verdicts without an answer
 * are said again by calls, and another stream is begun.
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
    /** @var list<JobVerdict> sent on the stream */
    private array $unanswered = [];
    /** Jobs handed out or dropped since credit was granted. */
    private int $used = 0;

    public function __construct(
        Calls $calls,
        Patience $patience,
        ?\Closure $onSettlement,
        string $name,
        private readonly int $window,
    ) {
        parent::__construct($calls, $patience, $onSettlement, $name);
        Check::int32('start.credit', $window);
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
        $this->patience->run(function (): void {
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
            $this->conversation->write((new V1\StreamJobsRequest())->setCredit($this->used)->serializeToString());
            $this->used = 0;
        } catch (OffbeatException) {
            $this->disconnect();
        }
    }

    protected function hangUp(): void
    {
        try {
            $this->write();
            $this->conversation?->finish(); // from here on nothing more is lent
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
            $this->conversation = $this->calls->stream($this->name);
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
        $this->zero = $asked - Times::seconds(Times::fromDuration($started->getAt()));
        $this->conversation->write((new V1\StreamJobsRequest())->setCredit($this->window)->serializeToString());
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

    /** Sends the verdicts that are queued, if there is a stream. */
    private function write(): void
    {
        while ($this->conversation !== null && $this->queued !== []) {
            $batch = JobVerdict::batch($this->queued);
            $this->queued = array_slice($this->queued, count($batch));
            array_push($this->unanswered, ...$batch);
            $verdicts = (new V1\JobVerdicts())
                ->setEpoch($batch[0]->job->epoch)
                ->setVerdicts(array_column($batch, 'message'));
            $this->conversation->write((new V1\StreamJobsRequest())->setVerdicts($verdicts)->serializeToString());
        }
        if ($this->queued === []) {
            $this->due = INF;
        }
    }

    /**
     * Takes a message, and says what verdicts came to by it.
     *
     * @return list<array{LeasedJob, Settlement}>
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
            $lent = min($this->zero + Times::seconds(Times::fromDuration($leased->getLentAt())), Clock::now());
            $jobs = Messages::jobs($leased, $lent + Messages::lease($leased), $this);
            array_map($this->ready->enqueue(...), $jobs);
        }
        $numbers = $response->hasSettled() ? iterator_to_array($response->getSettled()->getSettlements(), false) : [];
        $verdicts = array_splice($this->unanswered, 0, count($numbers));

        return array_map($this->settled(...), $verdicts, array_map(Settlement::fromMessage(...), $numbers));
    }

    private function next(?float $timeout): ?V1\StreamJobsResponse
    {
        $bytes = $this->conversation->read($timeout);

        return $bytes === null ? null : $this->calls->service->read($bytes, new V1\StreamJobsResponse());
    }
}
