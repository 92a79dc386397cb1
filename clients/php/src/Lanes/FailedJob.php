<?php

declare(strict_types=1);

namespace Offbeat\Lanes;

use Offbeat\V1;

/** A pending job that is not tried again. */
final class FailedJob
{
    /** @param int $jobIndex its index in the request, from 0 */
    public function __construct(
        public readonly int $jobIndex,
        public readonly string $jobId,
        public readonly PermanentFailure $failure,
    ) {
    }

    /** @internal */
    public static function fromMessage(V1\FailedJob $message): self
    {
        return new self(
            $message->getJobIndex(),
            $message->getJobId(),
            PermanentFailure::fromMessage($message->getFailure()),
        );
    }
}
