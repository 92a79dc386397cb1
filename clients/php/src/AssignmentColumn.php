<?php

declare(strict_types=1);

namespace Offbeat;

/** Columns of an answer about many IDs. */
enum AssignmentColumn: string
{
    /** The slot. */
    case SlotIndexes = 'slot_indexes';
    /** Ticks from the start of the slot to the run. */
    case SlotOffsetTicks = 'slot_offset_ticks';
    /** Ticks from the start of the cycle to the run. */
    case CycleOffsetTicks = 'cycle_offset_ticks';
    /** The cycle of the next run. */
    case CycleIndexes = 'cycle_indexes';
    /** The next run, in milliseconds since the Unix epoch. */
    case NextRunUnixMillis = 'next_run_unix_millis';
    /** The last run, in the same unit; -1 where exclusions skip all of the 1,000 cycles before. */
    case LastRunUnixMillis = 'last_run_unix_millis';

    /** Those that an answer has if none is named. */
    public const DEFAULT = [
        self::SlotIndexes, self::SlotOffsetTicks, self::CycleOffsetTicks, self::CycleIndexes, self::NextRunUnixMillis,
    ];
}
