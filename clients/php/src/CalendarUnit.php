<?php

declare(strict_types=1);

namespace Offbeat;

/** A unit of the calendar. */
enum CalendarUnit: string
{
    /** From midnight to midnight. */
    case Day = 'day';

    /** From Monday to Sunday. */
    case Week = 'week';

    /** From the first day to the last. */
    case Month = 'month';

    /** @internal */
    public function toMessage(): int
    {
        return match ($this) {
            self::Day => V1\CalendarUnit::CALENDAR_UNIT_DAY,
            self::Week => V1\CalendarUnit::CALENDAR_UNIT_WEEK,
            self::Month => V1\CalendarUnit::CALENDAR_UNIT_MONTH,
        };
    }
}
