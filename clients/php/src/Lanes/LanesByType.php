<?php

declare(strict_types=1);

namespace Offbeat\Lanes;

use Offbeat\Internal\JsonAnswer;
use Offbeat\V1beta1;

/**
 * Two lanes without timeouts: jobs of the slow types go to the slow lane, all others to the express lane.
 * Workers of the slow lane take jobs of its types first, and others if there are none; workers of the
 * express lane take no jobs of the slow types.
 */
final class LanesByType implements \JsonSerializable
{
    use JsonAnswer;

    /**
     * @param list<string> $slowTypeNames the types whose jobs go to the slow lane, those with the longest mean run
     *     times first
     * @param LanePerformance $performance the performance of these lanes
     * @param bool $stableWithMoreArrivals whether the workers also keep up with a fifth more arrivals, or one queue
     *     would then fill 90 % of their time
     * @param RatioInterval $slowdownRatio the mean slowdown, divided by that with one queue
     * @param RatioInterval $sojournRatio the mean sojourn, divided by that with one queue
     * @param ?RatioInterval $slowdownRatioToTimeouts the mean slowdown, divided by that with the lane set of the plan;
     *     null without one
     * @param ?RatioInterval $sojournRatioToTimeouts the same for the mean sojourn
     */
    public function __construct(
        public readonly array $slowTypeNames,
        public readonly int $expressWorkerCount,
        public readonly int $slowWorkerCount,
        public readonly LanePerformance $performance,
        public readonly bool $stableWithMoreArrivals,
        public readonly RatioInterval $slowdownRatio,
        public readonly RatioInterval $sojournRatio,
        public readonly ?RatioInterval $slowdownRatioToTimeouts,
        public readonly ?RatioInterval $sojournRatioToTimeouts,
    ) {
    }

    /** @internal */
    public static function fromOptional(?V1beta1\LanesByType $message): ?self
    {
        return $message === null ? null : new self(
            slowTypeNames: iterator_to_array($message->getSlowTypeNames(), false),
            expressWorkerCount: $message->getExpressWorkerCount(),
            slowWorkerCount: $message->getSlowWorkerCount(),
            performance: LanePerformance::fromMessage($message->getPerformance()),
            stableWithMoreArrivals: $message->getStableWithMoreArrivals(),
            slowdownRatio: RatioInterval::fromMessage($message->getSlowdownRatio()),
            sojournRatio: RatioInterval::fromMessage($message->getSojournRatio()),
            slowdownRatioToTimeouts: RatioInterval::fromOptional($message->getSlowdownRatioToTimeouts()),
            sojournRatioToTimeouts: RatioInterval::fromOptional($message->getSojournRatioToTimeouts()),
        );
    }
}
