"""Migrations between any two schedules, against brute force; and their steps on a table."""

from __future__ import annotations

import copy
import math
import random
from collections import defaultdict

from cases import (
    Case,
    a_case,
    a_divisor,
    duration,
    instant,
    known_ids,
    millis,
    shortest_millis,
    shown,
    some_ids,
)
from conftest import Cases, asked
from model import Model
from offbeat.v1 import id_pb2, migration_pb2, schedule_pb2, sql_pb2
from offbeat.v1.slots_pb2_grpc import SlotServiceStub
from test_predicates import selected, table_of


def related(rng: random.Random, old: Case) -> Case:
    """The schedule with another slot count, period, anchor or salt."""
    new = Case(schedule_pb2.ScheduleSpec(), copy.deepcopy(old.model), old.about)
    new.spec.CopyFrom(old.spec)
    model = new.model
    for known in ("_stretches", "_around", "_deferrals", "shortest"):
        model.__dict__.pop(known, None)
    what = rng.choice(["nothing", "slots", "period", "anchor", "salt"])
    if what == "slots":
        lengths = {model.active(cycle) for cycle in range(48 if model.unit == "MONTH" else 1)}
        model.slots = new.spec.slot_count = a_divisor(rng, math.gcd(*lengths), 256)
    elif what == "period" and not model.unit and not model.windows:
        model.period *= rng.choice([1, 2, 3])
        new.spec.period.CopyFrom(duration(model.period * model.tick))
    elif what == "anchor" and not model.unit:
        model.anchor += rng.randrange(-model.period, model.period)
        new.spec.anchor_time.CopyFrom(instant(model.anchor * model.tick))
    elif what == "salt" and model.placement == "HASH":
        model.salt = new.spec.salt = "other"
    return new


def test_migrations(stub: SlotServiceStub, cases: Cases) -> None:
    def check(rng: random.Random) -> None:
        old = a_case(rng)
        new = related(rng, old) if rng.random() < 0.5 else a_case(rng)
        if (old.model.placement == "FRACTION") != (new.model.placement == "FRACTION"):
            return
        column, old_ids = some_ids(rng, old, 15, rng.choice(["uuid", "integer"]))
        check_crossings(stub, rng, old, new, column, old_ids)

    cases(check)


