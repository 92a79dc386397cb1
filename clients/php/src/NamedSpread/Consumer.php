<?php

declare(strict_types=1);

namespace Offbeat\NamedSpread;

use Offbeat\Check;
use Offbeat\Exception\OffbeatException;

/**
 * Jobs of a spread, as they come, until it is closed and drained: take them with foreach, and say
 * of each how it went. Verdicts are sent a few at a time; close() sends the last.
 *
 * Never hands out a job whose lease has ended by its own clock.
 *
 * @implements \IteratorAggregate<int, LeasedJob>
 */
abstract class Consumer implements \IteratorAggregate
{
    private const LONGEST_QUEUED = 1.0;

    /** @var \SplQueue<LeasedJob> pulled, and not handed out */
    protected readonly \SplQueue $ready;
    /** @var list<JobVerdict> not sent */
    protected array $queued = [];
    /** When what is queued must be sent, by Clock. */
    protected float $due = INF;
    protected bool $ended = false;
    private bool $closed = false;
    /** Jobs given back for which no others were asked for yet. */
    private int $dropped = 0;
    private int $staleCount = 0;

    /** @internal */
    public function __construct(
        protected readonly Calls $calls,
        protected readonly Patience $patience,
        private readonly ?\Closure $onSettlement,
        protected readonly string $name,
    ) {
        Check::utf8('consumer', $name);
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
     * Sends the verdicts that are queued, and says what they came to.
     *
     * @return list<array{LeasedJob, Settlement}>
     *
     * @throws OffbeatException
     */
    abstract public function flush(): array;

    /** How many verdicts came too late: these jobs may be done twice. */
    public function staleCount(): int
    {
        return $this->staleCount;
    }

    /**
     * Sends the verdicts that are queued, and gives back what was not handed out. Jobs that were
     * handed out and got no verdict stay lent until their leases end.
     *
     * @throws OffbeatException
     */
    public function close(): void
    {
        $this->ended = true;
        $this->hangUp();
        while (!$this->ready->isEmpty()) {
            $this->giveBack($this->ready->dequeue());
        }
        $this->settleByCalls();
        $this->closed = true;
    }

    /** A job that was not handed out: its attempt does not count, even if its lease has ended here. */
    private function giveBack(LeasedJob $job): void
    {
        $this->queued[] = new JobVerdict($job, Verdict::Release);
    }

    /** @internal */
    public function decide(LeasedJob $job, Verdict $verdict, \DateInterval|int|float $delay = 0): void
    {
        if ($this->closed) {
            throw new \LogicException('the consumer is closed: the verdict would not be sent');
        }
        $this->queued[] = new JobVerdict($job, $verdict, $delay);
        $this->due = min($this->due, Clock::now() + self::LONGEST_QUEUED, $job->settleBy());
    }

    /** @internal */
    public function extend(LeasedJob $job): bool
    {
        $verdict = new JobVerdict($job, Verdict::Extend);
        [$settlement] = $this->patience->run(fn (): array => $this->calls->settle([$verdict]));

        return $settlement === Settlement::Extended;
    }

    /** Waits for more jobs, or for the end. */
    abstract protected function fetch(): void;

    /** Sends the verdicts that are queued. */
    abstract protected function sendQueued(): void;

    /** A job is handed out, or dropped. */
    abstract protected function handedOut(): void;

    /** Nothing more is to be pulled. */
    abstract protected function hangUp(): void;

    /** @return list<array{LeasedJob, Settlement}> */
    protected function settleByCalls(): array
    {
        $settled = [];
        while ($this->queued !== []) {
            $batch = JobVerdict::batch($this->queued);
            $settlements = $this->patience->run(fn (): array => $this->calls->settle($batch));
            $this->queued = array_slice($this->queued, count($batch));
            array_push($settled, ...array_map($this->settled(...), $batch, $settlements));
        }
        $this->due = INF;

        return $settled;
    }

    /** @return array{LeasedJob, Settlement} */
    protected function settled(JobVerdict $verdict, Settlement $settlement): array
    {
        // A job that was not begun is not done twice.
        if ($settlement === Settlement::Stale && $verdict->verdict !== Verdict::Release) {
            ++$this->staleCount;
        }
        if ($this->onSettlement !== null) {
            ($this->onSettlement)($verdict->job, $settlement);
        }

        return [$verdict->job, $settlement];
    }

    /** First what was given back, then room for others: or they could be lent to us again before. */
    private function dropGivenBack(): void
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
                    $this->giveBack($job);
                    ++$this->dropped;
                    continue;
                }
                $this->dropGivenBack();
                $this->handedOut();

                return $job;
            }
            $this->dropGivenBack();
            if ($this->ended) {
                $this->flush();

                return null;
            }
            $this->fetch();
        }
    }
}
