<?php

declare(strict_types=1);

namespace Offbeat\Spread;

/** A turn of a spread: a job, or neither group nor job where the turn passes without one. */
final class SpreadTurn
{
    /**
     * @param int $sequence the turn, from 0
     * @param ?int $groupIndex the group, from 0 in the order of the iterable
     */
    public function __construct(
        public readonly int $sequence,
        public readonly ?int $groupIndex,
        public readonly mixed $job,
    ) {
    }
}
