"""Database and service agree on the slot of every row.

Debian has no MySQL, so its statements run on MariaDB, in a table of their own.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from typing import Any, Callable

import offbeat
import pytest
from offbeat import (
    Placement,
    Schedule,
    SqlDialect,
    SqlParameterStyle,
    SqlTarget,
    TwisterProfile,
)
from offbeat import SqlColumnType as Type
from population import DAY, SALT, Account
from support.databases import Database

#: Names that would break out of their quotes, and confuse drivers, if anything could.
TABLE = "acc\"ount`s; DROP TABLE x; -- %s ? :a $1 '"
ANCHOR = datetime(2026, 1, 1, 0, 20, 34, tzinfo=timezone.utc)

HASH = Schedule(DAY, slot_count=144, anchor_time=ANCHOR)
SALTED = Schedule(DAY, slot_count=480, anchor_time=ANCHOR, salt=SALT)
TWISTER = Schedule(DAY, slot_count=144, anchor_time=ANCHOR, placement=Placement.TWISTER)
WIDE = Schedule(
    DAY,
    slot_count=500,
    anchor_time=ANCHOR,
    placement=Placement.TWISTER,
    bucket_count=65_536,
    profile=TwisterProfile.PHP,
    resolution=timedelta(milliseconds=100),
)
FRACTION = Schedule(DAY, slot_count=96, anchor_time=ANCHOR, placement=Placement.FRACTION)

ID_SCHEDULES = {"hash": HASH, "salted": SALTED, "twister": TWISTER, "wide": WIDE}


@dataclass(frozen=True)
class Column:
    """A column: its name, its types, the stored value, and the ID that it stands for."""

    name: str
    kind: Type
    sql_types: dict[str, str]
    stored: Callable[[Account], Any]
    id: Callable[[Account], Any]
    schedules: tuple[str, ...] = ("hash", "salted", "twister", "wide")


def account_uuid(account: Account) -> Any:
    return account.uuid


COLUMNS = [
    Column("native", Type.UUID, {"postgresql": "uuid", "mariadb": "uuid"},
           lambda a: str(a.uuid), account_uuid),
    Column("bytes", Type.UUID_BYTES,
           {"postgresql": "bytea", "mariadb": "BINARY(16)", "sqlite": "BLOB"},
           lambda a: a.uuid.bytes, account_uuid),
    Column("swapped", Type.UUID_BYTES_SWAPPED,
           {"postgresql": "bytea", "mariadb": "BINARY(16)", "sqlite": "BLOB"},
           lambda a: a.swapped, account_uuid),
    Column("char36", Type.UUID_TEXT,
           {"postgresql": "char(36)", "mariadb": "CHAR(36) CHARACTER SET latin1", "sqlite": "TEXT"},
           lambda a: a.mixed_case, account_uuid),
    Column("uuid text", Type.UUID_TEXT,
           {"postgresql": "text", "mariadb": "VARCHAR(40) CHARACTER SET utf16", "sqlite": "TEXT"},
           lambda a: a.mixed_case, account_uuid),
    Column("char32", Type.UUID_DIGITS,
           {"postgresql": "char(32)", "mariadb": "CHAR(32)", "sqlite": "TEXT"},
           lambda a: a.mixed_case.replace("-", ""), account_uuid),
    Column("small", Type.INTEGER,
           {"postgresql": "integer", "mariadb": "INT", "sqlite": "INTEGER"},
           lambda a: a.small, lambda a: a.small),
    Column("big%s", Type.INTEGER,
           {"postgresql": "bigint", "mariadb": "BIGINT", "sqlite": "INTEGER"},
           lambda a: a.big, lambda a: a.big),
    Column("unsigned", Type.INTEGER,
           {"postgresql": "numeric(20)", "mariadb": "BIGINT UNSIGNED"},
           lambda a: a.big % 2**64, lambda a: a.big % 2**64),
    Column("zerofill", Type.INTEGER, {"mariadb": "BIGINT UNSIGNED ZEROFILL"},
           lambda a: a.n, lambda a: a.n, ("hash", "twister")),
    Column("huge", Type.INTEGER, {"postgresql": "numeric(39)", "mariadb": "DECIMAL(39)"},
           lambda a: a.huge, lambda a: a.huge),
    Column("o\"r`de'r; --", Type.TEXT,
           {"postgresql": "text", "mariadb": "VARCHAR(255)"},
           lambda a: a.text, lambda a: a.text, ("hash", "salted")),
    Column("text utf16", Type.TEXT,
           {"mariadb": "VARCHAR(255) CHARACTER SET utf16"},
           lambda a: a.text, lambda a: a.text, ("hash",)),
    Column("fraction", Type.FRACTION,
           {"postgresql": "double precision", "mariadb": "DOUBLE", "sqlite": "REAL"},
           lambda a: a.fraction, lambda a: a.fraction, ("fraction",)),
    Column("hash", Type.HASH_DIGITS,
           # In Danish, "aa" comes after "ff".
           {"postgresql": 'char(16) COLLATE "da-x-icu"',
            "mariadb": "CHAR(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_danish_ci",
            "sqlite": "TEXT"},
           lambda a: a.hash_digits, account_uuid, ("salted",)),
]  # fmt: skip

SCHEDULES = {**ID_SCHEDULES, "fraction": FRACTION}


@dataclass(frozen=True)
class Table:
    """A table of a database, and how its statements are written."""

    database: Database
    dialect: SqlDialect
    schema: str
    types: str

    def quoted(self, name: str) -> str:
        quote = '"' if self.dialect == SqlDialect.POSTGRESQL else "`"
        return quote + name.replace(quote, quote * 2) + quote

    @property
    def columns(self) -> list[Column]:
        columns = [column for column in COLUMNS if self.types in column.sql_types]
        if self.dialect == SqlDialect.MYSQL:  # MySQL has no type uuid
            columns = [column for column in columns if column.kind != Type.UUID]
        return columns

    @property
    def path(self) -> str:
        schema = f"{self.quoted(self.schema)}." if self.schema else ""
        return schema + self.quoted(TABLE)


DIALECTS = ["postgresql", "mariadb", "mysql", "sqlite"]
CASES = [
    pytest.param((dialect, column, schedule), id=f"{dialect}-{column.name}-{schedule}")
    for dialect in DIALECTS
    for column in COLUMNS
    for schedule in column.schedules
    if {"mysql": "mariadb"}.get(dialect, dialect) in column.sql_types
    and not (dialect == "mysql" and column.kind == Type.UUID)
    and not (
        dialect == "sqlite"
        and SCHEDULES[schedule].placement is None
        and column.kind != Type.HASH_DIGITS
    )
]

#: No database computes the offsets of a twister.
WINDOW_CASES = [
    case
    for case in CASES
    if SCHEDULES[case.values[0][2]].placement != Placement.TWISTER  # type: ignore[index]
]


@pytest.fixture(scope="session")
def tables(databases, population) -> dict[str, Table]:
    tables = {
        "postgresql": Table(
            databases["postgresql"], SqlDialect.POSTGRESQL, 'sch"ema', "postgresql"
        ),
        "mariadb": Table(databases["mariadb"], SqlDialect.MARIADB, "", "mariadb"),
        "mysql": Table(databases["mariadb"], SqlDialect.MYSQL, "sche`ma", "mariadb"),
        "sqlite": Table(databases["sqlite"], SqlDialect.SQLITE, "main", "sqlite"),
    }
    databases["postgresql"].run('CREATE SCHEMA "sch""ema"')
    # Expressions there have that character set, unless they convert it.
    databases["mariadb"].run("CREATE DATABASE `sche``ma` CHARACTER SET utf16")
    for table in tables.values():
        columns = {"n": "INTEGER PRIMARY KEY"} | {
            table.quoted(column.name): column.sql_types[table.types] for column in table.columns
        }
        rows = [
            (account.n, *(column.stored(account) for column in table.columns))
            for account in population
        ]
        # Rows without an ID: they belong to no slot.
        rows += [(len(rows) + n, *(None for _ in table.columns)) for n in range(7)]
        table.database.load(table.path, columns, rows)
    return tables


def sql_target(table: Table, column: Column, style: SqlParameterStyle) -> SqlTarget:
    return SqlTarget(
        table.dialect,
        TABLE,
        column.name,
        column.kind,
        schema=table.schema,
        table_alias="t",
        parameter_style=style,
    )


@pytest.fixture(scope="session")
def service(client, population) -> Callable[[Column, Schedule], offbeat.SlotAssignments]:
    """The answer of AssignSlots for all rows, cached because it is the same in every database."""

    @functools.cache
    def assignments(name: str, schedule: Schedule) -> offbeat.SlotAssignments:
        column = next(column for column in COLUMNS if column.name == name)
        ids = [column.id(account) for account in population]
        return client.assign_slots(schedule, ids, from_time=ANCHOR)

    return lambda column, schedule: assignments(column.name, schedule)


@pytest.fixture
def case(request, tables, service):
    dialect, column, name = request.param
    return tables[dialect], column, SCHEDULES[name], service(column, SCHEDULES[name])


@pytest.mark.parametrize("case", CASES, indirect=True)
def test_slots_partition_the_table_and_agree_with_the_service(case, client):
    table, column, schedule, assignments = case
    database = table.database
    by_style = {
        style: client.list_slots(
            schedule, start_time=ANCHOR, sql_target=sql_target(table, column, style)
        )
        for style in database.styles
    }
    index = by_style[SqlParameterStyle.LITERAL][0].predicate.index
    for statement in index.create_statements:
        database.run(statement)

    found: dict[int, int] = {}
    for number in range(schedule.slot_count):
        style = database.styles[number % len(database.styles)]
        slot = by_style[style][number]
        assert slot.slot_index == number
        for n in database.select(table.path, slot.predicate, style):
            assert n not in found, f"row {n} is in slots {found[n]} and {number}"
            found[n] = number
    assert [found.get(n) for n in range(len(assignments))] == list(assignments.slot_indexes)
    assert len(found) == len(assignments)

    database.analyze(table.path)
    for style, slots in by_style.items():
        plan = database.plan(table.path, slots[5].predicate, style)
        assert index.name in plan, plan
        assert "SCAN" not in plan, plan  # SQLite would also report a full index scan as SCAN


@pytest.mark.parametrize("case", WINDOW_CASES, indirect=True)
def test_windows_hold_exactly_the_rows_whose_offset_lies_in_them(case, client):
    table, column, schedule, assignments = case
    database = table.database
    literal = sql_target(table, column, SqlParameterStyle.LITERAL)
    if table.dialect == SqlDialect.MYSQL:  # MySQL has no IF NOT EXISTS
        literal = replace(literal, dialect=SqlDialect.MARIADB)
    index = client.list_slots(schedule, sql_target=literal)[0].predicate.index
    for statement in index.create_statements:
        database.run(statement)
    windows = [
        (timedelta(hours=5), timedelta(minutes=1)),
        (timedelta(hours=23, minutes=50), timedelta(minutes=20)),
        (timedelta(milliseconds=1), timedelta(milliseconds=999)),  # between two ticks
        (timedelta(milliseconds=999), timedelta(milliseconds=2)),  # around one
        (timedelta(days=-40_000, seconds=77), timedelta(hours=1)),
        (timedelta(hours=9), timedelta(0)),
        (timedelta(hours=9), DAY),
        (timedelta(0), DAY),
    ]
    for number, (offset, length) in enumerate(windows):
        style = database.styles[number % len(database.styles)]
        start = ANCHOR + offset
        predicate = client.window_predicate(
            schedule,
            sql_target(table, column, style),
            start_time=start,
            end_time=start + length,
        )
        # In milliseconds, since there are so many rows.
        milli = timedelta(milliseconds=1)
        day, begin = DAY // milli, offset % DAY // milli
        end = begin + length // milli
        expected = {
            n
            for n, ticks in enumerate(assignments.cycle_offset_ticks)
            if begin <= ticks * 1_000 < end or begin <= ticks * 1_000 + day < end
        }
        selected = database.select(table.path, predicate, style)
        assert len(selected) == len(set(selected))
        assert set(selected) == expected, (offset, length)
        if length >= timedelta(minutes=1):
            assert expected


def test_the_table_is_still_there(tables):
    for table in tables.values():
        assert table.database.run(f"SELECT count(*) FROM {table.path}")[0][0] == 50_007


def test_statements_may_be_run_again_but_on_mysql(tables, client):
    for dialect in ("postgresql", "mariadb", "sqlite"):
        table = tables[dialect]
        column = sql_target(table, COLUMNS[1], SqlParameterStyle.LITERAL)
        index = client.list_slots(TWISTER, sql_target=column)[0].predicate.index
        for statement in index.create_statements * 2:
            table.database.run(statement)


def test_null_is_in_no_slot_in_oracle_mode(tables, client):
    """In that mode MariaDB's CONCAT ignores NULL, and the column keeps the mode."""
    database = tables["mariadb"].database
    column = SqlTarget(SqlDialect.MARIADB, "oracle", "id", Type.UUID_BYTES, schema="offbeat")
    slots = client.list_slots(SALTED, start_time=ANCHOR, sql_target=column)
    database.run("SET sql_mode = ORACLE")
    try:
        database.run("CREATE TABLE offbeat.oracle (n INTEGER PRIMARY KEY, id BINARY(16))")
        for statement in slots[0].predicate.index.create_statements:
            database.run(statement)
    finally:
        database.run("SET sql_mode = DEFAULT")
    database.run("INSERT INTO offbeat.oracle (n, id) VALUES (1, NULL), (2, REPEAT('x', 16))")
    rows = [
        row
        for slot in slots
        for row in database.run(f"SELECT n FROM offbeat.oracle WHERE {slot.predicate.sql}")
    ]
    assert [n for (n,) in rows] == [2]


def test_generated_columns_stay_out_of_the_way(tables):
    """They are invisible: SELECT * and INSERT work as before."""
    table = tables["mariadb"]
    assert "offbeat_hash_" in table.database.run(f"SHOW CREATE TABLE {table.path}")[0][1]
    width = len(table.database.run(f"SELECT * FROM {table.path} LIMIT 1")[0])
    assert width == 1 + len(table.columns)
    values = ", ".join(["60000"] + ["NULL"] * len(table.columns))
    table.database.run(f"INSERT INTO {table.path} VALUES ({values})")
    table.database.run(f"DELETE FROM {table.path} WHERE n = 60000")
