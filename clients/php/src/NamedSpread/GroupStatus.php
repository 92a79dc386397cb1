<?php

declare(strict_types=1);

namespace Offbeat\NamedSpread;

/** The state of a group. */
final class GroupStatus
{
    /**
     * @param int $jobCount how many jobs have arrived
     * @param int $settledJobCount how many of them are settled, dead letters included
     * @param int $deadLetterCount how many of them are dead letters
     * @param list<array{int, int}> $settledRanges the settled jobs, while the group is received or stored: pairs of the
     *     index of the first job and that after the last one; at most 1,024 pairs
     */
    public function __construct(
        public readonly string $groupId,
        public readonly GroupState $state,
        public readonly int $jobCount,
        public readonly int $settledJobCount,
        public readonly int $deadLetterCount,
        public readonly array $settledRanges,
    ) {
    }
}
