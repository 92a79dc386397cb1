<?php

declare(strict_types=1);

namespace Offbeat\Internal\Local;

use Offbeat\V1;

/**
 * The column that holds the IDs, checked.
 *
 * @internal
 */
final class SqlColumn
{
    private const MAX_NAME_BYTES = 256;
    private const MAX_NUMBER = 65_000;
    private const DIALECTS = [1 => 'PostgreSQL', 'MySQL', 'MariaDB', 'SQLite'];

    public readonly int $dialect;
    public readonly int $type;
    public readonly string $schema;
    public readonly string $table;
    public readonly string $name;
    public readonly string $alias;
    public readonly bool $writesPercent;
    /** The number of the first placeholder. */
    public readonly int $firstNumber;

    public function __construct(V1\SqlTarget $target)
    {
        $this->dialect = self::value('dialect', $target->getDialect(), 1, 4, 'SqlDialect');
        $this->type = self::value('column_type', $target->getColumnType(), 1, 9, 'SqlColumnType');
        $style = self::value('parameter_style', $target->getParameterStyle(), 0, 5, 'SqlParameterStyle');
        $this->schema = self::name('schema', $target->getSchema(), true);
        $this->table = self::name('table', $target->getTable(), false);
        $this->name = self::name('column', $target->getColumn(), false);
        $this->alias = self::name('table_alias', $target->getTableAlias(), true);
        $this->writesPercent = $style === V1\SqlParameterStyle::SQL_PARAMETER_STYLE_FORMAT;
        $isNumbered = in_array($style, [
            V1\SqlParameterStyle::SQL_PARAMETER_STYLE_DOLLAR, V1\SqlParameterStyle::SQL_PARAMETER_STYLE_NAMED,
        ], true);
        $this->firstNumber = $target->hasFirstParameterNumber() ? self::number($target->getFirstParameterNumber(), $isNumbered) : 1;
        if ($this->type === V1\SqlColumnType::SQL_COLUMN_TYPE_UUID && ($this->isSqlite() || $this->dialect === V1\SqlDialect::SQL_DIALECT_MYSQL)) {
            $allowed = 'only PostgreSQL and MariaDB have a type uuid: say how the column stores it';
            throw $this->refuse(Refusal::CONTRADICTORY, 'column_type', 'UUID of ' . $this->dialectName(), $allowed);
        }
        if ($this->type === V1\SqlColumnType::SQL_COLUMN_TYPE_FRACTION) {
            $allowed = 'HASH takes columns of UUIDs, integers and text, and of their hash';
            throw $this->refuse(Refusal::UNSUITABLE, 'column_type', 'FRACTION', $allowed);
        }
        $isHash = $this->type === V1\SqlColumnType::SQL_COLUMN_TYPE_HASH_DIGITS;
        if ($this->isSqlite() && !$isHash) {
            $allowed = 'SQLite has no MD5: store the first 16 hexadecimal digits of MD5(salt ‖ canonical text of the ID) in a column '
                . 'of their own, and name that with SQL_COLUMN_TYPE_HASH_DIGITS (or use TWISTER)';
            throw $this->refuse(Refusal::CONTRADICTORY, 'column_type', $this->typeName() . ' of SQLite', $allowed);
        }
    }

    public function isPostgresql(): bool
    {
        return $this->dialect === V1\SqlDialect::SQL_DIALECT_POSTGRESQL;
    }

    public function isSqlite(): bool
    {
        return $this->dialect === V1\SqlDialect::SQL_DIALECT_SQLITE;
    }

    public function isMariadb(): bool
    {
        return $this->dialect === V1\SqlDialect::SQL_DIALECT_MARIADB;
    }

    public function dialectName(): string
    {
        return self::DIALECTS[$this->dialect];
    }

    /** A name in the quotes of its database, so that it cannot be read as anything else. */
    public function quoted(string $name): string
    {
        $quote = $this->isPostgresql() ? '"' : '`';

        return $quote . str_replace($quote, $quote . $quote, $name) . $quote;
    }

    /** The quoted name of the column, or of another one of the table, with the alias if there is one. */
    public function qualified(?string $name = null): string
    {
        $quoted = $this->quoted($name ?? $this->name);

        return $this->alias === '' ? $quoted : "{$this->quoted($this->alias)}.$quoted";
    }

    public function refuse(string $reason, string $field, string|int $value, string $allowed): \Throwable
    {
        return Refusal::of($reason, "sql_target.$field", $value, $allowed);
    }

    private function typeName(): string
    {
        return substr(V1\SqlColumnType::name($this->type), strlen('SQL_COLUMN_TYPE_'));
    }

    private static function value(string $field, int $value, int $least, int $most, string $type): int
    {
        $allowed = "must be $least to $most, a value of $type";
        if ($value === 0 && $least > 0) {
            throw Refusal::of(Refusal::MISSING, "sql_target.$field", 'nothing', $allowed);
        }

        return $value >= $least && $value <= $most ? $value : throw Refusal::of(Refusal::OUT_OF_RANGE, "sql_target.$field", $value, $allowed);
    }

    private static function name(string $field, string $name, bool $isOptional): string
    {
        $refuse = static fn (string $reason, string $value, string $allowed): \Throwable
            => Refusal::of($reason, "sql_target.$field", $value, $allowed);
        if ($name === '' && !$isOptional) {
            throw $refuse(Refusal::MISSING, 'nothing', 'must be 1 to 256 bytes of UTF-8');
        }
        if (strlen($name) > self::MAX_NAME_BYTES) {
            throw $refuse(Refusal::OUT_OF_RANGE, 'a name of ' . strlen($name) . ' bytes', 'must be 1 to 256 bytes of UTF-8');
        }
        if (str_contains($name, "\0")) {
            throw $refuse(Refusal::MALFORMED, Refusal::quoted($name), 'must not hold U+0000, which no name can');
        }

        return $name;
    }

    private static function number(int $number, bool $isNumbered): int
    {
        $field = 'sql_target.first_parameter_number';
        if (!$isNumbered) {
            throw Refusal::of(Refusal::CONTRADICTORY, $field, $number, 'must not be set with placeholders that have no numbers');
        }

        return $number >= 1 && $number <= self::MAX_NUMBER
            ? $number
            : throw Refusal::of(Refusal::OUT_OF_RANGE, $field, $number, 'must be 1 to 65000');
    }
}
