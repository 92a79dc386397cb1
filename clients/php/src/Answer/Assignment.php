<?php

declare(strict_types=1);

namespace Offbeat\Answer;

use DateInterval;

/** Where an ID stands, and when it runs. */
final class Assignment
{
    /**
     * @param DateInterval $slotOffset from the start of the slot to the run
     * @param DateInterval $cycleOffset from the start of the cycle to the run
     * @param list<Run> $nextRuns in order, a period apart
     * @param string $canonicalId the text that is hashed, and ends the run keys
     * @param int|float|string $reason what decided: the hash in hexadecimal, the bucket, or the fraction
     */
    public function __construct(
        public readonly int|float|string|\GMP $id,
        public readonly int $slotIndex,
        public readonly DateInterval $slotOffset,
        public readonly DateInterval $cycleOffset,
        public readonly Run $lastRun,
        public readonly array $nextRuns,
        public readonly string $fingerprint,
        public readonly string $canonicalId,
        public readonly int|float|string $reason,
    ) {
    }

    /** The first of the next runs. */
    public function nextRun(): Run
    {
        return $this->nextRuns[0] ?? throw new \OutOfBoundsException('no next run was asked for');
    }
}
