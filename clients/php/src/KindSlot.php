<?php

declare(strict_types=1);

namespace Offbeat;

use DateInterval;
use Offbeat\Internal\JsonAnswer;

/**
 * The offset of one kind of job from a slot: `idSlotIndex` is where it runs for IDs whose
 * kind 0 runs at the slot, `clockSlotIndex` where kind 0 runs for the IDs that it handles while
 * the slot runs; `offset` is the time from the run of kind 0 to its own, for the same ID.
 */
final class KindSlot implements \JsonSerializable
{
    use JsonAnswer;

    public function __construct(
        public readonly int $kindIndex,
        public readonly int $offsetSlotCount,
        public readonly DateInterval $offset,
        public readonly int $idSlotIndex,
        public readonly int $clockSlotIndex,
        public readonly int $gapSlotCount,
        public readonly DateInterval $runBudget,
    ) {
    }
}
