<?php

declare(strict_types=1);

namespace Offbeat\Lanes;

use Offbeat\V1;

/** The reason for the lane of a job. */
enum RouteReason: string
{
    /** Nothing is known about the job yet. */
    case Untried = 'untried';

    /** The job has exceeded the timeout of a faster lane. */
    case Demoted = 'demoted';

    /** The job was predicted to be slow. */
    case PredictedSlow = 'predicted_slow';

    /** A free worker of a slower lane takes the job: in dispatchJobs(), or with $workerLaneName. */
    case IdleWorker = 'idle_worker';

    /** @internal */
    public static function fromMessage(int $number): self
    {
        return match ($number) {
            V1\RouteReason::ROUTE_REASON_UNTRIED => self::Untried,
            V1\RouteReason::ROUTE_REASON_DEMOTED => self::Demoted,
            V1\RouteReason::ROUTE_REASON_PREDICTED_SLOW => self::PredictedSlow,
            V1\RouteReason::ROUTE_REASON_IDLE_WORKER => self::IdleWorker,
        };
    }
}
