<?php

declare(strict_types=1);

namespace Offbeat\Stages;

use Offbeat\V1;

/** How the position of a stage in the pipeline counts. */
enum StageWeighting: string
{
    /** The position does not count: the default. */
    case Even = 'even';

    /** The workload of the i-th stage, from 1, counts i times: jobs that are nearly through come first. */
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
