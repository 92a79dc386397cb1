"""Columns of IDs, and the conditions that select the rows of a slot or a window."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Union

from ._fields import set_enum, set_integer
from ._keywords import positional
from .ids import checked_text
from .v1 import sql_pb2 as pb

if TYPE_CHECKING:
    from dataclasses import KW_ONLY


#: The types of the values that a predicate binds.
SqlValue = Union[int, str, float]

_FIELD = "sql_target"


class SqlDialect(enum.IntEnum):
    """A database, and its supported versions."""

    #: 12 and later, with UTF8 as the encoding of the database.
    POSTGRESQL = 1
    #: 8.0.23 and later.
    MYSQL = 2
    #: 10.6 and later.
    MARIADB = 3
    #: 3.9 and later. It has no MD5: with ``Placement.HASH``, store the hash.
    SQLITE = 4


class SqlColumnType(enum.IntEnum):
    """What a column holds, and so which ID a row is."""

    #: The type uuid of PostgreSQL and of MariaDB.
    UUID = 1
    #: A UUID's 16 bytes: BINARY(16), bytea, BLOB.
    UUID_BYTES = 2
    #: The 16 bytes that ``UUID_TO_BIN(x, 1)`` makes.
    UUID_BYTES_SWAPPED = 3
    #: UUIDs as text with hyphens, in any case: CHAR(36), TEXT.
    UUID_TEXT = 4
    #: UUIDs as 32 hexadecimal digits, in any case: CHAR(32).
    UUID_DIGITS = 5
    #: Integers, also of a decimal type without decimals.
    INTEGER = 6
    #: Text, taken as it is: VARCHAR, TEXT. ``Placement.HASH`` only.
    TEXT = 7
    #: Fractions in [0, 1), as doubles.
    FRACTION = 8
    #: ``Placement.HASH`` only: the first 16 hexadecimal digits of MD5(salt + ID), or all 32.
    HASH_DIGITS = 9


class SqlParameterStyle(enum.IntEnum):
    """How a predicate holds its bounds."""

    #: Written into the text.
    LITERAL = 1
    #: ``?``: sqlite3.
    QUESTION_MARK = 2
    #: ``%s``: psycopg, PyMySQL.
    FORMAT = 3
    #: ``$1``, ``$2``, …: asyncpg.
    DOLLAR = 4
    #: ``:offbeat_1``, ``:offbeat_2``, …: SQLAlchemy's ``text``, sqlite3.
    NAMED = 5


@positional(4)
@dataclass(frozen=True)
class SqlTarget:
    """A column of IDs in a table. Names are given without quotes.

    dialect: the database.
    table: the table; the statement that creates the index names it.
    column: the column; rows that have NULL there belong to no slot.
    column_type: what the column holds.
    schema: the table's schema (in MySQL and MariaDB, its database). Default: the current one.
    table_alias: what the query calls the table. Default: columns are not qualified.
    parameter_style: how predicates hold their bounds. Default: ``LITERAL``.
    first_parameter_number: ``DOLLAR`` and ``NAMED`` only: the number of the first
        placeholder, for queries with parameters of their own. Default: 1.
    time_zone_column: ``window_predicate`` with a calendar only: the column with the IANA name of
        the time zone in which a row lives; set it together with ``time_zones`` of the call.
        Default: all rows live in the time zone of the schedule.
    """

    dialect: SqlDialect
    table: str
    column: str
    column_type: SqlColumnType
    if TYPE_CHECKING:
        _: KW_ONLY
    schema: str = ""
    table_alias: str = ""
    parameter_style: SqlParameterStyle | None = None
    first_parameter_number: int | None = None
    time_zone_column: str = ""

    def to_message(self) -> pb.SqlTarget:
        """Turn the target into its message."""
        message = pb.SqlTarget()
        for name in ("schema", "table", "column", "table_alias", "time_zone_column"):
            setattr(message, name, checked_text(f"{_FIELD}.{name}", getattr(self, name)))
        set_enum(message, _FIELD, "dialect", self.dialect, SqlDialect)
        set_enum(message, _FIELD, "column_type", self.column_type, SqlColumnType)
        if self.parameter_style is not None:
            style = self.parameter_style
            set_enum(message, _FIELD, "parameter_style", style, SqlParameterStyle)
        if self.first_parameter_number is not None:
            number = self.first_parameter_number
            set_integer(message, _FIELD, "first_parameter_number", number)
        return message


@dataclass(frozen=True)
class SqlIndex:
    """An index that serves predicates."""

    #: Its name; in MySQL and MariaDB, also that of the generated column that predicates name.
    name: str
    #: The statements that create it, in order. Run them once, before the first predicate.
    create_statements: tuple[str, ...]

    @classmethod
    def from_message(cls, message: pb.SqlIndex) -> SqlIndex:
        """Turn a message into an index."""
        return cls(message.name, tuple(message.create_statements))


@dataclass(frozen=True)
class SqlPredicate:
    """A condition for the WHERE clause of a query: true for the rows of a slot or window."""

    #: The condition, in parentheses.
    sql: str
    #: Values to bind: in the order of the placeholders, or by name with ``NAMED``.
    parameters: tuple[SqlValue, ...] | Mapping[str, SqlValue] = field(hash=False)
    #: The index that serves it.
    index: SqlIndex
    #: Who decided, as in :class:`~offbeat.Assignment`.
    decided_by: str = field(default="sidecar", compare=False)

    @classmethod
    def from_message(cls, message: pb.SqlPredicate, index: pb.SqlIndex) -> SqlPredicate:
        """Turn a message into a predicate."""
        values = [
            getattr(parameter, parameter.WhichOneof("value") or "text")
            for parameter in message.parameters
        ]
        names = [parameter.name for parameter in message.parameters]
        named = any(names)
        parameters = dict(zip(names, values)) if named else tuple(values)
        return cls(message.sql, parameters, SqlIndex.from_message(index))
