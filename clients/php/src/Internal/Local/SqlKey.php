<?php

declare(strict_types=1);

namespace Offbeat\Internal\Local;

use Offbeat\V1;
use Offbeat\V1\SqlColumnType as Type;

/**
 * The SQL expression that decides an ID's slot with PLACEMENT_HASH, as each database computes it, and the index over
 * it.
 *
 * @internal
 */
final class SqlKey
{
    private const GENERATED_TYPE = 'CHAR(16) CHARACTER SET ascii COLLATE ascii_bin';
    /** Characters with a meaning for drivers, or with one that depends on a setting. */
    private const SPECIAL = '/[\p{Cc}\'\\\\%?:$]/u';

    public function __construct(private readonly SqlColumn $column, private readonly string $salt)
    {
        if ($column->isPostgresql() && str_contains($salt, "\0") && $column->type !== Type::SQL_COLUMN_TYPE_HASH_DIGITS) {
            $allowed = "PostgreSQL's text cannot hold U+0000, and the salt does";
            throw $column->refuse(Refusal::CONTRADICTORY, 'dialect', 'PostgreSQL', $allowed);
        }
    }

    /** What predicates compare: the expression or, in MySQL and MariaDB, the generated column that holds it. */
    public function compared(): string
    {
        $compared = $this->isComputedInColumn() ? $this->column->qualified($this->indexName()) : $this->expression($this->column->qualified());

        return $this->column->writesPercent ? str_replace('%', '%%', $compared) : $compared;
    }

    public function index(): V1\SqlIndex
    {
        $column = $this->column;
        $name = $this->indexName();
        $expression = $this->expression($column->quoted($column->name));
        $inSchema = static fn (string $name): string => ($column->schema === '' ? '' : $column->quoted($column->schema) . '.') . $column->quoted($name);
        [$index, $table] = [$column->quoted($name), $inSchema($column->table)];
        $unless = $column->isMariadb() ? 'IF NOT EXISTS ' : '';
        $statements = match (true) {
            $column->isPostgresql() => ["CREATE INDEX IF NOT EXISTS $index ON $table (($expression))"],
            $column->isSqlite() => ["CREATE INDEX IF NOT EXISTS {$inSchema($name)} ON {$column->quoted($column->table)} ($expression)"],
            // Two statements: a single one would lock the table against writes.
            default => [
                "ALTER TABLE $table ADD COLUMN $unless$index " . self::GENERATED_TYPE
                    . " GENERATED ALWAYS AS ($expression) VIRTUAL INVISIBLE",
                "ALTER TABLE $table ADD INDEX $unless$index ($index)",
            ],
        };

        return (new V1\SqlIndex())->setName($name)->setCreateStatements($statements);
    }

    /**
     * The same for the same expression over the same table. In MySQL and MariaDB, names of indexes are local to their
     * table.
     */
    private function indexName(): string
    {
        $table = $this->isComputedInColumn() ? '' : $this->column->table;
        $expression = $this->expression($this->column->quoted($this->column->name));

        return 'offbeat_hash_' . substr(hash('sha256', "$table\0$expression"), 0, 8);
    }

    private function isComputedInColumn(): bool
    {
        return !$this->column->isPostgresql() && !$this->column->isSqlite();
    }

    private function expression(string $column): string
    {
        // Not in the column's own collation: under a Danish one, "aa" comes after "ff".
        if ($this->column->type === Type::SQL_COLUMN_TYPE_HASH_DIGITS) {
            return match (true) {
                $this->column->isSqlite() => $column,
                $this->column->isPostgresql() => "$column COLLATE \"C\"",
                default => "LEFT(RTRIM($column), 16)",
            };
        }
        if ($this->column->isPostgresql()) {
            $salt = $this->salt === '' ? '' : self::postgresqlSalt($this->salt) . ' || ';

            return "md5($salt{$this->postgresqlText($column)}) COLLATE \"C\"";
        }
        $text = $this->mysqlText($column);
        $hashed = $this->salt === '' ? $text : 'CONCAT(' . self::utf8(self::mysqlSalt($this->salt)) . ", $text)";
        $stored = $this->stored($column);

        return "IF($stored IS NULL, NULL, LEFT(MD5($hashed), 16))"; // in sql_mode ORACLE, CONCAT ignores NULL
    }

