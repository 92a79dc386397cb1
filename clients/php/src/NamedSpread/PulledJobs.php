<?php

declare(strict_types=1);

namespace Offbeat\NamedSpread;

/** What a pull came to. */
final class PulledJobs
{
    /**
     * @param list<LeasedJob> $jobs
     * @param bool $ended whether the spread is closed and has nothing left: there is no use in asking again
     */
    public function __construct(
        public readonly array $jobs,
        public readonly bool $ended,
    ) {
    }
}
