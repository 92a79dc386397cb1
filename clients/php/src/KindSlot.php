<?php

declare(strict_types=1);

namespace Offbeat;

use DateInterval;
use Offbeat\Internal\JsonAnswer;

/**
 * The slots of one kind of job, seen from the requested slot. `idSlotIndex` is the slot in which the kind runs for IDs
 * whose kind 0 runs in the requested slot. While the requested slot runs, the kind handles the IDs whose kind 0 runs in
 * `clockSlotIndex`. `offset` is from the run of kind 0 to that of this kind, for the same ID.
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
