<?php

declare(strict_types=1);

namespace Offbeat\Answer;

use DateTimeImmutable;

/** One run that is due. */
final class DueRun
{
    /**
     * @param DateTimeImmutable $scheduledTime when it should have started: what lateness is measured from
     * @param DateTimeImmutable $startTime when to start it: now or later if it was missed
     * @param string $runKey equal for two attempts to enqueue it, and empty for a fraction
     */
    public function __construct(
        public readonly int|float|string|\GMP $id,
        public readonly int $pieceIndex,
        public readonly int $cycleIndex,
        public readonly DateTimeImmutable $scheduledTime,
        public readonly DateTimeImmutable $startTime,
        public readonly string $runKey,
    ) {
    }
}
