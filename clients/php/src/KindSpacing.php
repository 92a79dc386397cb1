<?php

declare(strict_types=1);

namespace Offbeat;

/** How kinds of job that must not meet are spaced. */
enum KindSpacing: string
{
    /** With the largest gap there can be: the default. Adding a kind moves nearly all. */
    case Even = 'even';

    /** So that adding a kind moves none; with smaller gaps. */
    case Stable = 'stable';

    /** @internal */
    public function toMessage(): int
    {
        return match ($this) {
            self::Even => V1\KindSpacing::KIND_SPACING_EVEN,
            self::Stable => V1\KindSpacing::KIND_SPACING_STABLE,
        };
    }
}
