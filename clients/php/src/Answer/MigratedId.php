<?php

declare(strict_types=1);

namespace Offbeat\Answer;

use DateTimeImmutable;

/** One ID that goes over: its last run by the old schedule, and its first by the new one. */
final class MigratedId
{
    public function __construct(
        public readonly int|float|string|\GMP $id,
        public readonly DateTimeImmutable $lastOldTime,
        public readonly int $lastOldCycleIndex,
        public readonly string $lastOldRunKey,
        public readonly DateTimeImmutable $firstNewTime,
        public readonly int $firstNewCycleIndex,
        public readonly string $firstNewRunKey,
    ) {
    }
}
