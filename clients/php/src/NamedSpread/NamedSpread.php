<?php

declare(strict_types=1);

namespace Offbeat\NamedSpread;

use Google\Protobuf\Internal\Message;
use Offbeat\Exception\InvalidArgument;
use Offbeat\Exception\OffbeatException;
use Offbeat\Internal\NamedSpread\Calls;
use Offbeat\Internal\NamedSpread\JobSettlement;
use Offbeat\Internal\NamedSpread\Messages;
use Offbeat\Internal\NamedSpread\PullConsumer;
use Offbeat\Internal\NamedSpread\Retries;
use Offbeat\Internal\NamedSpread\StreamConsumer;
use Offbeat\Times;
use Offbeat\V1;

/**
 * A spread that outlives calls and is shared by its name. Delivery is at least once, and no two unexpired leases hold
 * the same job.
 *
 * The first call opens the spread, and so does one that finds it unknown. Without a store (--spread-store of the
 * sidecar), a restart of the sidecar loses all spreads.
 */
final class NamedSpread
{
    /** @internal */
    public function __construct(private readonly Calls $calls)
    {
    }

    /**
     * Opens the spread, or finds it open with the same parameters.
     *
     * @throws OffbeatException
     */
    public function open(): SpreadDescription
    {
        return $this->soon($this->calls->open(...));
    }

    /**
     * Describes the spread and its contents.
     *
     * @throws OffbeatException
     */
    public function describe(): SpreadDescription
    {
        $request = new V1\DescribeSpreadRequest();
        $response = $this->call('DescribeSpread', $request, new V1\DescribeSpreadResponse());

        return Messages::description($response->getDescription());
    }

    /**
     * Changes the limits that are given; the others stay. A limit may be set below what the spread holds now: it then
     * takes nothing more until it holds less. If a restart of the sidecar loses the spread, it is opened again with the
     * limits of Client::namedSpread().
     *
     * @throws OffbeatException
     */
    public function update(
        ?int $maxAttemptCount = null,
        ?int $maxConsumerLeaseCount = null,
        ?int $maxGroupCount = null,
        ?int $maxJobCount = null,
        ?int $maxByteCount = null,
    ): SpreadDescription {
        $limits = Messages::limits('limits', $maxAttemptCount, $maxConsumerLeaseCount, $maxGroupCount, $maxJobCount, $maxByteCount);
        $request = (new V1\UpdateSpreadRequest())->setLimits($limits);
        $response = $this->call('UpdateSpread', $request, new V1\UpdateSpreadResponse());

        return Messages::description($response->getDescription());
    }

    /**
     * A producer, which submits groups.
     *
     * @param int|float $patience how long it retries without success while the sidecar restarts or is full, in seconds
     */
    public function producer(int|float $patience = 60): Producer
    {
        return new Producer($this->calls, new Retries($patience));
    }

    /**
     * A consumer that pulls jobs, a batch with each call.
     *
     * @param string $consumerId unique among consumers
     * @param int $batchSize the most jobs of a pull
     * @param \DateInterval|int|float $wait how long a pull waits for the first job, in seconds, up to 20
     * @param int|float $patience how long it retries without success while the sidecar restarts, in seconds
     * @param ?\Closure(LeasedJob, SettleOutcome): void $onOutcome is called with each settled job and the outcome of
     *     its settlement
     */
    public function consumer(
        string $consumerId,
        int $batchSize = 16,
        \DateInterval|int|float $wait = 20,
        int|float $patience = 60,
        ?\Closure $onOutcome = null,
    ): Consumer {
        return new PullConsumer($this->calls, new Retries($patience), $onOutcome, $consumerId, $batchSize, $wait);
    }

    /**
     * A consumer that receives jobs on a stream, over a connection of its own: they come as soon as there are any.
     *
     * @param string $consumerId unique among consumers
     * @param int $window the most jobs that are sent ahead; their leases begin when they are sent
     * @param int|float $patience how long it retries without success while the sidecar restarts, in seconds
     * @param ?\Closure(LeasedJob, SettleOutcome): void $onOutcome is called with each settled job and the outcome of
     *     its settlement
     */
    public function stream(
        string $consumerId,
        int $window = 256,
        int|float $patience = 60,
        ?\Closure $onOutcome = null,
    ): Consumer {
        return new StreamConsumer($this->calls, new Retries($patience), $onOutcome, $consumerId, $window);
    }

    /**
     * A pump, which hands jobs over to another queue, a few at a time.
     *
     * @param string $consumerId unique among consumers
     * @param \Closure(LeasedJob): mixed $handOver puts a job into the queue
     * @param \DateInterval|int|float $holdFor after how long a job that is not settled counts as lost, in seconds
     */
    public function pump(string $consumerId, \Closure $handOver, \DateInterval|int|float $holdFor = 3_600): Pump
    {
        return new Pump($this, $this->calls->spreadName, $consumerId, $handOver, $holdFor);
    }

    /**
     * Leases jobs to a consumer. Settle them with settle().
     *
     * @param int $maxPulledJobCount the most jobs to lease, 1 to 4,096
     * @param \DateInterval|int|float $wait how long to wait for the first job, in seconds, up to 20
     *
     * @throws OffbeatException
     */
    public function pull(string $consumerId, int $maxPulledJobCount, \DateInterval|int|float $wait = 0): PulledJobs
    {
        return $this->soon(fn (): PulledJobs => $this->calls->pull($consumerId, $maxPulledJobCount, $wait));
    }

