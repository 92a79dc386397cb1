<?php

declare(strict_types=1);

namespace Offbeat\NamedSpread;

use Offbeat\V1;

/** What to do with a leased job. */
enum SettleAction: string
{
    /** The job is done. */
    case Ack = 'ack';

    /** The attempt failed: the job is leased again, or becomes a dead letter if this was its last attempt. */
    case Nack = 'nack';

    /** The job was not started: it is leased again, and the attempt does not count. */
    case Release = 'release';

    /** The job is still running: extends the lease to its full duration from now on. */
    case ExtendLease = 'extend_lease';

    /** The job can never succeed: it becomes a dead letter. */
    case DeadLetter = 'dead_letter';

    /** @internal */
    public function toMessage(): int
    {
        return match ($this) {
            self::Ack => V1\SettleAction::SETTLE_ACTION_ACK,
            self::Nack => V1\SettleAction::SETTLE_ACTION_NACK,
            self::Release => V1\SettleAction::SETTLE_ACTION_RELEASE,
            self::ExtendLease => V1\SettleAction::SETTLE_ACTION_EXTEND_LEASE,
            self::DeadLetter => V1\SettleAction::SETTLE_ACTION_DEAD_LETTER,
        };
    }
}
