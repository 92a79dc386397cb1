<?php

declare(strict_types=1);

namespace Offbeat;

use DateInterval;
use Offbeat\Internal\JsonAnswer;

/** Offsets of kinds of job that must not meet on the same ID. */
final class Reciprocals implements \JsonSerializable
{
    use JsonAnswer;

    /**
     * @param list<KindSlot> $kinds in order
     * @param int $gapSlotCount the smallest number of slots between two kinds that must not meet on one ID; with one
     *     kind, the slot count
     * @param DateInterval $runBudget the time within which a job must wait and run, less the delays of the call
     * @param DateInterval $independentRunBudget the same, for kinds with different salts
     */
    public function __construct(
        public readonly array $kinds,
        public readonly int $gapSlotCount,
        public readonly DateInterval $gap,
        public readonly DateInterval $runBudget,
        public readonly DateInterval $independentRunBudget,
    ) {
    }
}
