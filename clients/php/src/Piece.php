<?php

declare(strict_types=1);

namespace Offbeat;

use DateInterval;
use Offbeat\Internal\JsonAnswer;

/** A piece of an ID: its place, and its runs. */
final class Piece implements \JsonSerializable
{
    use JsonAnswer;

    /**
     * @param int $pieceIndex from 0
     * @param DateInterval $slotOffset from the start of the slot to the run
     * @param DateInterval $cycleOffset from the start of the cycle to the run, by the wall clock
     * @param ?Run $lastRun null if exclusions skip the previous 1,000 cycles
     * @param list<Run> $nextRuns in order, one for each cycle, without those that exclusions skip
     * @param ?Run $firstRun the first run of a new ID, if the call had a NewId
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
