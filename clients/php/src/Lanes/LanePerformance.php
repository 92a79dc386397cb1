<?php

declare(strict_types=1);

namespace Offbeat\Lanes;

use DateInterval;
use Offbeat\Internal\JsonAnswer;
use Offbeat\Times;
use Offbeat\V1beta1;

/** How jobs fare, simulated: medians of the streams of jobs. */
final class LanePerformance implements \JsonSerializable
{
    use JsonAnswer;

    /**
     * @param float $meanSlowdown bounded slowdown, max(1, sojourn / max(run time, floor)): the mean
     * @param float $p95Slowdown nineteen of twenty jobs have no more
     * @param DateInterval $meanWait from the arrival to the first start
     * @param DateInterval $meanSojourn from the arrival to the end
     * @param float $wastedRatio of the time that workers spend, the share that is lost by aborting
     * @param bool $stable whether the workers keep up; if not, all other figures are worth nothing
     * @param FigureRange $meanSlowdownRange the mean slowdown, from stream to stream
     * @param DurationRange $meanSojournRange the mean sojourn, from stream to stream
     */
    public function __construct(
        public readonly float $meanSlowdown,
        public readonly float $p95Slowdown,
        public readonly DateInterval $meanWait,
        public readonly DateInterval $p95Wait,
        public readonly DateInterval $meanSojourn,
        public readonly DateInterval $p95Sojourn,
        public readonly float $wastedRatio,
        public readonly bool $stable,
        public readonly FigureRange $meanSlowdownRange,
        public readonly DurationRange $meanSojournRange,
    ) {
    }

    /** @internal */
    public static function fromOptional(?V1beta1\LanePerformance $message): ?self
    {
        return $message === null ? null : self::fromMessage($message);
    }

    /** @internal */
    public static function fromMessage(V1beta1\LanePerformance $message): self
    {
        return new self(
            meanSlowdown: $message->getMeanSlowdown(),
            p95Slowdown: $message->getP95Slowdown(),
            meanWait: Times::fromDuration($message->getMeanWait()),
            p95Wait: Times::fromDuration($message->getP95Wait()),
            meanSojourn: Times::fromDuration($message->getMeanSojourn()),
            p95Sojourn: Times::fromDuration($message->getP95Sojourn()),
            wastedRatio: $message->getWastedRatio(),
            stable: $message->getStable(),
            meanSlowdownRange: FigureRange::fromMessage($message->getMeanSlowdownRange()),
            meanSojournRange: DurationRange::fromMessage($message->getMeanSojournRange()),
        );
    }
}
