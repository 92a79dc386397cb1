<?php

declare(strict_types=1);

namespace Offbeat\Lanes;

use Offbeat\V1beta1;

/** The range of a figure in nine of ten streams of jobs. */
final class FigureRange
{
    public function __construct(
        public readonly float $low,
        public readonly float $high,
    ) {
    }

    /** @internal */
    public static function fromOptional(?V1beta1\FigureRange $message): ?self
    {
        return $message === null ? null : self::fromMessage($message);
    }

    /** @internal */
    public static function fromMessage(V1beta1\FigureRange $message): self
    {
        return new self($message->getLow(), $message->getHigh());
    }
}
