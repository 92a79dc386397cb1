<?php

declare(strict_types=1);

namespace Offbeat;

/** A database, and its dialect of SQL. */
enum SqlDialect: string
{
    /** 12 and later, with UTF8 as the encoding of the database. */
    case Postgresql = 'postgresql';

    /** 8.0.23 and later. */
    case Mysql = 'mysql';

    /** 10.6 and later. */
    case Mariadb = 'mariadb';

    /** 3.9 and later. It has no MD5: with Placement::Hash, store the hash (SqlColumnType::HashDigits). */
    case Sqlite = 'sqlite';

    /** @internal */
    public function toMessage(): int
    {
        return match ($this) {
            self::Postgresql => V1\SqlDialect::SQL_DIALECT_POSTGRESQL,
            self::Mysql => V1\SqlDialect::SQL_DIALECT_MYSQL,
            self::Mariadb => V1\SqlDialect::SQL_DIALECT_MARIADB,
            self::Sqlite => V1\SqlDialect::SQL_DIALECT_SQLITE,
        };
    }
}
