<?php

declare(strict_types=1);

namespace Offbeat\Lanes;

use Offbeat\V1;

/** What happens to a job that exceeds its timeout before the last lane. */
enum TimeoutAction: string
{
    /** It is aborted, and starts again in the next lane: the default. */
    case Abort = 'abort';

    /** It is suspended, and continues in the next lane. No work is lost; its memory stays in use. */
    case Suspend = 'suspend';

    /** @internal */
    public function toMessage(): int
    {
        return match ($this) {
            self::Abort => V1\TimeoutAction::TIMEOUT_ACTION_ABORT,
            self::Suspend => V1\TimeoutAction::TIMEOUT_ACTION_SUSPEND,
        };
    }

    /** @internal Null if it is not set. */
    public static function fromMessage(int $number): ?self
    {
        return match ($number) {
            V1\TimeoutAction::TIMEOUT_ACTION_UNSPECIFIED => null,
            V1\TimeoutAction::TIMEOUT_ACTION_ABORT => self::Abort,
            V1\TimeoutAction::TIMEOUT_ACTION_SUSPEND => self::Suspend,
        };
    }
}
