<?php

declare(strict_types=1);

namespace Offbeat\NamedSpread;

use Offbeat\V1;

/** What a verdict came to. */
enum Settlement: string
{
    /** The job is settled, or was by this very lease before. */
    case Settled = 'settled';

    /** The job will be lent again. */
    case Returned = 'returned';

    /** The lease lasts for its full length from now on. */
    case Extended = 'extended';

    /** The job was given up. */
    case DeadLettered = 'dead_lettered';

    /** The lease has ended: the verdict counts for nothing, and another consumer may have the job. */
    case Stale = 'stale';

    /** @internal */
    public static function fromMessage(int $number): self
    {
        return match ($number) {
            V1\Settlement::SETTLEMENT_SETTLED => self::Settled,
            V1\Settlement::SETTLEMENT_RETURNED => self::Returned,
            V1\Settlement::SETTLEMENT_EXTENDED => self::Extended,
            V1\Settlement::SETTLEMENT_DEAD_LETTERED => self::DeadLettered,
            V1\Settlement::SETTLEMENT_STALE => self::Stale,
        };
    }
}
