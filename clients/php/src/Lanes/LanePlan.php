<?php

declare(strict_types=1);

namespace Offbeat\Lanes;

use DateInterval;
use Offbeat\Internal\JsonAnswer;
use Offbeat\Times;
use Offbeat\V1beta1;

/**
 * A plan: lanes or no lanes, and the simulated performance of both. All alternatives are simulated with the same
 * streams of jobs, which arrive independently of one another. Figures are medians over the streams.
 */
final class LanePlan implements \JsonSerializable
{
    use JsonAnswer;

    /**
     * @param LaneVerdict $verdict Lanes, if it is certain that lanes lower the mean slowdown by at least a twentieth,
     *     also lower the mean slowdown times the fourth root of the mean sojourn, and are stable with a fifth more
     *     arrivals, if one queue then fills less than 90 % of the workers' time; LanesByType, if the same holds for
     *     lanes by type, and lanes with timeouts are not clearly better
     * @param ?LaneSet $laneSet the best lanes with timeouts that were found; with other verdicts too, for comparison.
     *     They have the least mean slowdown times the fourth root of the mean sojourn, so that short jobs come first,
     *     but not at any price for long ones. Null if none can keep up with the arrivals
     * @param ?LanePerformance $withLanes the performance of these lanes
     * @param LanePerformance $withoutLanes the performance of one queue for all workers, with the same jobs
     * @param list<LaneSensitivity> $sensitivities the same for 20 % fewer and 20 % more arrivals
     * @param list<CutoffFigures> $cutoffs cutoffs between two lanes, rising, each with the split of the workers that is
     *     best by formula
     * @param DateInterval $slowdownFloor the lower bound on run times that slowdown was computed with
     * @param float $utilization the share of the workers' time that the run times fill
     * @param int $streamCount how many streams were simulated with these lanes, and with one queue
     * @param int $streamJobCount jobs of each stream
     * @param ?RatioInterval $slowdownRatio the mean slowdown with lanes, divided by that without; null without a lane
     *     set
     * @param ?RatioInterval $sojournRatio the mean sojourn with lanes, divided by that without; null without a lane set
     * @param list<RunTimeClass> $runTimeClasses jobs by the lane that their run time ends in: which of them wait less,
     *     and which wait more
     * @param list<string> $messages the verdict and what speaks against the lanes, one sentence each
     * @param ?LanesByType $lanesByType the best lanes by type that were found, with other verdicts too; null
     *     without types, or if none keep up
     * @param list<JobTypeFigures> $jobTypes the types of job, those with the longest mean run times first
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
        public readonly int $streamCount,
        public readonly int $streamJobCount,
        public readonly ?RatioInterval $slowdownRatio,
        public readonly ?RatioInterval $sojournRatio,
        public readonly array $runTimeClasses,
        public readonly array $messages,
        public readonly ?LanesByType $lanesByType,
        public readonly array $jobTypes,
    ) {
    }

    /** @internal */
    public static function fromMessage(V1beta1\PlanLanesResponse $message): self
    {
        $laneSet = $message->getLaneSet();
        $sensitivities = iterator_to_array($message->getSensitivities(), false);
        $classes = iterator_to_array($message->getRunTimeClasses(), false);

        return new self(
            verdict: LaneVerdict::fromMessage($message->getVerdict()),
            laneSet: $laneSet === null ? null : LaneSet::fromMessage($laneSet),
            withLanes: LanePerformance::fromOptional($message->getWithLanes()),
            withoutLanes: LanePerformance::fromMessage($message->getWithoutLanes()),
            sensitivities: array_map(LaneSensitivity::fromMessage(...), $sensitivities),
            cutoffs: array_map(CutoffFigures::fromMessage(...), iterator_to_array($message->getCutoffs(), false)),
            slowdownFloor: Times::fromDuration($message->getSlowdownFloor()),
            meanRunTime: Times::fromDuration($message->getMeanRunTime()),
            utilization: $message->getUtilization(),
            streamCount: $message->getStreamCount(),
            streamJobCount: $message->getStreamJobCount(),
            slowdownRatio: RatioInterval::fromOptional($message->getSlowdownRatio()),
            sojournRatio: RatioInterval::fromOptional($message->getSojournRatio()),
            runTimeClasses: array_map(RunTimeClass::fromMessage(...), $classes),
            messages: iterator_to_array($message->getMessages(), false),
            lanesByType: LanesByType::fromOptional($message->getLanesByType()),
            jobTypes: array_map(JobTypeFigures::fromMessage(...), iterator_to_array($message->getJobTypes(), false)),
        );
    }
}
