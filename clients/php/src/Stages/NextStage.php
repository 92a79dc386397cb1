<?php

declare(strict_types=1);

namespace Offbeat\Stages;

use Offbeat\V1;

/** Where a worker goes, and why. */
final class NextStage
{
    /**
     * @param ?string $stage null if no stage may have it
     * @param bool $moves whether that is another than its current one
     * @param float $quotient what it is worth there, in microseconds. To be read
     * @param float $currentQuotient what it is worth in its current stage; 0 for a new worker, and
     *     where it may not stay
     */
    public function __construct(
        public readonly ?string $stage,
        public readonly bool $moves,
        public readonly NextStageReason $reason,
        public readonly float $quotient,
        public readonly float $currentQuotient,
    ) {
    }

    /** @internal */
    public static function fromMessage(V1\NextStage $message): self
    {
        return new self(
            stage: $message->getStage() === '' ? null : $message->getStage(),
            moves: $message->getMoves(),
            reason: NextStageReason::fromMessage($message->getReason()),
            quotient: $message->getQuotient(),
            currentQuotient: $message->getCurrentQuotient(),
        );
    }
}
