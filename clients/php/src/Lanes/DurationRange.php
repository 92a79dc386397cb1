<?php

declare(strict_types=1);

namespace Offbeat\Lanes;

use DateInterval;
use Offbeat\Internal\JsonAnswer;
use Offbeat\Times;
use Offbeat\V1beta1;

/** The range of a span in nine of ten streams of jobs. */
final class DurationRange implements \JsonSerializable
{
    use JsonAnswer;

    public function __construct(
        public readonly DateInterval $low,
        public readonly DateInterval $high,
    ) {
    }

    /** @internal */
    public static function fromMessage(V1beta1\DurationRange $message): self
    {
        return new self(Times::fromDuration($message->getLow()), Times::fromDuration($message->getHigh()));
    }
}
