<?php

declare(strict_types=1);

namespace Offbeat\NamedSpread;

use Offbeat\Check;

/**
 * Draws jobs by unary calls.
 *
 * @internal
 */
final class PullConsumer extends Consumer
{
    public function __construct(
        Calls $calls,
        Patience $patience,
        ?\Closure $onSettlement,
        string $name,
        private readonly int $batchSize,
        private readonly \DateInterval|int|float $wait,
    ) {
        parent::__construct($calls, $patience, $onSettlement, $name);
        Check::int32('max_jobs', $batchSize);
    }

    public function flush(): array
    {
        return $this->settleByCalls();
    }

    protected function fetch(): void
    {
        $this->settleByCalls(); // first, since what is settled makes room for more
        $pulled = $this->patience->run(
            fn (): PulledJobs => $this->calls->pull($this->name, $this->batchSize, $this->wait, $this),
        );
        array_map($this->ready->enqueue(...), $pulled->jobs);
        $this->ended = $pulled->ended;
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
