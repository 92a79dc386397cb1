<?php

declare(strict_types=1);

namespace Offbeat\Answer;

use DateInterval;

/** A further piece of an ID that is larger than others; its runs are as those of an Assignment. */
final class Piece
{
    /**
     * @param int $pieceIndex from 1
     * @param list<Run> $nextRuns
     */
    public function __construct(
        public readonly int $pieceIndex,
        public readonly int $slotIndex,
        public readonly DateInterval $slotOffset,
        public readonly DateInterval $cycleOffset,
        public readonly ?Run $lastRun,
        public readonly array $nextRuns,
        public readonly ?Run $firstRun,
    ) {
    }
}
