<?php

declare(strict_types=1);

namespace Offbeat\Spread;

/** What a spread has reached. Distances and spans are in turns; null where no group had two jobs. */
final class SpreadCertificate
{
    /**
     * @param int $groupCount groups that had a job
     * @param ?int $minGap the smallest distance between neighbours of a group
     * @param ?int $bestMinGap the largest smallest distance of any order without idle turns
     * @param int $closePairCount neighbours of a group less than the feeder count apart
     * @param int $closePairLowerBound as many has any order without idle turns, at least
     * @param int $widestSpan from the first job of a group to its last, the widest
     */
    public function __construct(
        public readonly int $jobCount,
        public readonly int $groupCount,
        public readonly ?int $minGap,
        public readonly ?int $bestMinGap,
        public readonly int $closePairCount,
        public readonly int $closePairLowerBound,
        public readonly int $widestSpan,
    ) {
    }
}
