<?php

declare(strict_types=1);

namespace Offbeat\NamedSpread;

use Offbeat\V1;

/** The outcome of a settlement. */
enum SettleOutcome: string
{
    /** The job is done, or was acknowledged by the same lease before. */
    case Acked = 'acked';

    /** The job will be leased again. */
    case Returned = 'returned';

    /** The lease was extended. */
    case Extended = 'extended';

    /** The job is a dead letter. */
    case DeadLettered = 'dead_lettered';

    /** The lease has ended: the settlement has no effect, and another consumer may have the job. */
    case Stale = 'stale';

    /** @internal */
    public static function fromMessage(int $number): self
    {
        return match ($number) {
            V1\SettleOutcome::SETTLE_OUTCOME_ACKED => self::Acked,
            V1\SettleOutcome::SETTLE_OUTCOME_RETURNED => self::Returned,
            V1\SettleOutcome::SETTLE_OUTCOME_EXTENDED => self::Extended,
            V1\SettleOutcome::SETTLE_OUTCOME_DEAD_LETTERED => self::DeadLettered,
            V1\SettleOutcome::SETTLE_OUTCOME_STALE => self::Stale,
        };
    }
}
