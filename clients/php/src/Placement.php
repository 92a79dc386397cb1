<?php

declare(strict_types=1);

namespace Offbeat;

/** How an ID becomes a place in the cycle. */
enum Placement: string
{
    /** By hash: the default. Takes UUIDs, integers and text. */
    case Hash = 'hash';

    /** By Mersenne twister, as the language of the profile draws. Takes UUIDs and integers. */
    case Twister = 'twister';

    /** By a fraction in [0, 1) that the caller stored. */
    case Fraction = 'fraction';

    /** @internal */
    public function toMessage(): int
    {
        return match ($this) {
            self::Hash => V1\Placement::PLACEMENT_HASH,
            self::Twister => V1\Placement::PLACEMENT_TWISTER,
            self::Fraction => V1\Placement::PLACEMENT_FRACTION,
        };
    }
}
