<?php

declare(strict_types=1);

namespace Offbeat\Lanes;

use Offbeat\V1beta1;

/** A ratio of two figures over the same streams of jobs: their geometric mean, and its 95 % interval. */
final class RatioInterval
{
    /**
     * @param float $low the lower end of the 95 % interval
     * @param float $high the upper end
     */
    public function __construct(
        public readonly float $estimate,
        public readonly float $low,
        public readonly float $high,
    ) {
    }

    /** @internal */
    public static function fromOptional(?V1beta1\RatioInterval $message): ?self
    {
        return $message === null ? null : self::fromMessage($message);
    }

    /** @internal */
    public static function fromMessage(V1beta1\RatioInterval $message): self
    {
        return new self($message->getEstimate(), $message->getLow(), $message->getHigh());
    }
}
