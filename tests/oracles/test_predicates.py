"""Predicates on SQLite: the rows of slots and of windows, against brute force."""

from __future__ import annotations

import random
import sqlite3

from cases import (
    Case,
    a_case,
    a_time_near,
    first_tick,
    instant,
    millis,
    shown,
    slot_times,
    some_ids,
    some_kind,
)
from conftest import Cases, asked
from model import TWO64, Id
from offbeat.v1 import slots_pb2, sql_pb2
from offbeat.v1.slots_pb2_grpc import SlotServiceStub


def table_of(case: Case, ids: list[Id]) -> tuple[sqlite3.Connection, sql_pb2.SqlTarget]:
    """A table with the rows, and the column that places them."""
    column = sql_pb2.SqlTarget(dialect=sql_pb2.SQL_DIALECT_SQLITE, table="t", column="k")
    values: list[object]
    if case.model.placement == "FRACTION":
        column.column_type, kind = sql_pb2.SQL_COLUMN_TYPE_FRACTION, "real"
        values = [one.fraction for one in ids]
    elif case.model.placement == "TWISTER":
        column.column_type, kind = sql_pb2.SQL_COLUMN_TYPE_INTEGER, "integer"
        values = [int(one.text) for one in ids]
    else:
        column.column_type, kind = sql_pb2.SQL_COLUMN_TYPE_HASH_DIGITS, "text"
        values = [f"{one.hash:016x}" for one in ids]
    database = sqlite3.connect(":memory:")
    database.execute(f"create table t (i integer, k {kind})")
    database.executemany("insert into t values (?, ?)", enumerate(values))
    return database, column


def selected(database: sqlite3.Connection, predicate: sql_pb2.SqlPredicate) -> list[int]:
    bound = [(one.name, getattr(one, one.WhichOneof("value"))) for one in predicate.parameters]
    named = dict(bound) if bound and bound[0][0] else [value for _, value in bound]
    rows = database.execute(f"select i from t where {predicate.sql} order by i", named)
    return [index for (index,) in rows]


def test_predicates(stub: SlotServiceStub, cases: Cases) -> None:
    def check(rng: random.Random) -> None:
        case = a_case(rng)
        model, kind = case.model, some_kind(rng, case)
        describe = slots_pb2.DescribeScheduleRequest(schedule=case.schedule)
        _, refused = asked(stub.DescribeSchedule, describe)
        if refused and kind:  # this many kinds do not fit
            assert "kind" in refused.details(), shown(case.spec)
            return
        _, ids = some_ids(rng, case, 100, "integer" if model.placement == "TWISTER" else "")
        if model.placement == "HASH":
            for _ in range(30):  # the edges of ticks
                edge = -(-rng.randrange(model.shortest) * TWO64 // model.shortest)
                ids.append(Id("", hash=max(0, edge - rng.randrange(2))))
        database, column = table_of(case, ids)
        column.parameter_style = rng.choice([1, 2, 5])
        cycle, start = model.longest * model.tick, a_time_near(rng, case)
        end = start + rng.choice(
            [0, cycle, rng.randrange(cycle + 1), rng.randrange(cycle // 20 + 1)]
        )
        if model.placement != "TWISTER":
            check_window(stub, case, kind, ids, database, column, start, end)
        end = start + cycle // model.slots * rng.randrange(1, 40)
        request = slots_pb2.ListSlotsRequest(
            schedule=case.schedule,
            start_time=instant(start),
            end_time=instant(end),
            sql_target=column,
            kind=kind,
        )
        answer, refused = asked(stub.ListSlots, request)
        if refused:
            assert "4096" in refused.details(), shown(case.spec, start, end)
            return
        slots = answer.slots
        got = [
            (millis(one.start_time), one.cycle_index, one.slot_index, millis(one.end_time))
            for one in slots
        ]
        if model.slots <= 2_000:
            first_cycle = model.cycle_at(first_tick(case, start)) - 2
            expected = []
            for number in range(first_cycle, model.cycle_at(end // model.tick) + 3):
                for slot in range(0 if model.never_comes(number) else model.slots):
                    first, behind = slot_times(model, number, slot)
                    if start <= first < end:
                        expected.append((first, number, slot, behind))
            assert got == sorted(expected), shown(case.spec, start, end)
        for one in slots[:: max(1, len(slots) // 20)]:
            members = [
                i
                for i, id in enumerate(ids)
                if model.slot(id, one.cycle_index)[0] == one.slot_index
            ]
            assert selected(database, one.predicate) == members, shown(case.spec, one)

    cases(check)


def check_window(
    stub: SlotServiceStub,
    case: Case,
    kind: str,
    ids: list[Id],
    database: sqlite3.Connection,
    column: sql_pb2.SqlTarget,
    start: int,
    end: int,
) -> None:
    request = slots_pb2.GetWindowPredicateRequest(
        schedule=case.schedule,
        start_time=instant(start),
        end_time=instant(end),
        sql_target=column,
        kind=kind,
    )
    answer, refused = asked(stub.GetWindowPredicate, request)
    if refused:
        assert "ranges" in refused.details(), shown(case.spec, start, end)
        return
    for statement in answer.sql_index.create_statements:
        database.execute(statement)
    first, behind = first_tick(case, start), first_tick(case, end)
    running = [i for i, one in enumerate(ids) if case.model.runs(one, first, behind)]
    assert selected(database, answer.predicate) == running, shown(case.spec, start, end)
