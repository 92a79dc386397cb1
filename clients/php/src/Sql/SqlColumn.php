<?php

declare(strict_types=1);

namespace Offbeat\Sql;

use Offbeat\Check;
use Offbeat\V1;

/** A column of IDs in a database. Names are as they are without quotes. */
final class SqlColumn
{
    /**
     * @param string $table the table; the statement that makes the index names it
     * @param string $name the column; rows that have NULL there belong to no slot
     * @param SqlColumnType $type what it holds
     * @param string $schema the table's schema (in MySQL, its database). Default: the current one
     * @param string $tableAlias what the query calls the table. Default: nothing
     * @param ?SqlParameterStyle $parameterStyle how predicates hold their bounds. Default: Literal
     * @param ?int $firstParameterNumber Dollar and Named only: the number of the first placeholder,
     *     for queries with parameters of their own. Default: 1
     * @param string $timeZoneName windowPredicate() of calendars only: the column that holds the IANA name of the
     *     zone that a row lives in; with its timeZones. Default: all rows live in that of the schedule
     */
    public function __construct(
        public readonly SqlDialect $dialect,
        public readonly string $table,
        public readonly string $name,
        public readonly SqlColumnType $type,
        public readonly string $schema = '',
        public readonly string $tableAlias = '',
        public readonly ?SqlParameterStyle $parameterStyle = null,
        public readonly ?int $firstParameterNumber = null,
        public readonly string $timeZoneName = '',
    ) {
    }

    /** @internal */
    public function toMessage(): V1\SqlColumn
    {
        $message = (new V1\SqlColumn())
            ->setDialect($this->dialect->toMessage())
            ->setSchema(Check::utf8('sql_column.schema', $this->schema))
            ->setTable(Check::utf8('sql_column.table', $this->table))
            ->setName(Check::utf8('sql_column.name', $this->name))
            ->setType($this->type->toMessage())
            ->setTableAlias(Check::utf8('sql_column.table_alias', $this->tableAlias))
            ->setTimeZoneName(Check::utf8('sql_column.time_zone_name', $this->timeZoneName));
        if ($this->parameterStyle !== null) {
            $message->setParameterStyle($this->parameterStyle->toMessage());
        }
        if ($this->firstParameterNumber !== null) {
            $number = Check::int32('sql_column.first_parameter_number', $this->firstParameterNumber);
            $message->setFirstParameterNumber($number);
        }

        return $message;
    }
}
