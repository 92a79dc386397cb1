<?php

declare(strict_types=1);

namespace Offbeat;

use DateTimeImmutable;
use Offbeat\Internal\JsonAnswer;

/** The rows to enqueue, once each, in a half-open span of time: those that the predicate selects. */
final class MigrationStep implements \JsonSerializable
{
    use JsonAnswer;

    /** @param bool $byNewSchedule whether the rows run by the new schedule */
    public function __construct(
        public readonly DateTimeImmutable $startTime,
        public readonly DateTimeImmutable $endTime,
        public readonly bool $byNewSchedule,
        public readonly SqlPredicate $predicate,
    ) {
    }
}
