<?php

declare(strict_types=1);

namespace Offbeat\NamedSpread;

use Offbeat\V1;

/** Whether a spread takes groups. */
enum SpreadState: string
{
    /** It takes groups, and leases their jobs. */
    case Open = 'open';

    /** It leases the jobs that it has, and takes no more groups. */
    case Draining = 'draining';

    /** All jobs are settled. Its name can be opened again once it has no dead letters. */
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
