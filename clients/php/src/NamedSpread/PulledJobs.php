<?php

declare(strict_types=1);

namespace Offbeat\NamedSpread;

/** The jobs that a pull leased. */
final class PulledJobs
{
    /**
     * @param list<LeasedJob> $jobs
     * @param ?EmptyReason $emptyReason why there are none; null if there are some
     */
    public function __construct(
        public readonly array $jobs,
        public readonly ?EmptyReason $emptyReason,
    ) {
    }
}
