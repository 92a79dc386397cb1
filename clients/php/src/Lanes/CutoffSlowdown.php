<?php

declare(strict_types=1);

namespace Offbeat\Lanes;

use DateInterval;
use Offbeat\Internal\JsonAnswer;
use Offbeat\Times;
use Offbeat\V1beta1;

/** What an express timeout does. */
final class CutoffSlowdown implements \JsonSerializable
{
    use JsonAnswer;

    /**
     * @param DateInterval $cutoff the express lane's attempt timeout
     * @param float $meanSlowdown bounded, by formula
     */
    public function __construct(
        public readonly DateInterval $cutoff,
        public readonly int $expressWorkerCount,
        public readonly float $meanSlowdown,
    ) {
    }

    /** @internal */
    public static function fromMessage(V1beta1\CutoffSlowdown $message): self
    {
        return new self(
            Times::fromDuration($message->getCutoff()),
            $message->getExpressWorkerCount(),
            $message->getMeanSlowdown(),
        );
    }
}
