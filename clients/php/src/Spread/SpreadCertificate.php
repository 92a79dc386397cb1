<?php

declare(strict_types=1);

namespace Offbeat\Spread;

use Offbeat\V1;

/** The certificate of a spread. Distances and spans are in turns. Distances are null if no group had two jobs. */
final class SpreadCertificate
{
    /**
     * @param int $groupCount groups that had a job
     * @param ?int $minGapTurns the smallest distance between two neighbouring jobs of a group
     * @param ?int $bestMinGapTurns the largest smallest distance that any order without idle turns has
     * @param int $closePairCount pairs of neighbouring jobs of a group that are less than the feeder count apart
     * @param int $closePairLowerBound a lower bound for $closePairCount in any order without idle turns
     * @param int $widestSpanTurns the most turns from the first job of a group to its last
     */
    public function __construct(
        public readonly int $jobCount,
        public readonly int $groupCount,
        public readonly ?int $minGapTurns,
        public readonly ?int $bestMinGapTurns,
        public readonly int $closePairCount,
        public readonly int $closePairLowerBound,
        public readonly int $widestSpanTurns,
    ) {
    }

    /** @internal */
    public static function fromMessage(V1\SpreadCertificate $message): self
    {
        return new self(
            jobCount: (int) $message->getJobCount(),
            groupCount: (int) $message->getGroupCount(),
            minGapTurns: $message->hasMinGapTurns() ? (int) $message->getMinGapTurns() : null,
            bestMinGapTurns: $message->hasBestMinGapTurns() ? (int) $message->getBestMinGapTurns() : null,
            closePairCount: (int) $message->getClosePairCount(),
            closePairLowerBound: (int) $message->getClosePairLowerBound(),
            widestSpanTurns: (int) $message->getWidestSpanTurns(),
        );
    }
}
