<?php

declare(strict_types=1);

namespace Offbeat\NamedSpread;

use DateTimeImmutable;
use Offbeat\Internal\JsonAnswer;
use Offbeat\Times;
use Offbeat\V1;

/** The result of one settlement. */
final class SettleResult implements \JsonSerializable
{
    use JsonAnswer;

    /**
     * @param ?DateTimeImmutable $leaseEndTime SettleOutcome::Extended only: when the lease ends, by the clock of the
     *     sidecar
     */
    public function __construct(
        public readonly SettleOutcome $outcome,
        public readonly ?DateTimeImmutable $leaseEndTime = null,
    ) {
    }

    /** @internal */
    public static function fromMessage(V1\SettleResult $message): self
    {
        return new self(
            SettleOutcome::fromMessage($message->getOutcome()),
            Times::fromOptionalTimestamp($message->getLeaseEndTime()),
        );
    }
}
