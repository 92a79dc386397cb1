<?php

declare(strict_types=1);

namespace Offbeat;

use Offbeat\Internal\Check;

/** A column of IDs in a database, and how to write statements about it. Names are given without quotes. */
final class SqlTarget
{
    /**
     * @param string $table the statement that makes the index names it
     * @param string $column rows with NULL there belong to no slot
     * @param SqlColumnType $columnType what the column holds
     * @param string $schema the table's schema (in MySQL and MariaDB, its database). Default: the current one
     * @param string $tableAlias the name that your query gives the table. Default: the column is not qualified
     * @param ?SqlParameterStyle $parameterStyle how predicates hold their bounds. Default: Literal
     * @param ?int $firstParameterNumber Dollar and Named only: the number of the first placeholder,
     *     for queries with parameters of their own. Default: 1
     * @param string $timeZoneColumn only for windowPredicate() with a calendar and its $timeZones: the column with the
     *     IANA name of the time zone that a row lives in. Default: all rows live in the zone of the schedule
     */
    public function __construct(
        public readonly SqlDialect $dialect,
        public readonly string $table,
        public readonly string $column,
        public readonly SqlColumnType $columnType,
        public readonly string $schema = '',
        public readonly string $tableAlias = '',
        public readonly ?SqlParameterStyle $parameterStyle = null,
        public readonly ?int $firstParameterNumber = null,
        public readonly string $timeZoneColumn = '',
    ) {
    }

    /** @internal */
    public function toMessage(): V1\SqlTarget
    {
        $message = (new V1\SqlTarget())
            ->setDialect($this->dialect->toMessage())
            ->setSchema(Check::utf8('sql_target.schema', $this->schema))
            ->setTable(Check::utf8('sql_target.table', $this->table))
            ->setColumn(Check::utf8('sql_target.column', $this->column))
            ->setColumnType($this->columnType->toMessage())
            ->setTableAlias(Check::utf8('sql_target.table_alias', $this->tableAlias))
            ->setTimeZoneColumn(Check::utf8('sql_target.time_zone_column', $this->timeZoneColumn));
        if ($this->parameterStyle !== null) {
            $message->setParameterStyle($this->parameterStyle->toMessage());
        }
        if ($this->firstParameterNumber !== null) {
            $number = Check::int32('sql_target.first_parameter_number', $this->firstParameterNumber);
            $message->setFirstParameterNumber($number);
        }

        return $message;
    }
}
