<?php

declare(strict_types=1);

namespace Offbeat\Lanes;

use DateInterval;
use Offbeat\Times;
use Offbeat\V1;

/** A job that is not tried again. */
final class PermanentFailure
{
    /**
     * @param string $lastLane whose timeout it reached: no slower lane has workers
     * @param ?DateInterval $exceededTimeout the timeout that it exceeded there
     * @param string $message the same for people
     */
    public function __construct(
        public readonly string $lastLane,
        public readonly ?DateInterval $exceededTimeout,
        public readonly string $message,
    ) {
    }

    /** @internal */
    public static function fromMessage(V1\PermanentFailure $message): self
    {
        $timeout = Times::fromOptional($message->getExceededTimeout());

        return new self($message->getLastLane(), $timeout, $message->getMessage());
    }
}
