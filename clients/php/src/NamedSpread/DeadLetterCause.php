<?php

declare(strict_types=1);

namespace Offbeat\NamedSpread;

use Offbeat\V1;

/** The reason that a job is a dead letter. */
enum DeadLetterCause: string
{
    /** Its last attempt failed, or the lease of its last attempt ended. */
    case AttemptsExhausted = 'attempts_exhausted';

    /** A consumer settled it with SettleAction::DeadLetter. */
    case Consumer = 'consumer';

    /** @internal */
    public static function fromMessage(int $number): self
    {
        return match ($number) {
            V1\DeadLetterCause::DEAD_LETTER_CAUSE_ATTEMPTS_EXHAUSTED => self::AttemptsExhausted,
            V1\DeadLetterCause::DEAD_LETTER_CAUSE_CONSUMER => self::Consumer,
        };
    }
}
