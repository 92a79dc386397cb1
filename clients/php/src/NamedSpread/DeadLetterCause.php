<?php

declare(strict_types=1);

namespace Offbeat\NamedSpread;

use Offbeat\V1;

/** Why a job was given up. */
enum DeadLetterCause: string
{
    /** Its last attempt failed, or its lease ended. */
    case Attempts = 'attempts';

    /** A consumer said that it can never succeed. */
    case Terminated = 'terminated';

    /** @internal */
    public static function fromMessage(int $number): self
    {
        return match ($number) {
            V1\DeadLetterCause::DEAD_LETTER_CAUSE_ATTEMPTS => self::Attempts,
            V1\DeadLetterCause::DEAD_LETTER_CAUSE_TERMINATED => self::Terminated,
        };
    }
}
