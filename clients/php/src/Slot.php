<?php

declare(strict_types=1);

namespace Offbeat;

use DateTimeImmutable;
use Offbeat\Internal\JsonAnswer;

/**
 * One slot of one cycle: the half-open span from start to end, before exclusions. A slot that the end of an active
 * window cuts continues in the next window.
 */
final class Slot implements \JsonSerializable
{
    use JsonAnswer;

    /** @param ?SqlPredicate $predicate selects the rows of the slot, if the call had a SqlTarget */
    public function __construct(
        public readonly int $slotIndex,
        public readonly int $cycleIndex,
        public readonly DateTimeImmutable $startTime,
        public readonly DateTimeImmutable $endTime,
        public readonly ?SqlPredicate $predicate = null,
    ) {
    }
}
