<?php

declare(strict_types=1);

namespace Offbeat\Spread;

/** A turn of a spread. Group and job are null if the turn passes without a job. */
final class SpreadTurn
{
    /**
     * @param int $sequence index of the turn, from 0
     * @param ?int $groupIndex the group, from 0 in the order of the iterable
     */
    public function __construct(
        public readonly int $sequence,
        public readonly ?int $groupIndex,
        public readonly mixed $job,
    ) {
    }
}
