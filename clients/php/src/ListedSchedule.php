<?php

declare(strict_types=1);

namespace Offbeat;

use DateInterval;
use Offbeat\Internal\JsonAnswer;

/** A schedule from the file that the sidecar has loaded. */
final class ListedSchedule implements \JsonSerializable
{
    use JsonAnswer;

    /**
     * @param string $fingerprint SHA-256 of the canonical text: equal exactly for schedules that mean
     *     the same
     * @param ?DateInterval $period length of a cycle; null with a calendar
     * @param string $timeZoneDatabase the release of the sidecar's time-zone database; empty without calendars and
     *     recurring exclusions
     */
    public function __construct(
        public readonly ScheduleReference $reference,
        public readonly string $fingerprint,
        public readonly int $slotCount,
        public readonly ?DateInterval $period,
        public readonly string $timeZoneDatabase,
    ) {
    }
}
