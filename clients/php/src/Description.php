<?php

declare(strict_types=1);

namespace Offbeat;

use DateInterval;
use DateTimeImmutable;
use Offbeat\Internal\JsonAnswer;

/** The description of a schedule, and of its cycle at the requested time. */
final class Description implements \JsonSerializable
{
    use JsonAnswer;

    /**
     * @param string $runKeyRoot the beginning of its run keys: name/version, or the fingerprint
     * @param DateInterval $maxCycleDuration length of a cycle by the wall clock; where cycles differ, that of the
     *     longest one
     * @param DateInterval $slotDuration in active time, in the cycle of the requested time (months differ)
     * @param ?Slot $slot null outside of the active windows
     * @param DateInterval $activeDuration what the active windows leave of the cycle
     * @param float $skippedRatio the share of the cycle's runs that exclusions skip: 0 to 1
     * @param float $deferredRatio the share of the cycle's runs that exclusions defer: 0 to 1
     * @param list<DescribedKind> $kinds those that the schedule declares, in order
     * @param string $timeZoneDatabase release of the time-zone database that decided the times, such as 2026b; empty
     *     without calendars and recurring exclusions
     */
    public function __construct(
        public readonly string $fingerprint,
        public readonly string $runKeyRoot,
        public readonly string $canonicalText,
        public readonly DateInterval $maxCycleDuration,
        public readonly int $slotCount,
        public readonly DateInterval $slotDuration,
        public readonly ?Slot $slot,
        public readonly DateTimeImmutable $cycleStartTime,
        public readonly DateTimeImmutable $cycleEndTime,
        public readonly DateInterval $activeDuration,
        public readonly float $skippedRatio,
        public readonly float $deferredRatio,
        public readonly ?BucketShare $bucketShare,
        public readonly ?ExpectedLoad $slotLoad,
        public readonly ?ExpectedLoad $secondLoad,
        public readonly array $kinds,
        public readonly string $timeZoneDatabase,
        public readonly DecidedBy $decidedBy = DecidedBy::Sidecar,
    ) {
    }
}
