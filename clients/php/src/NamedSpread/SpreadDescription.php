<?php

declare(strict_types=1);

namespace Offbeat\NamedSpread;

use Offbeat\Spread\SpreadCertificate;

/** A named spread, and what it holds. */
final class SpreadDescription
{
    /**
     * @param NamedSpreadSpec $spec with every default filled in
     * @param int $epoch the life of the spread: another one after each restart
     * @param int $groupCount committed groups that are not settled
     * @param int $partialGroupCount groups whose commit has not come
     * @param int $readyJobCount jobs that were not lent yet
     * @param int $quarantinedGroupCount groups that wait until the leases of an earlier epoch must have ended
     * @param int $returnedJobCount jobs to be lent again, now or after a delay
     * @param int $settledJobCount jobs that were settled in this epoch, dead letters included
     * @param int $deadLetterCount jobs given up and not deleted
     * @param int $byteCount bytes of jobs held
     * @param int $consumerCount consumers that hold jobs
     * @param SpreadCertificate $certificate the order of first attempts so far
     */
    public function __construct(
        public readonly string $spread,
        public readonly NamedSpreadSpec $spec,
        public readonly SpreadState $state,
        public readonly int $epoch,
        public readonly int $groupCount,
        public readonly int $partialGroupCount,
        public readonly int $readyJobCount,
        public readonly int $quarantinedGroupCount,
        public readonly int $leasedJobCount,
        public readonly int $returnedJobCount,
        public readonly int $settledJobCount,
        public readonly int $deadLetterCount,
        public readonly int $byteCount,
        public readonly int $consumerCount,
        public readonly SpreadCertificate $certificate,
    ) {
    }
}
