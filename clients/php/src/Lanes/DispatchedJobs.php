<?php

declare(strict_types=1);

namespace Offbeat\Lanes;

use Offbeat\V1;

/** The dispatched jobs, and the failures. */
final class DispatchedJobs
{
    /**
     * @param list<JobDispatch> $dispatches in the order of choice
     * @param list<FailedJob> $failures jobs that are not tried again, in the order of the request
     */
    public function __construct(
        public readonly array $dispatches,
        public readonly array $failures,
    ) {
    }

    /** @internal */
    public static function fromMessage(V1\DispatchJobsResponse $message): self
    {
        return new self(
            array_map(JobDispatch::fromMessage(...), iterator_to_array($message->getDispatches(), false)),
            array_map(FailedJob::fromMessage(...), iterator_to_array($message->getFailures(), false)),
        );
    }
}
