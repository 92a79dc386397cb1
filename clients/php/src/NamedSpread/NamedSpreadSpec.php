<?php

declare(strict_types=1);

namespace Offbeat\NamedSpread;

use DateInterval;
use Offbeat\Spread\SpreadPolicy;

/** How a named spread is dealt and lent; fixed while it is open. */
final class NamedSpreadSpec
{
    /**
     * @param ?int $maxOpenGroups null but for SpreadPolicy::Cooldown
     * @param DateInterval $lease how long a job is lent
     * @param int $maxAttempts how many times a job is lent before it is given up
     * @param int $maxConsumerLeases how many jobs one consumer may hold at once
     */
    public function __construct(
        public readonly SpreadPolicy $policy,
        public readonly int $feederCount,
        public readonly ?int $maxOpenGroups,
        public readonly DateInterval $lease,
        public readonly int $maxAttempts,
        public readonly int $maxConsumerLeases,
        public readonly int $maxGroups,
        public readonly int $maxJobs,
        public readonly int $maxBytes,
    ) {
    }
}
