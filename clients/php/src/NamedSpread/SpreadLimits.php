<?php

declare(strict_types=1);

namespace Offbeat\NamedSpread;

/** How much a named spread may hold. */
final class SpreadLimits
{
    /**
     * @param int $maxAttemptCount leases of a job before it becomes a dead letter; released ones do not count
     * @param int $maxConsumerLeaseCount jobs that one consumer may hold at once
     * @param int $maxGroupCount groups at once, committed and partial
     * @param int $maxJobCount jobs at once, dead letters included
     * @param int $maxByteCount bytes of payloads at once, dead letters included
     */
    public function __construct(
        public readonly int $maxAttemptCount,
        public readonly int $maxConsumerLeaseCount,
        public readonly int $maxGroupCount,
        public readonly int $maxJobCount,
        public readonly int $maxByteCount,
    ) {
    }
}
