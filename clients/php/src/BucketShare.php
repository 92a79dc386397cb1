<?php

declare(strict_types=1);

namespace Offbeat;

/** How evenly slots share the buckets of Placement::Twister. */
final class BucketShare
{
    public function __construct(
        public readonly int $minBucketCount,
        public readonly int $maxBucketCount,
        public readonly float $imbalanceRatio,
    ) {
    }
}
