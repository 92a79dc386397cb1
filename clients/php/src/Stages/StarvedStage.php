<?php

declare(strict_types=1);

namespace Offbeat\Stages;

use Offbeat\V1;

/** A stage with waiting jobs and no worker, although it may have one. */
final class StarvedStage
{
    /**
     * @param ?float $cost by how many microseconds the score rises if a worker moves there from the stage where it is
     *     worth least; null if no worker may move
     */
    public function __construct(
        public readonly string $stageName,
        public readonly int $backlogCount,
        public readonly ?float $cost,
    ) {
    }

    /** @internal */
    public static function fromMessage(V1\StarvedStage $message): self
    {
        $cost = $message->hasCost() ? $message->getCost() : null;

        return new self($message->getStageName(), (int) $message->getBacklogCount(), $cost);
    }
}
