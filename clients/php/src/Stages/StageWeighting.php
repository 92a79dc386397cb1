<?php

declare(strict_types=1);

namespace Offbeat\Stages;

use Offbeat\V1;

/** How the place of a stage in the pipeline is weighted. */
enum StageWeighting: string
{
    /** Nothing: the default. */
    case Even = 'even';

    /** The workload of the i-th stage, from 1, counts i times: what is nearly through goes first. */
    case Latency = 'latency';

    /** @internal */
    public function toMessage(): int
    {
        return match ($this) {
            self::Even => V1\StageWeighting::STAGE_WEIGHTING_EVEN,
            self::Latency => V1\StageWeighting::STAGE_WEIGHTING_LATENCY,
        };
    }
}
