<?php

declare(strict_types=1);

namespace Offbeat;

use Offbeat\Internal\JsonAnswer;

/** One migrated ID: its last run by the old schedule, and its first run by the new one. */
final class MigratedId implements \JsonSerializable
{
    use JsonAnswer;

    public function __construct(
        public readonly int|float|string|\GMP $id,
        public readonly Run $lastOldRun,
        public readonly Run $firstNewRun,
    ) {
    }
}
