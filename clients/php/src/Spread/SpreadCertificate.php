<?php

declare(strict_types=1);

namespace Offbeat\Spread;

use Offbeat\V1;

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

    /** @internal */
    public static function fromMessage(V1\SpreadCertificate $message): self
    {
        return new self(
            jobCount: (int) $message->getJobCount(),
            groupCount: (int) $message->getGroupCount(),
            minGap: $message->hasMinGap() ? (int) $message->getMinGap() : null,
            bestMinGap: $message->hasBestMinGap() ? (int) $message->getBestMinGap() : null,
            closePairCount: (int) $message->getClosePairCount(),
            closePairLowerBound: (int) $message->getClosePairLowerBound(),
            widestSpan: (int) $message->getWidestSpan(),
        );
    }
}
