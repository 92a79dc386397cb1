<?php

declare(strict_types=1);

namespace Offbeat\Lanes;

use DateInterval;
use Offbeat\Internal\JsonAnswer;
use Offbeat\Times;
use Offbeat\V1beta1;

/** Figures of a cutoff between two lanes, from four simulated streams of jobs. */
final class CutoffFigures implements \JsonSerializable
{
    use JsonAnswer;

    /**
     * @param DateInterval $cutoff the express lane's attempt timeout
     * @param int $expressWorkerCount workers of the express lane: the split that is best by formula
     * @param ?float $meanSlowdown bounded; null if the workers do not keep up
     * @param ?DateInterval $meanSojourn from arrival to end; null if the workers do not keep up
     * @param bool $stable whether the workers keep up with the arrivals
     * @param bool $stableWithMoreArrivals whether they also keep up with a fifth more, or one queue would then fill
     *     90 % of their time; lanes without this are not planned
     * @param ?FigureRange $meanSlowdownRange how the mean slowdown differs from stream to stream; null if the workers
     *     do not keep up
     */
    public function __construct(
        public readonly DateInterval $cutoff,
        public readonly int $expressWorkerCount,
        public readonly ?float $meanSlowdown,
        public readonly ?DateInterval $meanSojourn,
        public readonly bool $stable,
        public readonly bool $stableWithMoreArrivals,
        public readonly ?FigureRange $meanSlowdownRange,
    ) {
    }

    /** @internal */
    public static function fromMessage(V1beta1\CutoffFigures $message): self
    {
        return new self(
            cutoff: Times::fromDuration($message->getCutoff()),
            expressWorkerCount: $message->getExpressWorkerCount(),
            meanSlowdown: $message->hasMeanSlowdown() ? $message->getMeanSlowdown() : null,
            meanSojourn: Times::fromOptional($message->getMeanSojourn()),
            stable: $message->getStable(),
            stableWithMoreArrivals: $message->getStableWithMoreArrivals(),
            meanSlowdownRange: FigureRange::fromOptional($message->getMeanSlowdownRange()),
        );
    }
}
