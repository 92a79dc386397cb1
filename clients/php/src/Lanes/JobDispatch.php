<?php

declare(strict_types=1);

namespace Offbeat\Lanes;

use Offbeat\V1;

/** A job that was dispatched to a worker. */
final class JobDispatch
{
    /** @param int $jobIndex its index in the request, from 0 */
    public function __construct(
        public readonly int $jobIndex,
        public readonly string $jobId,
        public readonly LaneRoute $route,
    ) {
    }

    /** @internal */
    public static function fromMessage(V1\JobDispatch $message): self
    {
        return new self($message->getJobIndex(), $message->getJobId(), LaneRoute::fromMessage($message->getRoute()));
    }
}