    /** The canonical text of an ID, in PostgreSQL. */
    private function postgresqlText(string $column): string
    {
        $hyphenated = static fn (string $digits): string => "CAST(CAST($digits AS uuid) AS text)";
        $digits = "encode($column, 'hex')";

        return match ($this->column->type) {
            Type::SQL_COLUMN_TYPE_UUID, Type::SQL_COLUMN_TYPE_INTEGER => "CAST($column AS text)",
            Type::SQL_COLUMN_TYPE_UUID_BYTES => $hyphenated($digits),
            Type::SQL_COLUMN_TYPE_UUID_BYTES_SWAPPED => $hyphenated(
                "substr($digits, 9, 8) || substr($digits, 5, 4) || substr($digits, 1, 4) || substr($digits, 17)",
            ),
            Type::SQL_COLUMN_TYPE_UUID_TEXT => "lower($column)",
            Type::SQL_COLUMN_TYPE_UUID_DIGITS => $hyphenated("lower($column)"),
            default => $column,
        };
    }

    /** The canonical text of an ID, in MySQL and MariaDB. */
    private function mysqlText(string $column): string
    {
        $joined = static fn (array $groups): string => 'CONCAT(' . implode(", '-', ", $groups) . ')';
        $bytes = static fn (array $groups): string => self::utf8('LOWER(' . $joined(array_map(
            static fn (array $group): string => "HEX(SUBSTR($column, $group[0], $group[1]))",
            [...$groups, [9, 2], [11, 6]],
        )) . ')');
        $digits = 'LOWER(' . self::utf8($this->stored($column)) . ')';

        return match ($this->column->type) {
            Type::SQL_COLUMN_TYPE_UUID => self::utf8("CAST($column AS CHAR)"),
            Type::SQL_COLUMN_TYPE_UUID_BYTES => $bytes([[1, 4], [5, 2], [7, 2]]),
            // UUID_TO_BIN(x, 1) swaps the first and the third group of digits.
            Type::SQL_COLUMN_TYPE_UUID_BYTES_SWAPPED => $bytes([[5, 4], [3, 2], [1, 2]]),
            Type::SQL_COLUMN_TYPE_UUID_TEXT => $digits,
            Type::SQL_COLUMN_TYPE_UUID_DIGITS => self::utf8($joined(array_map(
                static fn (array $group): string => "SUBSTR($digits, $group[0], $group[1])",
                [[1, 8], [9, 4], [13, 4], [17, 4], [21, 12]],
            ))),
            // As a number, because ZEROFILL changes only its text.
            Type::SQL_COLUMN_TYPE_INTEGER => self::utf8("CONCAT($column + 0)"),
            default => self::utf8($column),
        };
    }

    /**
     * The column without the spaces that pad CHAR: a SQL mode decides whether they are there, so a generated column
     * must not depend on them.
     */
    private function stored(string $column): string
    {
        $isText = in_array($this->column->type, [Type::SQL_COLUMN_TYPE_UUID_TEXT, Type::SQL_COLUMN_TYPE_UUID_DIGITS], true);

        return $isText ? "RTRIM($column)" : $column;
    }

    /** Converts text to UTF-8: its bytes then do not depend on the character sets of column, table and connection. */
    private static function utf8(string $text): string
    {
        return "CONVERT($text USING utf8mb4)";
    }

    private static function postgresqlSalt(string $salt): string
    {
        $parts = preg_split('/([\p{Cc}\'\\\\%?:$])/u', $salt, -1, PREG_SPLIT_DELIM_CAPTURE | PREG_SPLIT_NO_EMPTY);
        $literal = static fn (string $part): string => preg_match(self::SPECIAL, $part) === 1 ? 'chr(' . mb_ord($part, 'UTF-8') . ')' : "'$part'";

        return implode(' || ', array_map($literal, $parts));
    }

    private static function mysqlSalt(string $salt): string
    {
        $isPlain = preg_match('/[^\x00-\x7f]/', $salt) !== 1 && preg_match(self::SPECIAL, $salt) !== 1;

        return $isPlain ? "'$salt'" : "X'" . bin2hex($salt) . "'";
    }
}
