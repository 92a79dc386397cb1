<?php

declare(strict_types=1);

namespace Offbeat\Stages;

use Offbeat\V1;

/** Workers who change their stage. */
final class WorkerMove
{
    /**
     * @param ?string $fromStage null for new workers
     * @param ?string $toStage null for those who are not needed any more
     */
    public function __construct(
        public readonly ?string $fromStage,
        public readonly ?string $toStage,
        public readonly int $workerCount,
    ) {
    }

    /** @internal */
    public static function fromMessage(V1\WorkerMove $message): self
    {
        $name = static fn (string $stage): ?string => $stage === '' ? null : $stage;

        return new self($name($message->getFromStage()), $name($message->getToStage()), $message->getWorkerCount());
    }
}
