<?php

declare(strict_types=1);

namespace Offbeat\NamedSpread;

/** Counts of what a named spread holds. */
final class SpreadCounts
{
    /**
     * @param int $groupCount committed groups that are not settled
     * @param int $partialGroupCount groups without their commit
     * @param int $quarantinedGroupCount groups that wait until the leases of an earlier epoch must have ended
     * @param int $readyJobCount jobs that were never leased, those of quarantined groups included
     * @param int $leasedJobCount leased jobs
     * @param int $returnedJobCount jobs to lease again, now or after a delay
     * @param int $settledJobCount jobs that were settled in this epoch, dead letters included
     * @param int $deadLetterCount dead letters
     * @param int $byteCount bytes, counted as for SpreadLimits::$maxByteCount
     * @param int $consumerCount consumers that hold jobs
     */
    public function __construct(
        public readonly int $groupCount,
        public readonly int $partialGroupCount,
        public readonly int $quarantinedGroupCount,
        public readonly int $readyJobCount,
        public readonly int $leasedJobCount,
        public readonly int $returnedJobCount,
        public readonly int $settledJobCount,
        public readonly int $deadLetterCount,
        public readonly int $byteCount,
        public readonly int $consumerCount,
    ) {
    }
}
