<?php

declare(strict_types=1);

namespace Offbeat;

/** Policy for the runs that an exclusion forbids. */
enum ExclusionPolicy: string
{
    /** They happen later, smeared, and before the ID's next run: the default. */
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
