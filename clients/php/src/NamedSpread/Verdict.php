<?php

declare(strict_types=1);

namespace Offbeat\NamedSpread;

use Offbeat\V1;

/** How a job went. */
enum Verdict: string
{
    /** It is done. */
    case Ack = 'ack';

    /** It failed: it is lent again, or given up if this was the last attempt. */
    case Nack = 'nack';

    /** It was not begun: it is lent again, and the attempt does not count. */
    case Release = 'release';

    /** It is still being worked on: the lease lasts for its full length from now on. */
    case Extend = 'extend';

    /** It can never succeed: it is given up. */
    case Terminate = 'terminate';

    /** @internal */
    public function toMessage(): int
    {
        return match ($this) {
            self::Ack => V1\Verdict::VERDICT_ACK,
            self::Nack => V1\Verdict::VERDICT_NACK,
            self::Release => V1\Verdict::VERDICT_RELEASE,
            self::Extend => V1\Verdict::VERDICT_EXTEND,
            self::Terminate => V1\Verdict::VERDICT_TERMINATE,
        };
    }
}
