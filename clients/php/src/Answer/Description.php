<?php

declare(strict_types=1);

namespace Offbeat\Answer;

use DateInterval;
use DateTimeImmutable;

/** What a schedule is. */
final class Description
{
    /**
     * @param string $runKeySchedule what its run keys begin with: name/version, or the fingerprint
     * @param DateInterval $slotDuration in active time, in the cycle asked about: months differ
     * @param ?Slot $slot null outside of the active windows
     * @param DateInterval $activeDuration how much of the cycle the active windows leave
     * @param float $skippedShare which share of the cycle's runs exclusions skip: 0 to 1
     * @param float $deferredShare which share of them exclusions defer
     */
    public function __construct(
        public readonly string $fingerprint,
        public readonly string $runKeySchedule,
        public readonly string $canonicalText,
        public readonly int $slotCount,
        public readonly DateInterval $slotDuration,
        public readonly ?Slot $slot,
        public readonly DateTimeImmutable $cycleStartTime,
        public readonly DateTimeImmutable $cycleEndTime,
        public readonly DateInterval $activeDuration,
        public readonly float $skippedShare,
        public readonly float $deferredShare,
        public readonly ?BucketShare $bucketShare,
        public readonly ?ExpectedLoad $slotLoad,
        public readonly ?ExpectedLoad $secondLoad,
    ) {
    }
}
