<?php

declare(strict_types=1);

namespace Offbeat;

/** What an assignment of packed IDs says of each of them. */
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
}
