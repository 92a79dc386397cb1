<?php

declare(strict_types=1);

namespace Offbeat\Lanes;

use DateInterval;
use Offbeat\Internal\JsonAnswer;
use Offbeat\Times;
use Offbeat\V1beta1;

/** The simulated performance of lanes or of one queue: medians over the streams of jobs. */
final class LanePerformance implements \JsonSerializable
{
    use JsonAnswer;

    /**
     * @param float $meanSlowdown bounded slowdown, max(1, sojourn / max(run time, floor)): the mean
     * @param float $p95Slowdown its 95th percentile
     * @param DateInterval $meanWait from arrival to first start
     * @param DateInterval $meanSojourn from arrival to end
     * @param float $wastedRatio the share of the time spent on jobs that is lost because attempts are aborted
     * @param bool $stable whether the workers keep up with the arrivals; if not, the other figures mean nothing
     * @param FigureRange $meanSlowdownRange how the mean slowdown differs from stream to stream
     * @param DurationRange $meanSojournRange how the mean sojourn differs from stream to stream
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
