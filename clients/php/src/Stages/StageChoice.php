<?php

declare(strict_types=1);

namespace Offbeat\Stages;

use Offbeat\V1;

/** The next stage of a worker, and the reason. */
final class StageChoice
{
    /**
     * @param ?string $stageName null if no stage may have the worker
     * @param bool $changesStage whether the stage differs from the current one
     * @param float $quotient what the worker is worth in that stage, in microseconds. For people
     * @param float $currentQuotient what the worker is worth in its current stage, in microseconds; 0 for a new worker,
     *     and if it may not stay
     */
    public function __construct(
        public readonly ?string $stageName,
        public readonly bool $changesStage,
        public readonly StageChoiceReason $reason,
        public readonly float $quotient,
        public readonly float $currentQuotient,
    ) {
    }

    /** @internal */
    public static function fromMessage(V1\StageChoice $message): self
    {
        return new self(
            stageName: $message->getStageName() === '' ? null : $message->getStageName(),
            changesStage: $message->getChangesStage(),
            reason: StageChoiceReason::fromMessage($message->getReason()),
            quotient: $message->getQuotient(),
            currentQuotient: $message->getCurrentQuotient(),
        );
    }
}
