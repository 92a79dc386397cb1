<?php

declare(strict_types=1);

namespace Offbeat;

/** What a column holds, and so which ID a row has. */
enum SqlColumnType: string
{
    /** The type uuid of PostgreSQL and of MariaDB. */
    case Uuid = 'uuid';

    /** UUIDs as their 16 bytes: BINARY(16), bytea, BLOB. */
    case UuidBytes = 'uuid_bytes';

    /** UUIDs as the 16 bytes that UUID_TO_BIN(x, 1) makes. */
    case UuidBytesSwapped = 'uuid_bytes_swapped';

    /** UUIDs as text with hyphens, in any case: CHAR(36), TEXT. */
    case UuidText = 'uuid_text';

    /** UUIDs as 32 hexadecimal digits, in any case: CHAR(32). */
    case UuidDigits = 'uuid_digits';

    /** Integers, also of a decimal type without decimals. */
    case Integer = 'integer';

    /** Text as it is: VARCHAR, TEXT. */
    case Text = 'text';

    /** Fractions in [0, 1), as doubles. */
    case Fraction = 'fraction';

    /**
     * Placement::Hash only: the first 16 hexadecimal digits of MD5(salt ‖ canonical text of the ID), or all 32, in
     * lower case.
     */
    case HashDigits = 'hash_digits';

    /** @internal */
    public function toMessage(): int
    {
        return match ($this) {
            self::Uuid => V1\SqlColumnType::SQL_COLUMN_TYPE_UUID,
            self::UuidBytes => V1\SqlColumnType::SQL_COLUMN_TYPE_UUID_BYTES,
            self::UuidBytesSwapped => V1\SqlColumnType::SQL_COLUMN_TYPE_UUID_BYTES_SWAPPED,
            self::UuidText => V1\SqlColumnType::SQL_COLUMN_TYPE_UUID_TEXT,
            self::UuidDigits => V1\SqlColumnType::SQL_COLUMN_TYPE_UUID_DIGITS,
            self::Integer => V1\SqlColumnType::SQL_COLUMN_TYPE_INTEGER,
            self::Text => V1\SqlColumnType::SQL_COLUMN_TYPE_TEXT,
            self::Fraction => V1\SqlColumnType::SQL_COLUMN_TYPE_FRACTION,
            self::HashDigits => V1\SqlColumnType::SQL_COLUMN_TYPE_HASH_DIGITS,
        };
    }
}
