<?php

declare(strict_types=1);

namespace Offbeat;

use DateTimeZone;
use Offbeat\Internal\Check;

/**
 * A day, week or month by the wall clock of a time zone.
 *
 * A run keeps its wall-clock time when the clocks change. A time that the change skips moves later by the length of the
 * skip; of a time that occurs twice, the first one counts.
 */
final class CalendarCycle
{
    public readonly string $timeZone;

    /**
     * @param DateTimeZone|string $timeZone an IANA name such as Europe/Berlin, or a zone with such a name. The
     *     time-zone database of the sidecar is used, not that of this machine
     */
    public function __construct(public readonly CalendarUnit $unit, DateTimeZone|string $timeZone)
    {
        $this->timeZone = is_string($timeZone) ? $timeZone : $timeZone->getName();
    }

    /** @internal */
    public function toMessage(string $field): V1\CalendarCycle
    {
        return (new V1\CalendarCycle())
            ->setUnit($this->unit->toMessage())
            ->setTimeZone(Check::utf8("$field.time_zone", $this->timeZone));
    }
}
