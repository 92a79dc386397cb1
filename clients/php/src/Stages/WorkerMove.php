<?php

declare(strict_types=1);

namespace Offbeat\Stages;

use Offbeat\V1;

/** Workers that change their stage. */
final class WorkerMove
{
    /**
     * @param ?string $fromStageName null for new workers
     * @param ?string $toStageName null for workers that are no longer needed
     */
    public function __construct(
        public readonly ?string $fromStageName,
        public readonly ?string $toStageName,
        public readonly int $workerCount,
    ) {
    }

    /** @internal */
    public static function fromMessage(V1\WorkerMove $message): self
    {
        $name = static fn (string $stage): ?string => $stage === '' ? null : $stage;

        return new self($name($message->getFromStageName()), $name($message->getToStageName()), $message->getWorkerCount());
    }
}