def check_crossings(stub, rng, old, new, column, old_ids) -> None:
    before, after = old.model, new.model
    cycle, shortest = before.longest * before.tick, shortest_millis(after)
    cutover = old.about * before.tick + rng.randrange(-cycle, cycle + 1)
    min_gap = rng.choice([0, rng.randrange(shortest + 1), shortest])
    question = shown(old.spec, new.spec, cutover, min_gap)
    answer = stub.PlanMigration(
        migration_pb2.PlanMigrationRequest(
            old_schedule=old.schedule,
            new_schedule=new.schedule,
            cutover_time=instant(cutover),
            min_gap=duration(min_gap),
            ids=column,
        )
    )
    rows = answer.ids
    refused = {error.id_index for error in rows.errors}
    gaps, moved, left_out, is_whole = [], 0, 0, True
    first_old, first_new = -(-cutover // before.tick), -(-cutover // after.tick)
    for index, (one, other) in enumerate(zip(old_ids, known_ids(new, column))):
        columns = (rows.last_old_unix_millis, rows.last_old_cycle_indexes,
                   rows.first_new_unix_millis, rows.first_new_cycle_indexes)  # fmt: skip
        got = tuple(each[index] for each in columns)
        last = before.last_run(one, first_old)
        allowed = max(cutover, last.at * before.tick + min_gap) if last else cutover
        allowed_tick = -(-allowed // after.tick)
        first = after.next_run(other, allowed_tick)
        if last is None or first is None:
            is_whole = False  # the model looks through fewer cycles
            assert got != (-1, -1, -1, -1) or index in refused, question
            continue
        expected = (last.at * before.tick, last.cycle, first.at * after.tick, first.cycle)
        assert got == expected, question
        gaps.append(expected[2] - expected[0])
        left_out += len(after.runs(other, first_new, allowed_tick))
        unchanged = before.next_run(one, first_old)
        moved += unchanged is None or unchanged.at * before.tick != expected[2]
    if is_whole:
        assert (rows.moved_id_count, rows.left_out_run_count) == (moved, left_out), question
        assert (millis(rows.observed_min_gap), millis(rows.observed_max_gap)) == (
            min(gaps),
            max(gaps),
        ), question
    assert answer.HasField("max_gap_bound") == (not before.exclusions and not after.exclusions)
    if answer.HasField("max_gap_bound"):
        assert max(gaps) <= millis(answer.max_gap_bound), question


def a_period(rng: random.Random, tick: int, like: Model | None = None) -> Case:
    """A period so short that all steps of a migration fit into an answer."""
    placement = like.placement if like else rng.choice(["HASH", "FRACTION"])
    slots = rng.choice([1, 2, 3, 5, 8, 24, 128, 960])
    model = Model(tick=tick, slots=slots, period=slots * rng.choice([1, 7, 60, 225]))
    model.placement = placement
    model.anchor = rng.choice([0, rng.randrange(-(10**6), 10**6)])
    if like and rng.random() < 0.5 and like.tick == tick:
        model.period, model.anchor = like.period * rng.choice([1, 2, 3]), like.anchor
        model.slots = a_divisor(rng, model.period, 1_000)
    spec = schedule_pb2.ScheduleSpec(
        period=duration(model.period * tick),
        resolution=duration(tick),
        anchor_time=instant(model.anchor * tick),
        slot_count=model.slots,
        placement=schedule_pb2.Placement.Value(f"PLACEMENT_{placement}"),
    )
    return Case(spec, model, 0)


def test_steps_on_a_table(stub: SlotServiceStub, cases: Cases) -> None:
    def check(rng: random.Random) -> None:
        old = a_period(rng, rng.choice([1_000, 500]))
        new = a_period(rng, rng.choice([old.model.tick, 250]), old.model)
        column = id_pb2.IdBatch()
        if old.model.placement == "FRACTION":
            period = old.model.period
            edges = [rng.choice([rng.random(), rng.randrange(period) / period]) for _ in range(100)]
            column.fractions.extend(edges)
        else:
            column.integers.extend(rng.getrandbits(60) for _ in range(100))
        check_steps(stub, rng, old, new, column)

    cases(check)


def check_steps(stub, rng, old, new, column) -> None:
    before, after = old.model, new.model
    cutover, length = rng.randrange(-(10**9), 10**9), after.period * after.tick
    min_gap = rng.choice([0, rng.randrange(length + 1), min(3_000, length), length])
    old_ids, new_ids = known_ids(old, column), known_ids(new, column)
    database, sql_target = table_of(old, old_ids)
    assert sql_target.dialect == sql_pb2.SQL_DIALECT_SQLITE
    answer, refused = asked(
        stub.PlanMigration,
        migration_pb2.PlanMigrationRequest(
            old_schedule=old.schedule,
            new_schedule=new.schedule,
            cutover_time=instant(cutover),
            min_gap=duration(min_gap),
            sql_target=sql_target,
        ),
    )
    if refused:
        assert "steps" in refused.details() or "ranges" in refused.details()
        return
    question = shown(old.spec, new.spec, cutover, min_gap)
    enqueued, behind = defaultdict(list), None
    for step in answer.steps:
        span = (millis(step.start_time), millis(step.end_time))
        assert behind is None or behind <= span[0], question
        behind = span[1]
        for index in selected(database, step.predicate):
            enqueued[index].append((step.by_new_schedule, *span))
    since = cutover - before.period * before.tick
    until = cutover + length + min_gap
    for index, (one, other) in enumerate(zip(old_ids, new_ids)):
        runs = before.runs(one, -(-since // before.tick), -(-cutover // before.tick))
        allowed = max(cutover, runs[-1].at * before.tick + min_gap)
        expected = [(False, run.at * before.tick) for run in runs]
        later = after.runs(other, -(-allowed // after.tick), -(-until // after.tick))
        expected += [(True, run.at * after.tick) for run in later]
        got = enqueued[index]
        assert len(got) == len(expected), question
        for (by_new, start, end), (is_new, at) in zip(got, expected):
            assert by_new == is_new, question
            assert start <= at < end, question
        if len(expected) > len(runs):
            gap = later[0].at * after.tick - runs[-1].at * before.tick
            assert min_gap <= gap <= millis(answer.max_gap_bound), question
