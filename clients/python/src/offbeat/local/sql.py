"""SQL conditions over the hash of the ID, for the rows of a slot or a window.

``docs/sql.md`` has the statements for each database and column type.
"""

from __future__ import annotations

import hashlib

from ..v1 import sql_pb2 as pb
from .limits import FIRST_PARAMETER_NUMBER, SQL_NAME
from .placement import hash_bound
from .rejections import (
    CONTRADICTORY,
    FIELD_MISSING,
    MALFORMED,
    OUT_OF_RANGE,
    Rejection,
    missing,
    quoted,
    unknown_enum_value,
)
from .schedules import LocalSchedule
from .sql_keys import MARIADB, MYSQL, POSTGRESQL, SQLITE, key

_LITERAL, _QUESTION_MARK, _FORMAT, _DOLLAR, _NAMED = 1, 2, 3, 4, 5

#: One more than the largest hash.
_ALL = 1 << 64

_GENERATED_TYPE = "CHAR(16) CHARACTER SET ascii COLLATE ascii_bin"


class Membership:
    """Predicates for the rows of slots and windows, by a schedule over a column of IDs."""

    def __init__(self, schedule: LocalSchedule, target: pb.SqlTarget) -> None:
        """Check that the database can decide the schedule over the column."""
        _check_enums(target)
        _check_names(target)
        self._first_number = _check_first_number(target)
        self._schedule, self._target = schedule, target
        salt, dialect = schedule.grid.salt.decode(), target.dialect
        expression = key(dialect, target.column_type, self._quoted(target.column), salt)
        qualified = self._qualified(target.column)
        self._compared = key(dialect, target.column_type, qualified, salt)
        self.index = self._index(expression)
        if dialect in (MYSQL, MARIADB):  # a generated column holds the expression
            self._compared = self._qualified(self.index.name)

    def slot(self, slot_index: int) -> pb.SqlPredicate:
        """Return the predicate for the rows of a slot."""
        grid, rotation = self._schedule.grid, self._schedule.rotation_ticks
        slot = (slot_index - rotation // grid.slot_ticks) % grid.slot_count
        first, behind = slot * grid.slot_ticks, (slot + 1) * grid.slot_ticks
        ticks = grid.period_ticks
        return self._predicate([(hash_bound(first, ticks), hash_bound(behind, ticks))])

    def window(self, offsets: list[tuple[int, int]]) -> pb.SqlPredicate:
        """Return the predicate for rows with an offset in one of these ranges of ticks."""
        ticks, rotation = self._schedule.period_ticks, self._schedule.rotation_ticks
        ranges = []
        for start, end in offsets:
            for first, behind in _unrotated(start, end, rotation, ticks):
                ranges.append((hash_bound(first, ticks), hash_bound(behind, ticks)))
        return self._predicate(_merged(ranges) if rotation else ranges)

    def _predicate(self, ranges: list[tuple[int, int]]) -> pb.SqlPredicate:
        binder = _Binder(self._target.parameter_style, self._first_number)
        compared = binder.text(self._compared)
        conditions = []
        for low, high in ranges:
            condition = f"{compared} >= {binder.bind(f'{low:016x}')}"
            if high < _ALL:  # the end of the cycle needs no upper bound
                condition += f" AND {compared} < {binder.bind(f'{high:016x}')}"
            conditions.append(f"({condition})")
        sql = conditions[0] if len(conditions) == 1 else f"({' OR '.join(conditions)})"
        return pb.SqlPredicate(sql=sql, parameters=binder.parameters)

    def _quoted(self, name: str) -> str:
        quote = '"' if self._target.dialect == POSTGRESQL else "`"
        return f"{quote}{name.replace(quote, quote * 2)}{quote}"

    def _qualified(self, name: str) -> str:
        alias = self._target.table_alias
        return f"{self._quoted(alias)}.{self._quoted(name)}" if alias else self._quoted(name)

    def _index(self, expression: str) -> pb.SqlIndex:
        target, dialect = self._target, self._target.dialect
        # In MySQL, names of columns and indexes belong to a table; elsewhere, to a schema.
        table = "" if dialect in (MYSQL, MARIADB) else target.table
        digest = hashlib.sha256("\0".join((table, expression)).encode()).hexdigest()
        name = f"offbeat_hash_{digest[:8]}"
        index = self._quoted(name)

        def in_schema(name: str) -> str:
            schema = f"{self._quoted(target.schema)}." if target.schema else ""
            return f"{schema}{self._quoted(name)}"

        if dialect == POSTGRESQL:
            on = f"{in_schema(target.table)} (({expression}))"
            statements = [f"CREATE INDEX IF NOT EXISTS {index} ON {on}"]
        elif dialect == SQLITE:
            on = f"{self._quoted(target.table)} ({expression})"
            statements = [f"CREATE INDEX IF NOT EXISTS {in_schema(name)} ON {on}"]
        else:  # two statements, because a single one would lock the table against writes
            alter = f"ALTER TABLE {in_schema(target.table)} ADD"
            unless = "IF NOT EXISTS " if dialect == MARIADB else ""
            statements = [
                f"{alter} COLUMN {unless}{index} {_GENERATED_TYPE} GENERATED ALWAYS AS "
                f"({expression}) VIRTUAL INVISIBLE",
                f"{alter} INDEX {unless}{index} ({index})",
            ]
        return pb.SqlIndex(name=name, create_statements=statements)


def _unrotated(start: int, end: int, shift: int, ticks: int) -> list[tuple[int, int]]:
    """Return the ranges of ticks that a kind's rotation moves to the given range."""
    if start >= shift:
        return [(start - shift, end - shift)]
    if end <= shift:
        return [(start + ticks - shift, end + ticks - shift)]
    return [(0, end - shift), (start + ticks - shift, ticks)]


def _merged(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Sort ranges, and merge those that touch."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


class _Binder:
    """Collects the values to bind, and returns their placeholders."""

    def __init__(self, style: int, first_number: int) -> None:
        self.parameters: list[pb.SqlParameter] = []
        self._style, self._next = style or _LITERAL, first_number

    def bind(self, digits: str) -> str:
        if self._style == _LITERAL:
            return f"'{digits}'"
        number = self._next
        self._next += 1
        name = f"offbeat_{number}" if self._style == _NAMED else ""
        self.parameters.append(pb.SqlParameter(name=name, text=digits))
        return {_QUESTION_MARK: "?", _FORMAT: "%s", _DOLLAR: f"${number}", _NAMED: f":{name}"}[
            self._style
        ]

    def text(self, sql: str) -> str:
        """Return literal text, escaped if ``%`` begins a placeholder."""
        return sql.replace("%", "%%") if self._style == _FORMAT else sql


def _check_enums(target: pb.SqlTarget) -> None:
    for field, number, allowed in (
        ("dialect", target.dialect, "1 to 4, a value of SqlDialect"),
        ("column_type", target.column_type, "1 to 9, a value of SqlColumnType"),
    ):
        if number == 0:
            raise missing(field, f"must be {allowed}")
        if not 0 < number <= int(allowed[5]):
            raise unknown_enum_value(field, number, allowed)
    if not 0 <= target.parameter_style <= _NAMED:
        allowed = "0 to 5, a value of SqlParameterStyle"
        raise unknown_enum_value("parameter_style", target.parameter_style, allowed)


def _check_names(target: pb.SqlTarget) -> None:
    for field in ("schema", "table", "column", "table_alias", "time_zone_column"):
        name = getattr(target, field)
        if not name and field in ("table", "column"):
            raise Rejection(FIELD_MISSING, field, "nothing", f"must be {SQL_NAME}")
        size = len(name.encode())
        if size > SQL_NAME.maximum:
            raise Rejection(OUT_OF_RANGE, field, f"a name of {size} bytes", f"must be {SQL_NAME}")
        if "\0" in name:
            allowed = "must not hold U+0000, which no name can"
            raise Rejection(MALFORMED, field, quoted(name), allowed)


def _check_first_number(target: pb.SqlTarget) -> int:
    field = "first_parameter_number"
    if not target.HasField(field):
        return 1
    number = target.first_parameter_number
    if target.parameter_style not in (_DOLLAR, _NAMED):
        allowed = "must not be set with placeholders that have no numbers"
        raise Rejection(CONTRADICTORY, field, number, allowed)
    if not FIRST_PARAMETER_NUMBER.allows(number):
        raise Rejection(OUT_OF_RANGE, field, number, f"must be {FIRST_PARAMETER_NUMBER}")
    return number
