<?php

declare(strict_types=1);

namespace Offbeat;

/** An estimate of how full slots or seconds get. */
final class ExpectedLoad
{
    public function __construct(
        public readonly float $mean,
        public readonly int $fullestMedian,
        public readonly int $fullestP99,
    ) {
    }
}
