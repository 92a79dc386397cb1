<?php

declare(strict_types=1);

namespace Offbeat\Internal\NamedSpread;

use Offbeat\Internal\Check;
use Offbeat\NamedSpread\Consumer;
use Offbeat\NamedSpread\EmptyReason;
use Offbeat\NamedSpread\PulledJobs;

/**
 * A consumer that pulls jobs with unary calls.
 *
 * @internal
 */
final class PullConsumer extends Consumer
{
    public function __construct(
        Calls $calls,
        Retries $retries,
        ?\Closure $onOutcome,
        string $consumerId,
        private readonly int $batchSize,
        private readonly \DateInterval|int|float $wait,
    ) {
        parent::__construct($calls, $retries, $onOutcome, $consumerId);
        Check::int32('max_pulled_job_count', $batchSize);
    }

    public function flush(): array
    {
        return $this->settleByCalls();
    }

    protected function fetch(): void
    {
        $this->settleByCalls(); // first, because settled jobs make room for others
        $pulled = $this->retries->run(
            fn (): PulledJobs => $this->calls->pull($this->consumerId, $this->batchSize, $this->wait, $this),
        );
        array_map($this->ready->enqueue(...), $pulled->jobs);
        $this->ended = $pulled->emptyReason === EmptyReason::SpreadClosed;
    }

    protected function sendQueued(): void
    {
        $this->settleByCalls();
    }

    protected function handedOut(): void
    {
    }

    protected function hangUp(): void
    {
    }
}
