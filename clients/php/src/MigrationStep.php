<?php

declare(strict_types=1);

namespace Offbeat;

use DateTimeImmutable;
use Offbeat\Internal\JsonAnswer;

/** What to enqueue in a span of time, half-open: the rows that the predicate selects, once. */
final class MigrationStep implements \JsonSerializable
{
    use JsonAnswer;

    /** @param bool $byNewSchedule whether the new schedule runs them */
    public function __construct(
        public readonly DateTimeImmutable $startTime,
        public readonly DateTimeImmutable $endTime,
        public readonly bool $byNewSchedule,
        public readonly SqlPredicate $predicate,
    ) {
    }
}
