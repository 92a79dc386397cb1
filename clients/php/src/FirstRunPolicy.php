<?php

declare(strict_types=1);

namespace Offbeat;

/** When a new ID runs first if its time in the current cycle has passed. */
enum FirstRunPolicy: string
{
    /** At its time in the next cycle: the default. */
    case NextCycle = 'next_cycle';

    /**
     * Within smearSpan of createTime, and then at its time in the next cycle. If that time comes first, it is the first
     * run.
     */
    case NowSmeared = 'now_smeared';

    /** @internal */
    public function toMessage(): int
    {
        return match ($this) {
            self::NextCycle => V1\FirstRunPolicy::FIRST_RUN_POLICY_NEXT_CYCLE,
            self::NowSmeared => V1\FirstRunPolicy::FIRST_RUN_POLICY_NOW_SMEARED,
        };
    }
}
