<?php

declare(strict_types=1);

namespace Offbeat\Lanes;

use Offbeat\V1beta1;

/** Performance at another arrival rate. */
final class LaneSensitivity
{
    /**
     * @param float $arrivalRate jobs per second
     * @param ?LanePerformance $withLanes with the lane set of the plan; null if there is none
     * @param ?LanePerformance $byType with its lanes by type; null if there are none
     */
    public function __construct(
        public readonly float $arrivalRate,
        public readonly ?LanePerformance $withLanes,
        public readonly LanePerformance $withoutLanes,
        public readonly ?LanePerformance $byType,
    ) {
    }

    /** @internal */
    public static function fromMessage(V1beta1\LaneSensitivity $message): self
    {
        return new self(
            $message->getArrivalRate(),
            LanePerformance::fromOptional($message->getWithLanes()),
            LanePerformance::fromMessage($message->getWithoutLanes()),
            LanePerformance::fromOptional($message->getByType()),
        );
    }
}
