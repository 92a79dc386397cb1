<?php

declare(strict_types=1);

namespace Offbeat;

/** What a change of schedule moves. */
enum MigrationPath: string
{
    /** Nothing: both schedules mean the same. */
    case Unchanged = 'unchanged';

    /** Nothing: only the slot count differs, and every ID keeps its time. */
    case SameTimes = 'same_times';

    /** Each ID keeps its share of the cycle, which has another length. */
    case SameOrder = 'same_order';

    /** The new places of IDs have nothing to do with the old ones. */
    case NewPlaces = 'new_places';

    /** @internal */
    public static function fromMessage(int $number): self
    {
        return match ($number) {
            V1\MigrationPath::MIGRATION_PATH_UNCHANGED => self::Unchanged,
            V1\MigrationPath::MIGRATION_PATH_SAME_TIMES => self::SameTimes,
            V1\MigrationPath::MIGRATION_PATH_SAME_ORDER => self::SameOrder,
            V1\MigrationPath::MIGRATION_PATH_NEW_PLACES => self::NewPlaces,
        };
    }
}
