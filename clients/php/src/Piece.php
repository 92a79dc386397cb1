<?php

declare(strict_types=1);

namespace Offbeat;

use DateInterval;
use Offbeat\Internal\JsonAnswer;

/** A piece of an ID: where it stands, and when it runs. */
final class Piece implements \JsonSerializable
{
    use JsonAnswer;

    /**
     * @param int $pieceIndex from 0
     * @param DateInterval $slotOffset from the start of the slot to the run
     * @param DateInterval $cycleOffset from the start of the cycle to the run, by the wall clock
     * @param ?Run $lastRun null where exclusions skip all of the 1,000 cycles before
     * @param list<Run> $nextRuns in order, one a cycle, except those that exclusions skip
     * @param ?Run $firstRun the first run of a new ID, if it was asked for
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
