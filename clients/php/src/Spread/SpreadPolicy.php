<?php

declare(strict_types=1);

namespace Offbeat\Spread;

use Offbeat\V1;

/** The order in which groups take turns. */
enum SpreadPolicy: string
{
    /** Feeders in turn. Sizes need not be known. */
    case RoundRobin = 'round_robin';

    /** The largest rested group first. Groups must be countable. */
    case Cooldown = 'cooldown';

    /** @internal */
    public function toMessage(): int
    {
        return match ($this) {
            self::RoundRobin => V1\SpreadPolicy::SPREAD_POLICY_ROUND_ROBIN,
            self::Cooldown => V1\SpreadPolicy::SPREAD_POLICY_COOLDOWN,
        };
    }

    /** @internal */
    public static function fromMessage(int $number): self
    {
        return match ($number) {
            V1\SpreadPolicy::SPREAD_POLICY_ROUND_ROBIN => self::RoundRobin,
            V1\SpreadPolicy::SPREAD_POLICY_COOLDOWN => self::Cooldown,
        };
    }
}
