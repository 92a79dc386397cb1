<?php

declare(strict_types=1);

namespace Offbeat;

/** Columns of an answer about many IDs. */
enum AssignmentColumn: string
{
    /** The slot in its cycle, from 0. */
    case SlotIndexes = 'slot_indexes';
    /** Ticks from the start of the slot to the run. */
    case SlotOffsetTicks = 'slot_offset_ticks';
    /** Ticks from the start of the cycle to the run. */
    case CycleOffsetTicks = 'cycle_offset_ticks';
    /** The cycle of the next run. */
    case CycleIndexes = 'cycle_indexes';
    /** The next run, in milliseconds since the Unix epoch. */
    case NextRunUnixMillis = 'next_run_unix_millis';
    /** The last run, in milliseconds since the Unix epoch; -1 if exclusions skip the previous 1,000 cycles. */
    case LastRunUnixMillis = 'last_run_unix_millis';

    /** The columns of an answer if the call names none. */
    public const DEFAULT = [
        self::SlotIndexes, self::SlotOffsetTicks, self::CycleOffsetTicks, self::CycleIndexes, self::NextRunUnixMillis,
    ];
}
