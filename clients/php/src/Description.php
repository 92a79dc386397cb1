<?php

declare(strict_types=1);

namespace Offbeat;

use DateInterval;
use DateTimeImmutable;
use Offbeat\Internal\JsonAnswer;

/** Description of a schedule. */
final class Description implements \JsonSerializable
{
    use JsonAnswer;

    /**
     * @param string $runKeyRoot what its run keys begin with: name/version, or the fingerprint
     * @param DateInterval $maxCycleDuration length of a cycle by the wall clock; where cycles differ, of the
     *     longest one
     * @param DateInterval $slotDuration in active time, in the cycle asked about: months differ
     * @param ?Slot $slot null outside of the active windows
     * @param DateInterval $activeDuration how much of the cycle the active windows leave
     * @param float $skippedRatio which share of the cycle's runs exclusions skip: 0 to 1
     * @param float $deferredRatio which share of them exclusions defer
     * @param list<DescribedKind> $kinds those that the schedule declares, in order
     * @param string $timeZoneDatabase the release that the answer comes from, such as 2026b; empty without
     *     calendars and recurring exclusions
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
