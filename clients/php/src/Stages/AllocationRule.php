<?php

declare(strict_types=1);

namespace Offbeat\Stages;

use Offbeat\V1;

/**
 * The rule by which workers are allocated, for a stage of workload v with w workers. Each further worker goes where it
 * is worth most. Of several best allocations, the one nearest to the current one is taken; of stages that are still
 * equal, the first.
 */
enum AllocationRule: string
{
    /** The sum of v/(w+1) is as small as possible: the default. */
    case MinimumScore = 'minimum_score';

    /** Highest averages: one more worker is worth v/(w+1). Favours large stages more. */
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
