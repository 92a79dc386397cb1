<?php

declare(strict_types=1);

namespace Offbeat\Answer;

use DateTimeImmutable;

/** One run of an ID. The run key is equal for two attempts to enqueue it, and empty for a fraction. */
final class Run
{
    public function __construct(
        public readonly DateTimeImmutable $startTime,
        public readonly int $cycleIndex,
        public readonly string $runKey,
    ) {
    }
}
