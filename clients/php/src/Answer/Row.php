<?php

declare(strict_types=1);

namespace Offbeat\Answer;

use DateInterval;

/** One ID of a batch, or with weights one piece of it: its place, and its next run. */
final class Row
{
    public function __construct(
        public readonly int|float|string|\GMP $id,
        public readonly int $pieceIndex,
        public readonly int $slotIndex,
        public readonly DateInterval $slotOffset,
        public readonly DateInterval $cycleOffset,
        public readonly Run $nextRun,
    ) {
    }
}
