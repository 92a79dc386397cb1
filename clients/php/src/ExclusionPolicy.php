<?php

declare(strict_types=1);

namespace Offbeat;

/** What happens to runs that fall into an exclusion. */
enum ExclusionPolicy: string
{
    /** They start later, before the ID's next run, spread over the time that remains: the default. */
    case Defer = 'defer';

    /** They do not happen. */
    case Skip = 'skip';

    /** @internal */
    public function toMessage(): int
    {
        return match ($this) {
            self::Defer => V1\ExclusionPolicy::EXCLUSION_POLICY_DEFER,
            self::Skip => V1\ExclusionPolicy::EXCLUSION_POLICY_SKIP,
        };
    }
}
