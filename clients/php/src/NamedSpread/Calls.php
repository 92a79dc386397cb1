<?php

declare(strict_types=1);

namespace Offbeat\NamedSpread;

use Google\Protobuf\Internal\Message;
use Offbeat\Check;
use Offbeat\Exception\NotFound;
use Offbeat\Exception\OffbeatException;
use Offbeat\Times;
use Offbeat\Transport\Conversation;
use Offbeat\V1;

/**
 * Calls about one spread. Opens it when the service does not know it (any more). Only producers
 * open it before they use it: whoever else did so would open a spread anew that is closed and
 * drained, and wait there for ever.
 *
 * @internal
 */
final class Calls
{
    /** Of a call: jobs, verdicts, or numbers of dead letters. */
    public const MAX_JOBS = 4_096;

    /** A service that restarts again at once loses the spread between its opening and the call. */
    public const OPENINGS = 4;

    private ?V1\Receipt $receipt = null;

    public function __construct(
        public readonly Service $service,
        public readonly string $spread,
        private readonly V1\NamedSpreadSpec $spec,
    ) {
    }

    public function open(): SpreadDescription
    {
        $request = (new V1\OpenSpreadRequest())->setSpread($this->spread)->setSpec($this->spec);
        $message = $this->service->call('OpenSpread', $request, new V1\OpenSpreadResponse())->getDescription();
        $this->receipt = (new V1\Receipt())
            ->setEpoch($message->getEpoch())
            ->setLease($message->getSpec()->getLease());

        return Messages::description($message);
    }

    /** What a group is received under at the earliest, if it is submitted now. */
    public function receipt(): V1\Receipt
    {
        if ($this->receipt === null) {
            $this->open();
        }

        return $this->receipt;
    }

    /** Hands over a part of a group. When the spread is not known, the caller must begin the group again. */
    public function submit(V1\GroupPart $part): V1\SubmitGroupsResponse
    {
        $request = (new V1\SubmitGroupsRequest())->setSpread($this->spread)->setGroups([$part]);
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
            fn (): Message => $this->service->call($method, $request->setSpread($this->spread), $response, $wait),
        );
    }

    /**
     * @param \DateInterval|int|float $wait for the first job, in seconds
     * @param ?Consumer $by who takes the verdicts
     */
    public function pull(string $consumer, int $maxJobs, \DateInterval|int|float $wait, ?Consumer $by = null): PulledJobs
    {
        $request = (new V1\PullJobsRequest())
            ->setSpread($this->spread)
            ->setConsumer(Check::utf8('consumer', $consumer))
            ->setMaxJobs(Check::int32('max_jobs', $maxJobs))
            ->setWait(Times::toDuration('wait', $wait));
        $seconds = self::seconds($wait);

        return $this->opened(function () use ($request, $seconds, $by): PulledJobs {
            $asked = Clock::now();
            $response = $this->service->call('PullJobs', $request, new V1\PullJobsResponse(), $seconds);
            $waited = Times::seconds(Times::fromDuration($response->getWaited()));
            $leased = $response->getLeased();
            $deadline = $asked + $waited + Messages::lease($leased);

            return new PulledJobs(Messages::jobs($leased, $deadline, $by), $response->getEnded());
        });
    }

    /**
     * Says how jobs of one epoch went. If the spread is not known, all leases on it have ended.
     *
     * @param non-empty-list<JobVerdict> $verdicts
     *
     * @return list<Settlement>
     */
    public function settle(array $verdicts): array
    {
        $request = (new V1\SettleJobsRequest())
            ->setSpread($this->spread)
            ->setEpoch($verdicts[0]->job->epoch)
            ->setVerdicts(array_column($verdicts, 'message'));
        $asked = Clock::now();
        try {
            $response = $this->service->call('SettleJobs', $request, new V1\SettleJobsResponse());
            $numbers = iterator_to_array($response->getSettlements(), false);
            $settlements = array_map(Settlement::fromMessage(...), $numbers);
        } catch (NotFound $unknown) {
            self::mustBeUnknownSpread($unknown);
            $settlements = array_fill(0, count($verdicts), Settlement::Stale);
        }
        foreach ($verdicts as $place => $verdict) {
            if ($verdict->verdict === Verdict::Extend) {
                $verdict->job->extended($settlements[$place], $asked);
            }
        }

        return $settlements;
    }

    /** A stream of jobs that has been begun, without credit. */
    public function stream(string $consumer): Conversation
    {
        $start = (new V1\StreamJobsStart())->setSpread($this->spread)->setConsumer($consumer);
        $conversation = $this->service->stream();
        $conversation->write((new V1\StreamJobsRequest())->setStart($start)->serializeToString());

        return $conversation;
    }

    /**
     * To be called when a call says that something is not there: if it is the spread, opens it.
     *
     * @throws NotFound
     */
    public function reopen(NotFound $unknown): void
    {
        self::mustBeUnknownSpread($unknown);
        $this->open();
    }

    /** In seconds, of a span that its message takes. */
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