    /**
     * Settles jobs that came from pull() or from a pump. Returns their results, in the order of the settlements.
     *
     * @param iterable<array{0: LeasedJob|LeaseToken, 1: SettleAction, 2?: \DateInterval|int|float}> $settlements a job
     *     or its token, and what to do with it; with SettleAction::Nack and SettleAction::Release, also an optional
     *     delay in seconds
     *
     * @return list<SettleResult>
     *
     * @throws OffbeatException
     */
    public function settle(iterable $settlements): array
    {
        $left = [];
        foreach ($settlements as $settlement) {
            $left[] = new JobSettlement(...$settlement);
        }
        $results = [];
        while ($left !== []) {
            $batch = JobSettlement::batch($left);
            $left = array_slice($left, count($batch));
            $results[] = $this->soon(fn (): array => $this->calls->settle($batch));
        }

        return array_merge(...$results);
    }

    /**
     * The dead letters, oldest first: a generator that fetches pages on demand.
     *
     * @return \Generator<int, DeadLetter>
     *
     * @throws OffbeatException
     */
    public function deadLetters(): \Generator
    {
        $request = new V1\ListDeadLettersRequest();
        do {
            $page = $this->call('ListDeadLetters', $request, new V1\ListDeadLettersResponse());
            foreach ($page->getDeadLetters() as $letter) {
                yield Messages::deadLetter($letter, (int) $page->getEpoch());
            }
            $request->setPageToken($page->getNextPageToken());
        } while ($request->getPageToken() !== '');
    }

    /**
     * Redrives dead letters, and returns how many: each is leased again, with attempts from 1, as the only job of a
     * group of its own. Dead letters that do not exist, or belong to an earlier epoch, are skipped.
     *
     * @param iterable<DeadLetter> $letters as deadLetters() gives them
     *
     * @throws OffbeatException
     */
    public function redriveDeadLetters(iterable $letters): int
    {
        $count = 0;
        foreach (self::deadLetterBatches($letters) as [$epoch, $numbers]) {
            $request = (new V1\RedriveDeadLettersRequest())->setEpoch($epoch)->setNumbers($numbers);
            $response = $this->call('RedriveDeadLetters', $request, new V1\RedriveDeadLettersResponse());
            $count += (int) $response->getRedrivenCount();
        }

        return $count;
    }

    /**
     * Deletes dead letters, and returns how many. It skips the same ones as redriveDeadLetters().
     *
     * @param iterable<DeadLetter> $letters as deadLetters() gives them
     *
     * @throws OffbeatException
     */
    public function deleteDeadLetters(iterable $letters): int
    {
        $count = 0;
        foreach (self::deadLetterBatches($letters) as [$epoch, $numbers]) {
            $request = (new V1\DeleteDeadLettersRequest())->setEpoch($epoch)->setNumbers($numbers);
            $response = $this->call('DeleteDeadLetters', $request, new V1\DeleteDeadLettersResponse());
            $count += (int) $response->getDeletedCount();
        }

        return $count;
    }

    /**
     * Closes the spread: it takes no more groups. The jobs that it holds are still leased and settled.
     *
     * @param \DateInterval|int|float $wait how long to wait until all jobs are settled, in seconds, up to 20
     *
     * @throws OffbeatException
     */
    public function close(\DateInterval|int|float $wait = 0): SpreadDescription
    {
        $request = (new V1\CloseSpreadRequest())->setMaxWaitDuration(Times::toDuration('max_wait_duration', $wait));
        $response = $this->call('CloseSpread', $request, new V1\CloseSpreadResponse(), Calls::seconds($wait));

        return Messages::description($response->getDescription());
    }

    /**
     * Discards the spread and everything that it holds, dead letters included.
     *
     * @throws OffbeatException
     */
    public function discard(): void
    {
        $request = (new V1\CloseSpreadRequest())->setMode(V1\CloseMode::CLOSE_MODE_DISCARD);
        $this->call('CloseSpread', $request, new V1\CloseSpreadResponse());
    }

    /**
     * The dead letters of each call: those of one epoch, because a number means another dead letter in another epoch.
     *
     * @param iterable<mixed> $letters
     *
     * @return list<array{int, non-empty-list<int>}> epochs and numbers
     */
    private static function deadLetterBatches(iterable $letters): array
    {
        $numbers = [];
        $place = 0;
        foreach ($letters as $letter) {
            if (!$letter instanceof DeadLetter) {
                throw InvalidArgument::refused("letters[$place]", $letter, 'must be a DeadLetter, as deadLetters() gives them');
            }
            $numbers[$letter->epoch][] = $letter->number;
            ++$place;
        }
        $batches = [];
        foreach ($numbers as $epoch => $ofEpoch) {
            foreach (array_chunk($ofEpoch, Calls::MAX_JOBS) as $chunk) {
                $batches[] = [$epoch, $chunk];
            }
        }

        return $batches;
    }

    private function call(
        string $method,
        Message $request,
        Message $response,
        float $wait = 0,
    ): Message {
        return $this->soon(fn (): Message => $this->calls->call($method, $request, $response, $wait));
    }

    private function soon(\Closure $call): mixed
    {
        return Retries::ofACall($this->calls->service->timeout)->run($call);
    }
}
