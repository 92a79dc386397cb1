<?php

declare(strict_types=1);

namespace Offbeat\Stages;

use Offbeat\V1;

/**
 * The rule by which workers are allocated. v is the workload of a stage, w its workers. Each
 * further worker goes where it is worth most; of equal stages, to the first.
 */
enum AllocationRule: string
{
    /** The sum of v/(w+1) is the smallest there is: the default. */
    case MinimumScore = 'minimum_score';

    /** Highest averages: a worker more is worth v/(w+1). Kinder to large stages. */
    case DHondt = 'd_hondt';

    /** @internal */
    public function toMessage(): int
    {
        return match ($this) {
            self::MinimumScore => V1\AllocationRule::ALLOCATION_RULE_MINIMUM_SCORE,
            self::DHondt => V1\AllocationRule::ALLOCATION_RULE_D_HONDT,
        };
    }
}
