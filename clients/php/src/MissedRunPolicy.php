<?php

declare(strict_types=1);

namespace Offbeat;

/** Policy for missed runs. */
enum MissedRunPolicy: string
{
    /** None of them runs. */
    case Drop = 'drop';

    /** The latest of each ID (of each piece) runs, unless a run that is on time does: the default. */
    case RunOnce = 'run_once';

    /** All of them run, in their order. */
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
