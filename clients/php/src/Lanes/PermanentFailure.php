<?php

declare(strict_types=1);

namespace Offbeat\Lanes;

use DateInterval;
use Offbeat\Internal\JsonAnswer;
use Offbeat\Times;
use Offbeat\V1;

/** A job that is not tried again. */
final class PermanentFailure implements \JsonSerializable
{
    use JsonAnswer;

    /**
     * @param string $lastLaneName the lane whose timeout the job has exceeded: no slower lane has workers
     * @param ?DateInterval $exceededTimeout the timeout that it exceeded there
     * @param string $message the same as a sentence
     */
    public function __construct(
        public readonly string $lastLaneName,
        public readonly ?DateInterval $exceededTimeout,
        public readonly string $message,
    ) {
    }

    /** @internal */
    public static function fromMessage(V1\PermanentFailure $message): self
    {
        $timeout = Times::fromOptional($message->getExceededTimeout());

        return new self($message->getLastLaneName(), $timeout, $message->getMessage());
    }
}
