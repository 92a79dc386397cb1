<?php

declare(strict_types=1);

namespace Offbeat\Answer;

use DateInterval;

/** Where an ID stands, and when it runs. */
final class Assignment
{
    /**
     * @param DateInterval $slotOffset from the start of the slot to the run
     * @param DateInterval $cycleOffset from the start of the cycle to the run, by the wall clock
     * @param ?Run $lastRun null where exclusions skip all of the 1,000 cycles before
     * @param list<Run> $nextRuns in order, one a cycle, but for those that exclusions skip
     * @param string $canonicalId the text that is hashed, and ends the run keys
     * @param int|float|string $reason what decided: the hash in hexadecimal, the bucket, or the fraction
     * @param ?Run $firstRun the first run of a newcomer, if one was asked about
     * @param list<Piece> $furtherPieces of a weighted ID, from piece 1 on; the rest is about piece 0
     */
    public function __construct(
        public readonly int|float|string|\GMP $id,
        public readonly int $slotIndex,
        public readonly DateInterval $slotOffset,
        public readonly DateInterval $cycleOffset,
        public readonly ?Run $lastRun,
        public readonly array $nextRuns,
        public readonly string $fingerprint,
        public readonly string $canonicalId,
        public readonly int|float|string $reason,
        public readonly ?Run $firstRun = null,
        public readonly array $furtherPieces = [],
    ) {
    }

    /** The first of the next runs. */
    public function nextRun(): Run
    {
        return $this->nextRuns[0] ?? throw new \OutOfBoundsException('there is no next run: none was asked for, or exclusions skip all');
    }
}
