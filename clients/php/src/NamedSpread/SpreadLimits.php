<?php

declare(strict_types=1);

namespace Offbeat\NamedSpread;

/** How much a named spread may hold. */
final class SpreadLimits
{
    /**
     * @param int $maxAttempts leases of a job before it becomes a dead letter; released ones do not count
     * @param int $maxConsumerLeases jobs that one consumer may hold at once
     * @param int $maxGroupCount groups at once, committed and partial
     * @param int $maxJobCount jobs at once, dead letters included
     * @param int $maxByteCount bytes of payloads at once, dead letters included
     */
    public function __construct(
        public readonly int $maxAttempts,
        public readonly int $maxConsumerLeases,
        public readonly int $maxGroupCount,
        public readonly int $maxJobCount,
        public readonly int $maxByteCount,
    ) {
    }
}
