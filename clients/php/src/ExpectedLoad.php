<?php

declare(strict_types=1);

namespace Offbeat;

/**
 * An estimate of the IDs in a slot or a second: the mean, and the median and the 99th percentile of the fullest one.
 */
final class ExpectedLoad
{
    public function __construct(
        public readonly float $mean,
        public readonly int $fullestMedian,
        public readonly int $fullestP99,
    ) {
    }
}
