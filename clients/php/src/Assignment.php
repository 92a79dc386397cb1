<?php

declare(strict_types=1);

namespace Offbeat;

use DateInterval;
use Offbeat\Internal\JsonAnswer;

/** The place of an ID, and its runs. Slot, offsets and runs are those of its first piece. */
final class Assignment implements \JsonSerializable
{
    use JsonAnswer;

    public readonly int $slotIndex;
    /** From the start of the slot to the run. */
    public readonly DateInterval $slotOffset;
    /** From the start of the cycle to the run, by the wall clock. */
    public readonly DateInterval $cycleOffset;
    /** Null if exclusions skip the previous 1,000 cycles. */
    public readonly ?Run $lastRun;
    /** @var list<Run> in order, one for each cycle, without those that exclusions skip */
    public readonly array $nextRuns;
    /** The first run of a new ID, if the call had a NewId. */
    public readonly ?Run $firstRun;

    /**
     * @param non-empty-list<Piece> $pieces in order; exactly one without a weight
     * @param PlacementExplanation $explanation why the ID has its place
     * @param DecidedBy $decidedBy who decided
     */
    public function __construct(
        public readonly int|float|string|\GMP $id,
        public readonly string $fingerprint,
        public readonly array $pieces,
        public readonly PlacementExplanation $explanation,
        public readonly DecidedBy $decidedBy = DecidedBy::Sidecar,
    ) {
        $first = $pieces[0] ?? throw new \UnexpectedValueException('an assignment without a piece');
        $this->slotIndex = $first->slotIndex;
        $this->slotOffset = $first->slotOffset;
        $this->cycleOffset = $first->cycleOffset;
        $this->lastRun = $first->lastRun;
        $this->nextRuns = $first->nextRuns;
        $this->firstRun = $first->firstRun;
    }

    /** The first of the next runs. */
    public function nextRun(): Run
    {
        return $this->nextRuns[0] ?? throw new \OutOfBoundsException('there is no next run: none was asked for, or exclusions skip all');
    }
}
