<?php

declare(strict_types=1);

namespace Offbeat\Spread;

/** The order in which the groups of a named spread take turns. */
final class SpreadOrder
{
    /**
     * @param int $feederCount how many groups take turns
     * @param ?int $maxOpenGroupCount with SpreadPolicy::Cooldown only, otherwise null: the most groups that are open at
     *     once
     */
    public function __construct(
        public readonly SpreadPolicy $policy,
        public readonly int $feederCount,
        public readonly ?int $maxOpenGroupCount,
    ) {
    }
}
