"""Which rows a slot or a window holds, as a condition of SQL over the hash of the ID.

``docs/sql.md`` has the statements of each database and type of column.
"""

from __future__ import annotations

import hashlib
from typing import Callable

from ..v1 import sql_pb2 as pb
from .limits import FIRST_PARAMETER_NUMBER, SQL_NAME
from .placement import hash_bound
from .rejections import (
    CONTRADICTORY,
    FIELD_MISSING,
    ID_TYPE_UNSUITABLE,
    MALFORMED,
    OUT_OF_RANGE,
    Rejection,
    missing,
    quoted,
    unknown_enum_value,
)
from .schedules import LocalSchedule

_POSTGRESQL, _MYSQL, _MARIADB, _SQLITE = 1, 2, 3, 4
_DIALECTS = ("", "PostgreSQL", "MySQL", "MariaDB", "SQLite")
_UUID, _BYTES, _SWAPPED, _UUID_TEXT, _DIGITS, _INTEGER, _TEXT, _FRACTION, _HASH = range(1, 10)
_TYPES = (
    "",
    "UUID",
    "UUID_BYTES",
    "UUID_BYTES_SWAPPED",
    "UUID_TEXT",
    "UUID_DIGITS",
    "INTEGER",
    "TEXT",
    "FRACTION",
    "HASH_DIGITS",
)
_LITERAL, _QUESTION_MARK, _FORMAT, _DOLLAR, _NAMED = 1, 2, 3, 4, 5

#: Behind the last hash.
_ALL = 1 << 64

_GENERATED_TYPE = "CHAR(16) CHARACTER SET ascii COLLATE ascii_bin"


