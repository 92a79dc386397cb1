<?php

declare(strict_types=1);

namespace Offbeat\Answer;

use DateInterval;
use DateTimeImmutable;

/** What a schedule is. */
final class Description
{
    public function __construct(
        public readonly string $fingerprint,
        public readonly string $canonicalText,
        public readonly int $slotCount,
        public readonly DateInterval $slotDuration,
        public readonly Slot $slot,
        public readonly DateTimeImmutable $cycleStartTime,
        public readonly ?BucketShare $bucketShare,
        public readonly ?ExpectedLoad $slotLoad,
        public readonly ?ExpectedLoad $secondLoad,
    ) {
    }
}
