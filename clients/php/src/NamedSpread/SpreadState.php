<?php

declare(strict_types=1);

namespace Offbeat\NamedSpread;

use Offbeat\V1;

/** Whether a spread takes groups. */
enum SpreadState: string
{
    /** It takes groups and deals their jobs. */
    case Open = 'open';

    /** It deals what it has, and takes no more. */
    case Draining = 'draining';

    /** All is settled. Its dead letters can be read; its name can be opened anew. */
    case Closed = 'closed';

    /** @internal */
    public static function fromMessage(int $number): self
    {
        return match ($number) {
            V1\SpreadState::SPREAD_STATE_OPEN => self::Open,
            V1\SpreadState::SPREAD_STATE_DRAINING => self::Draining,
            V1\SpreadState::SPREAD_STATE_CLOSED => self::Closed,
        };
    }
}