class Membership:
    """A schedule over a column: which rows a slot or a window holds."""

    def __init__(self, schedule: LocalSchedule, target: pb.SqlTarget) -> None:
        """Check that the database can decide the schedule over the column."""
        _check_enums(target)
        _check_names(target)
        self._first_number = _check_first_number(target)
        self._schedule, self._target = schedule, target
        salt, dialect = schedule.grid.salt.decode(), target.dialect
        expression = _key(dialect, target.column_type, self._quoted(target.column), salt)
        qualified = self._qualified(target.column)
        self._compared = _key(dialect, target.column_type, qualified, salt)
        self.index = self._index(expression)
        if dialect in (_MYSQL, _MARIADB):  # the generated column that holds it
            self._compared = self._qualified(self.index.name)

    def slot(self, slot_index: int) -> pb.SqlPredicate:
        """Return which rows belong to a slot."""
        grid, rotation = self._schedule.grid, self._schedule.rotation_ticks
        slot = (slot_index - rotation // grid.slot_ticks) % grid.slot_count
        first, behind = slot * grid.slot_ticks, (slot + 1) * grid.slot_ticks
        ticks = grid.period_ticks
        return self._predicate([(hash_bound(first, ticks), hash_bound(behind, ticks))])

    def window(self, offsets: list[tuple[int, int]]) -> pb.SqlPredicate:
        """Return which rows have an offset in one of these ranges of ticks."""
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
            if high < _ALL:  # nothing lies behind the end of the cycle
                condition += f" AND {compared} < {binder.bind(f'{high:016x}')}"
            conditions.append(f"({condition})")
        sql = conditions[0] if len(conditions) == 1 else f"({' OR '.join(conditions)})"
        return pb.SqlPredicate(sql=sql, parameters=binder.parameters)

    def _quoted(self, name: str) -> str:
        quote = '"' if self._target.dialect == _POSTGRESQL else "`"
        return f"{quote}{name.replace(quote, quote * 2)}{quote}"

    def _qualified(self, name: str) -> str:
        alias = self._target.table_alias
        return f"{self._quoted(alias)}.{self._quoted(name)}" if alias else self._quoted(name)

    def _index(self, expression: str) -> pb.SqlIndex:
        target, dialect = self._target, self._target.dialect
        # Columns and indexes of MySQL live in their table; names of indexes elsewhere in a schema.
        table = "" if dialect in (_MYSQL, _MARIADB) else target.table
        digest = hashlib.sha256("\0".join((table, expression)).encode()).hexdigest()
        name = f"offbeat_hash_{digest[:8]}"
        index = self._quoted(name)

        def in_schema(name: str) -> str:
            schema = f"{self._quoted(target.schema)}." if target.schema else ""
            return f"{schema}{self._quoted(name)}"

        if dialect == _POSTGRESQL:
            on = f"{in_schema(target.table)} (({expression}))"
            statements = [f"CREATE INDEX IF NOT EXISTS {index} ON {on}"]
        elif dialect == _SQLITE:
            on = f"{self._quoted(target.table)} ({expression})"
            statements = [f"CREATE INDEX IF NOT EXISTS {in_schema(name)} ON {on}"]
        else:  # two statements: both at once would lock the table against writes
            alter = f"ALTER TABLE {in_schema(target.table)} ADD"
            unless = "IF NOT EXISTS " if dialect == _MARIADB else ""
            statements = [
                f"{alter} COLUMN {unless}{index} {_GENERATED_TYPE} GENERATED ALWAYS AS "
                f"({expression}) VIRTUAL INVISIBLE",
                f"{alter} INDEX {unless}{index} ({index})",
            ]
        return pb.SqlIndex(name=name, create_statements=statements)


def _unrotated(start: int, end: int, shift: int, ticks: int) -> list[tuple[int, int]]:
    """Return which ticks a kind's rotation moves to these."""
    if start >= shift:
        return [(start - shift, end - shift)]
    if end <= shift:
        return [(start + ticks - shift, end + ticks - shift)]
    return [(0, end - shift), (start + ticks - shift, ticks)]


def _merged(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the ranges in order; those that touch are one."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


class _Binder:
    """Collects what is to be bound, and writes what stands for it."""

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
        """Return text that stands as it is, where ``%`` may begin a placeholder."""
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


def _key(dialect: int, column_type: int, column: str, salt: str) -> str:
    """Return the expression that is compared: the first 16 digits of the hash, or more."""
    if column_type == _UUID and dialect in (_MYSQL, _SQLITE):
        allowed = "only PostgreSQL and MariaDB have a type uuid: say how the column stores it"
        raise Rejection(CONTRADICTORY, "column_type", f"UUID of {_DIALECTS[dialect]}", allowed)
    if column_type == _HASH:
        # Not in the column's own collation: under a Danish one, "aa" comes after "ff".
        return {_SQLITE: column, _POSTGRESQL: f'{column} COLLATE "C"'}.get(
            dialect, f"LEFT(RTRIM({column}), 16)"
        )
    if column_type == _FRACTION:
        allowed = "HASH takes columns of UUIDs, integers and text, and of their hash"
        raise Rejection(ID_TYPE_UNSUITABLE, "column_type", "FRACTION", allowed)
    if dialect == _SQLITE:
        allowed = (
            "SQLite has no MD5: store the first 16 hexadecimal digits of MD5(salt ‖ canonical "
            "text of the ID) in a column of their own, and name that with "
            "SQL_COLUMN_TYPE_HASH_DIGITS (or use TWISTER)"
        )
        value = f"{_TYPES[column_type]} of SQLite"
        raise Rejection(CONTRADICTORY, "column_type", value, allowed)
    if dialect == _POSTGRESQL:
        if "\0" in salt:
            allowed = "PostgreSQL's text cannot hold U+0000, and the salt does"
            raise Rejection(CONTRADICTORY, "dialect", "PostgreSQL", allowed)
        text = _POSTGRESQL_TEXTS[column_type](column)
        salted = f"{_postgresql_salt(salt)} || {text}" if salt else text
        return f'md5({salted}) COLLATE "C"'
    text = _MYSQL_TEXTS[column_type](column)
    salted = f"CONCAT({_utf8(_mysql_salt(salt))}, {text})" if salt else text
    # In sql_mode ORACLE, CONCAT passes over NULL.
    stored = _stored(column_type, column)
    return f"IF({stored} IS NULL, NULL, LEFT(MD5({salted}), 16))"


def _hyphenated(digits: str) -> str:
    """PostgreSQL: hexadecimal digits as the text of a UUID."""
    return f"CAST(CAST({digits} AS uuid) AS text)"


def _unswapped(column: str) -> str:
    """PostgreSQL: the bytes of ``UUID_TO_BIN(x, 1)`` as the digits of the UUID."""
    digits = f"encode({column}, 'hex')"
    parts = ("9, 8", "5, 4", "1, 4", "17")
    return " || ".join(f"substr({digits}, {part})" for part in parts)


def _utf8(text: str) -> str:
    """MySQL: the bytes of UTF-8, whatever the character set of column and connection is."""
    return f"CONVERT({text} USING utf8mb4)"


def _stored(column_type: int, column: str) -> str:
    """MySQL: a column in an expression; MariaDB takes no CHAR into a generated column as it is."""
    return f"RTRIM({column})" if column_type in (_UUID_TEXT, _DIGITS) else column


def _joined(groups: list[str]) -> str:
    separator = ", '-', "
    return f"CONCAT({separator.join(groups)})"


def _hyphenated_bytes(column: str, first_groups: str) -> str:
    """MySQL: bytes as the text of a UUID whose first three groups are these."""
    parts = [*first_groups.split("; "), "9, 2", "11, 6"]
    groups = [f"HEX(SUBSTR({column}, {part}))" for part in parts]
    return _utf8(f"LOWER({_joined(groups)})")


def _hyphenated_digits(column: str) -> str:
    """MySQL: digits as the text of a UUID."""
    digits = f"LOWER({_utf8(f'RTRIM({column})')})"
    parts = ("1, 8", "9, 4", "13, 4", "17, 4", "21, 12")
    return _utf8(_joined([f"SUBSTR({digits}, {part})" for part in parts]))


#: The canonical text of an ID, by what its column holds.
_POSTGRESQL_TEXTS: dict[int, Callable[[str], str]] = {
    _UUID: lambda column: f"CAST({column} AS text)",
    _BYTES: lambda column: _hyphenated(f"encode({column}, 'hex')"),
    _SWAPPED: lambda column: _hyphenated(_unswapped(column)),
    _UUID_TEXT: lambda column: f"lower({column})",
    _DIGITS: lambda column: _hyphenated(f"lower({column})"),
    _INTEGER: lambda column: f"CAST({column} AS text)",
    _TEXT: lambda column: column,
}

_MYSQL_TEXTS: dict[int, Callable[[str], str]] = {
    _UUID: lambda column: _utf8(f"CAST({column} AS CHAR)"),
    _BYTES: lambda column: _hyphenated_bytes(column, "1, 4; 5, 2; 7, 2"),
    _SWAPPED: lambda column: _hyphenated_bytes(column, "5, 4; 3, 2; 1, 2"),
    _UUID_TEXT: lambda column: f"LOWER({_utf8(f'RTRIM({column})')})",
    _DIGITS: _hyphenated_digits,
    _INTEGER: lambda column: _utf8(f"CONCAT({column} + 0)"),  # as a number: ZEROFILL is for show
    _TEXT: _utf8,
}


def _postgresql_salt(salt: str) -> str:
    """Return a salt as text; what drivers or settings give a meaning stands by its number."""
    parts, plain = [], ""
    for character in salt:
        if not _is_special(character):
            plain += character
            continue
        parts += [f"'{plain}'"] if plain else []
        parts.append(f"chr({ord(character)})")
        plain = ""
    return " || ".join([*parts, f"'{plain}'"] if plain else parts)


def _mysql_salt(salt: str) -> str:
    """Return a salt as bytes: readable if nothing can change it, else in hexadecimal."""
    if salt.isascii() and not any(map(_is_special, salt)):
        return f"'{salt}'"
    return f"X'{salt.encode().hex()}'"


def _is_special(character: str) -> bool:
    return character in "'\\%?:$" or ord(character) < 0x20 or 0x7F <= ord(character) < 0xA0
