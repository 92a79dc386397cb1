<?php

declare(strict_types=1);

namespace Offbeat\Internal\NamedSpread;

use Google\Protobuf\Internal\Message;
use Offbeat\Exception\NotFound;
use Offbeat\Internal\Check;
use Offbeat\Internal\Clock;
use Offbeat\Internal\Transport\Conversation;
use Offbeat\NamedSpread\Consumer;
use Offbeat\NamedSpread\EmptyReason;
use Offbeat\NamedSpread\LeasedJob;
use Offbeat\NamedSpread\PulledJobs;
use Offbeat\NamedSpread\SettleAction;
use Offbeat\NamedSpread\SettleOutcome;
use Offbeat\NamedSpread\SettleResult;
use Offbeat\NamedSpread\SpreadDescription;
use Offbeat\Times;
use Offbeat\V1;

/**
 * Calls about one spread. They open the spread if the sidecar does not know it, or has lost it. Only producers open a
 * closed spread again: a consumer that did so would wait for jobs forever.
 *
 * @internal
 */
final class Calls
{
    /** The most jobs, settlements or numbers of dead letters of a call. */
    public const MAX_JOBS = 4_096;

    /** How often one call opens the spread: a sidecar that restarts again loses it between the opening and the call. */
    public const OPENINGS = 4;

    private ?V1\Receipt $receipt = null;

    public function __construct(
        public readonly Service $service,
        public readonly string $spreadName,
        private readonly V1\NamedSpreadSpec $spec,
    ) {
    }

    /** Opens the spread, unless it is open already. With $leaveClosed, a closed spread stays closed. */
    public function open(bool $leaveClosed = false): SpreadDescription
    {
        $request = (new V1\OpenSpreadRequest())
            ->setSpreadName($this->spreadName)
            ->setSpec($this->spec)
            ->setLeaveClosed($leaveClosed);
        $message = $this->service->call('OpenSpread', $request, new V1\OpenSpreadResponse())->getDescription();
        $this->receipt = (new V1\Receipt())
            ->setEpoch($message->getEpoch())
            ->setLeaseDuration($message->getSpec()->getLeaseDuration());

        return Messages::description($message);
    }

    /** The earliest receipt of a group that is submitted from now on: that of the last opening or submission. */
    public function receipt(): V1\Receipt
    {
        if ($this->receipt === null) {
            $this->open();
        }

        return $this->receipt;
    }

    /** Submits a part of a group. If the spread is unknown, the caller must start with the first part again. */
    public function submit(V1\GroupPart $part): V1\SubmitGroupsResponse
    {
        $request = (new V1\SubmitGroupsRequest())->setSpreadName($this->spreadName)->setGroups([$part]);
        $response = $this->service->call('SubmitGroups', $request, new V1\SubmitGroupsResponse());
        $this->receipt = $response->getReceipt();

        return $response;
    }

    /**
     * @template T of Message
     *
     * @param T $response
     *
     * @return T
     */
    public function call(string $method, Message $request, Message $response, float $wait = 0): Message
    {
        return $this->opened(
            fn (): Message => $this->service->call($method, $request->setSpreadName($this->spreadName), $response, $wait),
        );
    }

    /**
     * @param \DateInterval|int|float $wait how long to wait for the first job, in seconds
     * @param ?Consumer $by the consumer that settles the jobs
     */
    public function pull(
        string $consumerId,
        int $maxPulledJobCount,
        \DateInterval|int|float $wait,
        ?Consumer $by = null,
    ): PulledJobs {
        $request = (new V1\PullJobsRequest())
            ->setSpreadName($this->spreadName)
            ->setConsumerId(Check::utf8('consumer_id', $consumerId))
            ->setMaxPulledJobCount(Check::int32('max_pulled_job_count', $maxPulledJobCount))
            ->setMaxWaitDuration(Times::toDuration('max_wait_duration', $wait));
        $seconds = self::seconds($wait);

        return $this->opened(function () use ($request, $seconds, $by): PulledJobs {
            $asked = Clock::now();
            $response = $this->service->call('PullJobs', $request, new V1\PullJobsResponse(), $seconds);
            $leased = $response->getLeased();
            $waited = Times::seconds(Times::fromDuration($response->getWaitedDuration()));

            return new PulledJobs(
                $leased === null ? [] : Messages::jobs($leased, $asked + $waited + Messages::lease($leased), $by),
                EmptyReason::fromMessage($response->getEmptyReason()),
            );
        });
    }

    /**
     * Settles jobs of one epoch. If the spread is unknown, all its leases have ended.
     *
     * @param non-empty-list<JobSettlement> $settlements
     *
     * @return list<SettleResult>
     */
    public function settle(array $settlements): array
    {
        $request = (new V1\SettleJobsRequest())
            ->setSpreadName($this->spreadName)
            ->setEpoch($settlements[0]->job->epoch)
            ->setSettlements(array_column($settlements, 'message'));
        $asked = Clock::now();
        try {
            $response = $this->service->call('SettleJobs', $request, new V1\SettleJobsResponse());
            $results = array_map(SettleResult::fromMessage(...), iterator_to_array($response->getResults(), false));
        } catch (NotFound $unknown) {
            self::mustBeUnknownSpread($unknown);
            $results = array_fill(0, count($settlements), new SettleResult(SettleOutcome::Stale));
        }
        foreach ($settlements as $place => $settlement) {
            if ($settlement->action === SettleAction::ExtendLease && $settlement->job instanceof LeasedJob) {
                $settlement->job->extended($results[$place], $asked);
            }
        }

        return $results;
    }

    /** Starts a stream of jobs, without credit. */
    public function stream(string $consumerId): Conversation
    {
        $start = (new V1\StreamJobsStart())->setSpreadName($this->spreadName)->setConsumerId($consumerId);
        $conversation = $this->service->stream();
        $conversation->write((new V1\StreamJobsRequest())->setStart($start)->serializeToString());

        return $conversation;
    }

    /**
     * Opens the spread after a call that found something missing. If it is not the spread that is missing, throws the
     * error again. A spread that was closed meanwhile stays closed.
     *
     * @throws NotFound
     */
    public function reopen(NotFound $unknown): void
    {
        self::mustBeUnknownSpread($unknown);
        $this->open(leaveClosed: true);
    }

    /** A span in seconds. */
    public static function seconds(\DateInterval|int|float $span): float
    {
        return (float) ($span instanceof \DateInterval ? Times::seconds($span) : $span);
    }

    /**
     * @template T
     *
     * @param \Closure(): T $call
     *
     * @return T
     */
    private function opened(\Closure $call): mixed
    {
        for ($openings = 0; $openings < self::OPENINGS; ++$openings) {
            try {
                return $call();
            } catch (NotFound $unknown) {
                $this->reopen($unknown);
            }
        }

        return $call();
    }

    private static function mustBeUnknownSpread(NotFound $error): void
    {
        if ($error->reason !== 'ERROR_REASON_UNKNOWN_SPREAD') {
            throw $error;
        }
    }
}
