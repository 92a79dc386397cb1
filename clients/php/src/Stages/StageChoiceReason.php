<?php

declare(strict_types=1);

namespace Offbeat\Stages;

use Offbeat\V1;

/** The reason for the next stage of a worker. */
enum StageChoiceReason: string
{
    /** The worker is worth most there. */
    case WorthMost = 'worth_most';

    /** The stage has fewer workers than its minimum, or would have without this one. */
    case BelowMinimum = 'below_minimum';

    /** The worker would be worth more elsewhere, but not by the minimum gain. */
    case GainTooSmall = 'gain_too_small';

    /** No stage may have the worker: all that are not done have their maximum. */
    case AllFull = 'all_full';

    /** @internal */
    public static function fromMessage(int $number): self
    {
        return match ($number) {
            V1\StageChoiceReason::STAGE_CHOICE_REASON_WORTH_MOST => self::WorthMost,
            V1\StageChoiceReason::STAGE_CHOICE_REASON_BELOW_MINIMUM => self::BelowMinimum,
            V1\StageChoiceReason::STAGE_CHOICE_REASON_GAIN_TOO_SMALL => self::GainTooSmall,
            V1\StageChoiceReason::STAGE_CHOICE_REASON_ALL_FULL => self::AllFull,
        };
    }
}
