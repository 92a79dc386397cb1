<?php

declare(strict_types=1);

namespace Offbeat;

/** How evenly slots share the buckets of Placement::Twister. */
final class BucketShare
{
    /**
     * @param int $minBucketCount buckets in the smallest slot
     * @param int $maxBucketCount buckets in the largest slot
     * @param float $fullestToMeanRatio buckets in the largest slot divided by the mean: 1.02 is 2 % more
     */
    public function __construct(
        public readonly int $minBucketCount,
        public readonly int $maxBucketCount,
        public readonly float $fullestToMeanRatio,
    ) {
    }
}
