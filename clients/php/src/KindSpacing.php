<?php

declare(strict_types=1);

namespace Offbeat;

/** How kinds of job that must not meet are spaced. */
enum KindSpacing: string
{
    /** The smallest gap is as large as possible: the default. Adding a kind moves nearly all others. */
    case Even = 'even';

    /** Adding a kind moves no other; gaps are smaller. */
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
