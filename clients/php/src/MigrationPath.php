<?php

declare(strict_types=1);

namespace Offbeat;

/** The moves of a change of schedule. */
enum MigrationPath: string
{
    /** Nothing: the schedules mean the same. */
    case Unchanged = 'unchanged';

    /** No ID: only the slot count differs. */
    case SameTimes = 'same_times';

    /** Each ID keeps its share of the cycle, which is another. */
    case SameOrder = 'same_order';

    /** IDs stand in places that have nothing to do with the old ones. */
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
