<?php

declare(strict_types=1);

namespace Offbeat\Answer;

use DateTimeImmutable;

/** One run of an ID. The run key is equal for two attempts to enqueue it, and empty for a fraction. */
final class Run
{
    /**
     * @param DateTimeImmutable $startTime when it starts: what lateness is measured from
     * @param int $cycleIndex its cycle, which a deferred run keeps
     * @param ?DateTimeImmutable $regularTime when it would start but for an exclusion, or for a
     *     newcomer's policy; null where that is the same
     */
    public function __construct(
        public readonly DateTimeImmutable $startTime,
        public readonly int $cycleIndex,
        public readonly string $runKey,
        public readonly ?DateTimeImmutable $regularTime = null,
    ) {
    }
}
