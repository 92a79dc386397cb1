<?php

declare(strict_types=1);

namespace Offbeat\NamedSpread;

use DateTimeImmutable;
use Offbeat\Exception\OffbeatException;
use Offbeat\Internal\Check;
use Offbeat\Internal\Clock;
use Offbeat\Internal\NamedSpread\Calls;
use Offbeat\Internal\NamedSpread\JobSettlement;
use Offbeat\Internal\NamedSpread\Retries;

/**
 * The jobs of a spread, as they come, until it is closed and drained: take them with foreach, and settle each.
 * Settlements are sent a few at a time; close() sends the last ones.
 *
 * A job whose lease has ended, by the clock of this machine, is never handed out.
 *
 * @implements \IteratorAggregate<int, LeasedJob>
 */
abstract class Consumer implements \IteratorAggregate
{
    private const LONGEST_QUEUED = 1.0;

    /** @var \SplQueue<LeasedJob> pulled, but not handed out */
    protected readonly \SplQueue $ready;
    /** @var list<JobSettlement> not sent yet */
    protected array $queued = [];
    /** When the queued settlements must be sent, by Clock. */
    protected float $due = INF;
    protected bool $ended = false;
    private bool $closed = false;
    /** Jobs that were released, and for which no others were requested yet. */
    private int $dropped = 0;
    private int $staleCount = 0;

    /** @internal */
    public function __construct(
        protected readonly Calls $calls,
        protected readonly Retries $retries,
        private readonly ?\Closure $onOutcome,
        protected readonly string $consumerId,
    ) {
        Check::utf8('consumer_id', $consumerId);
        $this->ready = new \SplQueue();
    }

    /**
     * @return \Generator<int, LeasedJob>
     *
     * @throws OffbeatException
     */
    public function getIterator(): \Generator
    {
        while (($job = $this->next()) !== null) {
            yield $job;
        }
    }

    /**
     * Sends the queued settlements, and returns their outcomes.
     *
     * @return list<array{LeasedJob, SettleOutcome}>
     *
     * @throws OffbeatException
     */
    abstract public function flush(): array;

    /** How many settlements came too late: those jobs may run twice. */
    public function staleCount(): int
    {
        return $this->staleCount;
    }

    /**
     * Sends the queued settlements, and releases the jobs that were not handed out. Jobs that were handed out but not
     * settled stay leased until their leases end.
     *
     * @throws OffbeatException
     */
    public function close(): void
    {
        $this->ended = true;
        $this->hangUp();
        while (!$this->ready->isEmpty()) {
            $this->releaseUnseen($this->ready->dequeue());
        }
        $this->settleByCalls();
        $this->closed = true;
    }

    /**
     * Releases a job that was not handed out: its attempt does not count, even if its lease has ended while it waited
     * here.
     */
    private function releaseUnseen(LeasedJob $job): void
    {
        $this->queued[] = new JobSettlement($job, SettleAction::Release);
    }

    /** @internal */
    public function settle(LeasedJob $job, SettleAction $action, \DateInterval|int|float $delay = 0): void
    {
        if ($this->closed) {
            throw new \LogicException('the consumer is closed: the settlement would not be sent');
        }
        $this->queued[] = new JobSettlement($job, $action, $delay);
        $this->due = min($this->due, Clock::now() + self::LONGEST_QUEUED, $job->settleBy());
    }

    /** @internal */
    public function extendLease(LeasedJob $job): ?DateTimeImmutable
    {
        $settlement = new JobSettlement($job, SettleAction::ExtendLease);
        [$result] = $this->retries->run(fn (): array => $this->calls->settle([$settlement]));

        return $result->outcome === SettleOutcome::Extended ? $job->leaseEndTime() : null;
    }

    /** Waits for more jobs, or for the end of the spread. */
    abstract protected function fetch(): void;

    /** Sends the queued settlements. */
    abstract protected function sendQueued(): void;

    /** Called when a job is handed out, or dropped. */
    abstract protected function handedOut(): void;

    /** Stops pulling jobs. */
    abstract protected function hangUp(): void;

    /** @return list<array{LeasedJob, SettleOutcome}> */
    protected function settleByCalls(): array
    {
        $settled = [];
        while ($this->queued !== []) {
            $batch = JobSettlement::batch($this->queued);
            $results = $this->retries->run(fn (): array => $this->calls->settle($batch));
            $this->queued = array_slice($this->queued, count($batch));
            array_push($settled, ...array_map($this->settled(...), $batch, $results));
        }
        $this->due = INF;

        return $settled;
    }

    /** @return array{LeasedJob, SettleOutcome} */
    protected function settled(JobSettlement $settlement, SettleResult $result): array
    {
        // A job that was not started does not run twice.
        if ($result->outcome === SettleOutcome::Stale && $settlement->action !== SettleAction::Release) {
            ++$this->staleCount;
        }
        if ($this->onOutcome !== null) {
            ($this->onOutcome)($settlement->job, $result->outcome);
        }

        return [$settlement->job, $result->outcome];
    }

    /** Sends releases before it requests other jobs: otherwise the same ones could be leased to this consumer again. */
    private function dropReleased(): void
    {
        if ($this->dropped === 0) {
            return;
        }
        $this->sendQueued();
        for (; $this->dropped > 0; --$this->dropped) {
            $this->handedOut();
        }
    }

    private function next(): ?LeasedJob
    {
        while (true) {
            if ($this->due <= Clock::now()) {
                $this->sendQueued();
            }
            while (!$this->ready->isEmpty()) {
                $job = $this->ready->dequeue();
                if ($job->expired()) {
                    $this->releaseUnseen($job);
                    ++$this->dropped;
                    continue;
                }
                $this->dropReleased();
                $this->handedOut();

                return $job;
            }
            $this->dropReleased();
            if ($this->ended) {
                $this->flush();

                return null;
            }
            $this->fetch();
        }
    }
}
