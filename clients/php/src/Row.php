<?php

declare(strict_types=1);

namespace Offbeat;

use DateInterval;
use DateTimeImmutable;
use Offbeat\Internal\JsonAnswer;

/** One ID of a batch or, with weights, one piece of an ID: its place, and its next run. */
final class Row implements \JsonSerializable
{
    use JsonAnswer;

    /**
     * @param ?DateTimeImmutable $lastRunTime when it ran last; null unless the call named
     *     AssignmentColumn::LastRunUnixMillis, or if exclusions skip the previous 1,000 cycles
     */
    public function __construct(
        public readonly int|float|string|\GMP $id,
        public readonly int $pieceIndex,
        public readonly int $slotIndex,
        public readonly DateInterval $slotOffset,
        public readonly DateInterval $cycleOffset,
        public readonly Run $nextRun,
        public readonly ?DateTimeImmutable $lastRunTime = null,
    ) {
    }
}
