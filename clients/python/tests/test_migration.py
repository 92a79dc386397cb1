"""Migrations to another schedule, and audits of IDs, against Python's own arithmetic."""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
import uuid
from collections import Counter
from datetime import datetime, timedelta, timezone

import pytest
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

import offbeat
from offbeat import AuditFinding, IdType, MigrationPath, Placement, Schedule, _questions, migration
from offbeat.v1 import migration_pb2

UTC = timezone.utc
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
CUTOVER = datetime(2026, 3, 1, 5, tzinfo=UTC)
HOUR = timedelta(hours=1)
OLD, NEW = Schedule(12 * HOUR, slot_count=144), Schedule(8 * HOUR, slot_count=96)
COLUMN = offbeat.SqlTarget(
    offbeat.SqlDialect.SQLITE, "account", "hash", offbeat.SqlColumnType.HASH_DIGITS
)


def digest(id_value: object) -> str:
    return hashlib.md5(str(id_value).encode()).hexdigest()


def offset(id_value: object, period: timedelta) -> timedelta:
    ticks = period // timedelta(seconds=1)
    return timedelta(seconds=int(digest(id_value)[:16], 16) * ticks >> 64)


def run_after(id_value: object, period: timedelta, instant: datetime) -> datetime:
    """The first run at or after an instant."""
    place = EPOCH + offset(id_value, period)
    return place + -((place - instant) // period) * period


def test_nobody_is_lost_and_nobody_runs_twice_in_the_gap(client):
    ids = list(range(2_000))
    plan = client.plan_migration(OLD, NEW, ids, cutover_time=CUTOVER, min_gap=3 * HOUR, kind="x")
    assert plan.cutover_time == CUTOVER
    assert (plan.path, plan.steps) == (MigrationPath.SAME_ORDER, ())
    rows = plan.ids
    assert len(rows) == 2_000
    left_out = moved = 0
    for row in rows:
        last_old = run_after(row.id, 12 * HOUR, CUTOVER) - 12 * HOUR
        first_new = run_after(row.id, 8 * HOUR, CUTOVER)
        while first_new - last_old < 3 * HOUR:
            first_new += 8 * HOUR
            left_out += 1
        assert (row.last_old_time, row.first_new_time) == (last_old, first_new)
        assert row.gap == first_new - last_old
        assert row.gap <= plan.max_gap_bound
        moved += first_new != last_old + 12 * HOUR
    gaps = [row.gap for row in rows]
    assert (rows.observed_min_gap, rows.observed_max_gap) == (min(gaps), max(gaps))
    assert (rows.left_out_run_count, rows.moved_id_count) == (left_out, moved)
    assert rows.moved_ratio == pytest.approx(moved / 2_000)
    one = client.assign_slot(OLD, 7, from_time=CUTOVER, kind="x")
    assert rows[7].last_old_run == one.last_run
    assert plan.old_fingerprint == one.fingerprint
    new_run = client.assign_slot(NEW, 7, from_time=rows[7].first_new_time, kind="x").next_run
    assert rows[7].first_new_run == new_run


def test_a_plan_without_ids_says_what_holds_for_all(client):
    plan = client.plan_migration(OLD, NEW)
    assert plan.ids is None
    assert plan.cutover_time > datetime.now(UTC)
    assert (plan.cutover_time - EPOCH) % (12 * HOUR) == timedelta(0)
    assert plan.max_gap_bound > timedelta(0)
    salted = Schedule(12 * HOUR, slot_count=144, salt="new")
    assert client.plan_migration(OLD, salted).path is MigrationPath.NEW_PLACES
    assert client.plan_migration(OLD, salted).advice
    finer = client.plan_migration(OLD, Schedule(12 * HOUR, slot_count=288), range(9))
    assert (finer.path, finer.ids.moved_id_count) == (MigrationPath.SAME_TIMES, 0)
    assert client.plan_migration(OLD, OLD).path is MigrationPath.UNCHANGED


def test_the_steps_in_sql_enqueue_what_the_rows_say(client):
    ids = list(range(400))
    question = {"cutover_time": CUTOVER, "sql_target": COLUMN}
    plan = client.plan_migration(OLD, NEW, ids, **question)
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE account (id INTEGER, hash TEXT)")
    rows = [(id_, digest(id_)[:16]) for id_ in ids]
    database.executemany("INSERT INTO account VALUES (?, ?)", rows)
    for index in plan.sql_indexes:
        for statement in index.create_statements:
            database.execute(statement)
    enqueued: dict[bool, set[int]] = {False: set(), True: set()}
    for step in plan.steps:
        assert step.start_time < step.end_time
        assert step.by_new_schedule is (step.start_time >= CUTOVER)
        found = database.execute(f"SELECT id FROM account WHERE {step.predicate.sql}")
        enqueued[step.by_new_schedule].update(id_ for (id_,) in found)
    assert enqueued[True] == set(ids)
    database.close()


def test_steps_have_the_index_of_their_schedule(client):
    column = offbeat.SqlTarget(
        offbeat.SqlDialect.POSTGRESQL, "account", "id", offbeat.SqlColumnType.UUID
    )
    salted = Schedule(8 * HOUR, slot_count=96, salt="new")
    plan = client.plan_migration(OLD, salted, sql_target=column)
    old, new = plan.sql_indexes
    assert "new" in new.create_statements[0]
    assert "new" not in old.create_statements[0]
    assert {step.by_new_schedule for step in plan.steps} == {False, True}
    for step in plan.steps:
        assert step.predicate.index == (new if step.by_new_schedule else old)
        assert ("new" in step.predicate.sql) is step.by_new_schedule


def test_batches_of_any_size_share_one_cutover(client):
    ids = range(70_000)
    plan = client.plan_migration(OLD, NEW, ids)
    assert len(plan.ids) == 70_000
    for index in (0, 65_535, 65_536, 69_999):
        row = plan.ids[index]
        assert row.id == index
        assert row.first_new_time == run_after(index, 8 * HOUR, plan.cutover_time)
    share = plan.ids.moved_id_count / 70_000
    assert plan.ids.moved_ratio == share
    gaps = [row.gap for row in plan.ids]
    assert (plan.ids.observed_min_gap, plan.ids.observed_max_gap) == (min(gaps), max(gaps))


def test_the_batches_of_a_migration_are_one_answer():
    ids = range(_questions.BATCH_IDS + 1)
    question = migration.plan_migration(OLD, NEW, ids, None, None, "", None, COLUMN, False)
    _, request = next(question)
    assert request.HasField("sql_target")
    assert not request.HasField("cutover_time")

    def answer(**columns):
        part = migration_pb2.MigratedIds(**columns)
        return migration_pb2.PlanMigrationResponse(
            cutover_time=Timestamp(seconds=77), path=MigrationPath.SAME_ORDER, ids=part
        )

    seconds = [Duration(seconds=number) for number in range(10)]
    first = answer(
        observed_min_gap=seconds[3],
        observed_max_gap=seconds[8],
        moved_id_count=5,
        left_out_run_count=1,
    )
    second = answer(
        observed_min_gap=seconds[2],
        observed_max_gap=seconds[9],
        moved_id_count=1,
        left_out_run_count=2,
    )
    _, request = question.send(first)
    # All batches have the cutover of the first one, and one SQL plan is enough.
    assert request.cutover_time == first.cutover_time
    assert not request.HasField("sql_target")
    with pytest.raises(StopIteration) as ended:
        question.send(second)
    rows = ended.value.value.ids
    assert (rows.observed_min_gap, rows.observed_max_gap) == (2 * HOUR / 3_600, 9 * HOUR / 3_600)
    assert (rows.moved_id_count, rows.left_out_run_count) == (6, 3)
    assert rows.moved_ratio == 6 / 65_537


def test_refused_ids_of_a_migration_are_passed_over(client):
    ids = ["0" * 32, "bad", "1" * 32]
    question = {"id_type": IdType.UUID, "cutover_time": CUTOVER}
    with pytest.raises(offbeat.BadIds) as caught:
        client.plan_migration(OLD, NEW, ids, **question)
    plan = client.plan_migration(OLD, NEW, ids, return_errors=True, **question)
    assert caught.value.answer == plan
    assert [error.id_index for error in plan.ids.errors] == [1]
    assert [row.id for row in plan.ids.accepted()] == ["0" * 32, "1" * 32]
    with pytest.raises(LookupError, match=r"ids\[1\]"):
        plan.ids[1]
    assert plan.ids.moved_ratio in (0, 0.5, 1)
    none = client.plan_migration(OLD, NEW, ["bad"], return_errors=True, **question)
    assert (none.ids.observed_min_gap, none.ids.observed_max_gap, none.ids.moved_ratio) == (
        None,
        None,
        0,
    )


def test_an_audit_counts_what_each_slot_holds(client):
    schedule = Schedule(8 * HOUR, slot_count=96)
    ids = [f"user-{number}" for number in range(20_000)]
    audit = client.audit_ids(schedule, ids)
    counts = Counter(int(digest(id_)[:16], 16) * 96 >> 64 for id_ in ids)
    assert audit.slot_loads == tuple(counts[slot] for slot in range(96))
    assert (audit.id_count, audit.empty_slot_count, audit.errors) == (20_000, 0, ())
    assert audit.fullest_load == max(counts.values()) == counts[audit.fullest_slot_index]
    assert audit.fullest_to_mean_ratio == pytest.approx(max(counts.values()) * 96 / 20_000)
    mean = 20_000 / 96
    chi_square = sum((count - mean) ** 2 / mean for count in audit.slot_loads)
    assert audit.chi_square == pytest.approx(chi_square)
    assert 0.001 < audit.p_value < 1
    assert audit.warnings == ()
    load = client.describe_schedule(schedule, population=20_000).slot_load
    assert audit.expected_load == load
    assert client.audit_ids(schedule, ids[:50]).p_value is None


def test_an_audit_says_what_is_wrong_and_raises_nothing(client):
    twister = Schedule(8 * HOUR, slot_count=128, placement=Placement.TWISTER)
    node = uuid.getnode()
    ids = [str(uuid.uuid1(node)) for _ in range(5_000)]
    audit = client.audit_ids(twister, [*ids, "bad"], id_type=IdType.UUID)
    assert audit.warnings[0].finding is AuditFinding.TIME_BASED_UUIDS
    assert audit.warnings[0].message
    assert audit.empty_slot_count == 127
    assert [(error.id_index, error.field) for error in audit.errors] == [(5_000, "ids[5000]")]
    twice = client.audit_ids(Schedule(8 * HOUR), ["acme"] * 2)
    assert AuditFinding.DUPLICATES in [warning.finding for warning in twice.warnings]


def test_an_audit_of_weights(client):
    schedule = Schedule(8 * HOUR, slot_count=128, weight_quantum=10)
    audit = client.audit_ids(schedule, ["acme", "beta"], weights=[40, 6])
    assert sorted(audit.slot_loads)[-5:] == [6, 10, 10, 10, 10]
    assert audit.id_count == 2


@pytest.mark.parametrize(
    ("ask", "field"),
    [
        (lambda c: c.audit_ids(OLD, "acme"), "ids"),
        (lambda c: c.audit_ids(OLD, []), "ids"),
        (lambda c: c.audit_ids(OLD, range(65_537)), "ids.integers"),
        (lambda c: c.audit_ids(OLD, ["a", 1]), "ids[1]"),
        (
            lambda c: c.plan_migration(OLD, Schedule(HOUR, slot_count=7)),
            "new_schedule.spec.slot_count",
        ),
        (lambda c: c.plan_migration(OLD, NEW, cutover_time=5), "cutover_time"),
        (lambda c: c.plan_migration(OLD, NEW, min_gap=9 * HOUR), "min_gap"),
    ],
)
def test_what_is_wrong_is_named(client, ask, field):
    with pytest.raises(offbeat.InvalidArgument) as caught:
        ask(client)
    assert caught.value.field == field


def test_asyncio_answers_the_same(client):
    calls = [
        lambda client: client.plan_migration(
            OLD, NEW, range(100), cutover_time=CUTOVER, sql_target=COLUMN
        ),
        lambda client: client.audit_ids(OLD, range(1_000)),
    ]

    async def answers():
        async with offbeat.AsyncClient() as asyncio_client:
            return await asyncio.gather(*[call(asyncio_client) for call in calls])

    assert asyncio.run(answers()) == [call(client) for call in calls]
