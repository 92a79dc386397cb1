<?php

declare(strict_types=1);

namespace Offbeat\Spread;

use Offbeat\V1;

/** What SpreadPolicy::Cooldown does when every open group must still rest. */
enum ShortagePolicy: string
{
    /** The group that has rested longest takes the turn. */
    case Emit = 'emit';

    /** The turn passes without a job. */
    case Wait = 'wait';

    /** @internal */
    public function toMessage(): int
    {
        return match ($this) {
            self::Emit => V1\ShortagePolicy::SHORTAGE_POLICY_EMIT,
            self::Wait => V1\ShortagePolicy::SHORTAGE_POLICY_WAIT,
        };
    }
}
