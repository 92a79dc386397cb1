<?php

declare(strict_types=1);

namespace Offbeat\NamedSpread;

use Google\Protobuf\Internal\Message;
use Offbeat\Exception\OffbeatException;
use Offbeat\Times;
use Offbeat\V1;

/**
 * A spread that outlives a call, by its name. Delivery is at least once, and no two unexpired
 * leases are on one job.
 *
 * The first call opens the spread, and so does one that finds it forgotten: a restart of the
 * service forgets all.
 */
final class NamedSpread
{
    /** @internal */
    public function __construct(private readonly Calls $calls)
    {
    }

    /**
     * Opens it, or finds it open with the same parameters.
     *
     * @throws OffbeatException
     */
    public function open(): SpreadDescription
    {
        return $this->soon($this->calls->open(...));
    }

    /**
     * What it is and holds.
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
     * Submits groups.
     *
     * @param int|float $patience how long it tries while the service restarts or is full, in seconds
     */
    public function producer(int|float $patience = 60): Producer
    {
        return new Producer($this->calls, new Patience($patience));
    }

    /**
     * Draws jobs, by a call for a batch of them.
     *
     * @param string $name its own: no two consumers may have the same
     * @param int $batchSize how many jobs it pulls at most
     * @param \DateInterval|int|float $wait how long a call waits for the first job, in seconds, up to 20
     * @param int|float $patience how long it tries while the service restarts, in seconds
     * @param ?\Closure(LeasedJob, Settlement): void $onSettlement is told what each verdict came to
     */
    public function consumer(
        string $name,
        int $batchSize = 16,
        \DateInterval|int|float $wait = 20,
        int|float $patience = 60,
        ?\Closure $onSettlement = null,
    ): Consumer {
        return new PullConsumer($this->calls, new Patience($patience), $onSettlement, $name, $batchSize, $wait);
    }

    /**
     * Draws jobs, by a stream on a connection of its own: they come as soon as there are any.
     *
     * @param string $name its own: no two consumers may have the same
     * @param int $window how many jobs are sent ahead at most; their leases begin when they are sent
     * @param int|float $patience how long it tries while the service restarts, in seconds
     * @param ?\Closure(LeasedJob, Settlement): void $onSettlement is told what each verdict came to
     */
    public function stream(
        string $name,
        int $window = 256,
        int|float $patience = 60,
        ?\Closure $onSettlement = null,
    ): Consumer {
        return new StreamConsumer($this->calls, new Patience($patience), $onSettlement, $name, $window);
    }

    /**
     * Jobs, lent to a consumer. To be settled by settle().
     *
     * @param \DateInterval|int|float $wait for the first, in seconds, up to 20
     *
     * @throws OffbeatException
     */
    public function pull(string $consumer, int $maxJobs, \DateInterval|int|float $wait = 0): PulledJobs
    {
        return $this->soon(fn (): PulledJobs => $this->calls->pull($consumer, $maxJobs, $wait));
    }

    /**
     * Says how jobs went: what came of each, in the order of the pairs.
     *
     * @param iterable<array{0: LeasedJob, 1: Verdict, 2?: \DateInterval|int|float}> $verdicts pairs
     *     of a job and a verdict; with Verdict::Nack, and after a delay in seconds
     *
     * @return list<Settlement>
     *
     * @throws OffbeatException
     */
    public function settle(iterable $verdicts): array
    {
        $left = [];
        foreach ($verdicts as $verdict) {
            $left[] = new JobVerdict(...$verdict);
        }
        $settlements = [];
        while ($left !== []) {
            $batch = JobVerdict::batch($left);
            $left = array_slice($left, count($batch));
            $settlements[] = $this->soon(fn (): array => $this->calls->settle($batch));
        }

        return array_merge(...$settlements);
    }

    /**
     * Jobs that were given up, oldest first: page by page, as they are taken.
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
                $request->setAfterNumber($letter->getNumber());
                yield Messages::deadLetter($letter);
            }
        } while ($page->getHasMore());
    }

    /**
     * Deletes jobs that were given up; how many of them there were.
     *
     * @param iterable<int> $numbers
     *
     * @throws OffbeatException
     */
    public function deleteDeadLetters(iterable $numbers): int
    {
        $numbers = is_array($numbers) ? $numbers : iterator_to_array($numbers, false);
        $count = 0;
        foreach (array_chunk($numbers, Calls::MAX_JOBS) as $chunk) {
            $request = (new V1\DeleteDeadLettersRequest())->setNumbers($chunk);
            $response = $this->call('DeleteDeadLetters', $request, new V1\DeleteDeadLettersResponse());
            $count += (int) $response->getDeletedCount();
        }

        return $count;
    }

    /**
     * Takes no more groups; those that it has are dealt and settled.
     *
     * @param \DateInterval|int|float $wait until all is settled, in seconds, up to 20
     *
     * @throws OffbeatException
     */
    public function close(\DateInterval|int|float $wait = 0): SpreadDescription
    {
        $request = (new V1\CloseSpreadRequest())->setWait(Times::toDuration('wait', $wait));
        $response = $this->call('CloseSpread', $request, new V1\CloseSpreadResponse(), Calls::seconds($wait));

        return Messages::description($response->getDescription());
    }

    /**
     * Drops the spread with all that it holds, dead letters too.
     *
     * @throws OffbeatException
     */
    public function discard(): void
    {
        $request = (new V1\CloseSpreadRequest())->setMode(V1\CloseMode::CLOSE_MODE_DISCARD);
        $this->call('CloseSpread', $request, new V1\CloseSpreadResponse());
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
        return Patience::ofACall($this->calls->service->timeout)->run($call);
    }
}
