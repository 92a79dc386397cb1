<?php

declare(strict_types=1);

namespace Offbeat;

use DateTimeZone;
use Offbeat\Internal\Check;

/**
 * A day, week or month by the wall clock of a time zone.
 *
 * A run keeps its wall-clock time through changes of the clocks: a time that a change skips is
 * later by what it skips, one that comes twice means the first.
 */
final class CalendarCycle
{
    public readonly string $timeZone;

    /**
     * @param DateTimeZone|string $timeZone by its IANA name, such as Europe/Berlin; the rules are those
     *     that the sidecar has built in, not those of this machine
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
