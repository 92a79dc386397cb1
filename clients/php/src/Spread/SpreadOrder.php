<?php

declare(strict_types=1);

namespace Offbeat\Spread;

/** The order in which the groups of a named spread take turns. */
final class SpreadOrder
{
    /**
     * @param int $feederCount how many groups take turns
     * @param ?int $maxOpenGroupCount SpreadPolicy::Cooldown only, null with the other: how many groups are open at most
     */
    public function __construct(
        public readonly SpreadPolicy $policy,
        public readonly int $feederCount,
        public readonly ?int $maxOpenGroupCount,
    ) {
    }
}
