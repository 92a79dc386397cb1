<?php

declare(strict_types=1);

namespace Offbeat;

/** Which missed runs run. */
enum MissedRunPolicy: string
{
    /** None of them runs. */
    case Drop = 'drop';

    /** The latest one of each ID (or piece) runs, unless a run of it is due and on time: the default. */
    case RunOnce = 'run_once';

    /** All of them run, in their order, up to the horizon. */
    case RunAll = 'run_all';

    /** @internal */
    public function toMessage(): int
    {
        return match ($this) {
            self::Drop => V1\MissedRunPolicy::MISSED_RUN_POLICY_DROP,
            self::RunOnce => V1\MissedRunPolicy::MISSED_RUN_POLICY_RUN_ONCE,
            self::RunAll => V1\MissedRunPolicy::MISSED_RUN_POLICY_RUN_ALL,
        };
    }
}
