<?php

declare(strict_types=1);

namespace Offbeat\Lanes;

use DateInterval;
use Offbeat\Internal\JsonAnswer;
use Offbeat\Times;
use Offbeat\V1beta1;

/** Lanes, or that there should be none; and what either does. */
final class LanePlan implements \JsonSerializable
{
    use JsonAnswer;

    /**
     * @param ?LaneSet $laneSet the best lanes that were found, also with LaneVerdict::NoLanes, to be
     *     compared; null if none keep up with the arrivals
     * @param ?LanePerformance $withLanes what they do
     * @param LanePerformance $withoutLanes what one queue for all workers does, with the same jobs
     * @param list<LaneSensitivity> $sensitivities the same for 20 % fewer and 20 % more arrivals
     * @param list<CutoffSlowdown> $cutoffs what slowdown each express timeout has, with the best split
     *     of the workers between two lanes: by formula, not simulated
     * @param DateInterval $slowdownFloor the lower bound on run times that slowdown was computed with
     * @param float $utilization the share of the workers' time that the run times fill
     * @param int $simulatedJobCount for each figure
     */
    public function __construct(
        public readonly LaneVerdict $verdict,
        public readonly ?LaneSet $laneSet,
        public readonly ?LanePerformance $withLanes,
        public readonly LanePerformance $withoutLanes,
        public readonly array $sensitivities,
        public readonly array $cutoffs,
        public readonly DateInterval $slowdownFloor,
        public readonly DateInterval $meanRunTime,
        public readonly float $utilization,
        public readonly int $simulatedJobCount,
    ) {
    }

    /** @internal */
    public static function fromMessage(V1beta1\PlanLanesResponse $message): self
    {
        $laneSet = $message->getLaneSet();
        $sensitivities = iterator_to_array($message->getSensitivities(), false);

        return new self(
            verdict: LaneVerdict::fromMessage($message->getVerdict()),
            laneSet: $laneSet === null ? null : LaneSet::fromMessage($laneSet),
            withLanes: LanePerformance::fromOptional($message->getWithLanes()),
            withoutLanes: LanePerformance::fromMessage($message->getWithoutLanes()),
            sensitivities: array_map(LaneSensitivity::fromMessage(...), $sensitivities),
            cutoffs: array_map(CutoffSlowdown::fromMessage(...), iterator_to_array($message->getCutoffs(), false)),
            slowdownFloor: Times::fromDuration($message->getSlowdownFloor()),
            meanRunTime: Times::fromDuration($message->getMeanRunTime()),
            utilization: $message->getUtilization(),
            simulatedJobCount: $message->getSimulatedJobCount(),
        );
    }
}
