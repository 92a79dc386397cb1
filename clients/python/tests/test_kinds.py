"""Kinds of job that never meet on one ID, against Python's own arithmetic."""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest
from three_kinds import EPOCH, PERIOD, SLOTS, THREE, digest, place

import offbeat
from offbeat import (
    CalendarCycle,
    CalendarUnit,
    CatchUpPolicy,
    Kind,
    KindSpacing,
    Schedule,
    SqlColumnType,
    SqlDialect,
    SqlTarget,
)
from offbeat._connect import Transport
from offbeat.access import Access
from offbeat.v1 import slots_pb2

UTC = timezone.utc
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
COLUMN = SqlTarget(SqlDialect.SQLITE, "account", "hash", SqlColumnType.HASH_DIGITS)
BERLIN = CalendarCycle(CalendarUnit.DAY, "Europe/Berlin")


@pytest.mark.parametrize("kind", SLOTS)
def test_a_kind_has_a_place_of_its_own(client, kind):
    ids = list(range(3_000))
    rows = client.assign_slots(THREE, ids, from_time=NOON, kind=kind)
    assert [(row.slot_index, row.cycle_offset) for row in rows] == [place(id_, kind) for id_ in ids]
    one = client.assign_slot(THREE, 7, from_time=NOON, kind=kind, next_run_count=2)
    assert one.next_runs[0] == rows[7].next_run
    assert (one.slot_index, one.cycle_offset) == place(7, kind)
    assert one.next_run.kind == kind
    assert one.next_run.run_key == f"{one.fingerprint}/{kind}/{one.next_run.cycle_index}/0/7"
    (streamed,) = client.stream_slot_assignments(THREE, ids, from_time=NOON, kind=kind)
    assert (streamed.slot_indexes, streamed.kind) == (rows.slot_indexes, kind)
    assert streamed[7] == rows[7]


def test_run_ids_are_those_that_the_sidecar_composes(client, sidecar):
    request = slots_pb2.AssignSlotRequest(schedule=THREE.to_message(), kind="export")
    request.id.text = "acme"
    request.next_run_count = 3
    request.from_time.FromDatetime(NOON.replace(tzinfo=None))
    response = Transport(Access(sidecar.address)).call("AssignSlot", request, 10)
    expected = [run.run_id for run in response.pieces[0].next_runs]
    assert len(set(expected)) == 3
    one = client.assign_slot(THREE, "acme", from_time=NOON, kind="export", next_run_count=3)
    assert [run.run_id for run in one.next_runs] == expected
    (row,) = client.assign_slots(THREE, ["acme"], from_time=NOON, kind="export")
    assert row.next_run.run_id == expected[0]
    assert row.next_run.run_id == hashlib.sha256(row.run_key.encode()).hexdigest()[:32]
    fractions = Schedule(PERIOD, placement=offbeat.Placement.FRACTION)
    run = client.assign_slot(fractions, 0.5).next_run
    assert (run.run_key, run.run_id, run.kind) == ("", "", "default")


def test_a_schedule_says_where_its_kinds_stand(client):
    described = client.describe_schedule(THREE, at_time=NOON)
    assert [
        (kind.name, kind.offset_slot_count, kind.offset, kind.gap_slot_count, kind.run_budget)
        for kind in described.kinds
    ] == [(name, slots, slots * 5 * MINUTE, 32, 160 * MINUTE) for name, slots in SLOTS.items()]
    assert {(kind.run_time, kind.worst_cycle_start_time) for kind in described.kinds} == {
        (None, None)
    }
    assert described.max_cycle_duration == PERIOD
    # The defaults are filled in, and the resolved schedule is the same one.
    assert described.schedule.kinds == (Kind("import"), Kind("export"), Kind("check"))
    assert described.schedule.kind_spacing is KindSpacing.EVEN
    assert described.schedule.catch_up_span == HOUR
    assert client.describe_schedule(described.schedule).fingerprint == described.fingerprint
    assert "\nkind=export\n" in described.canonical_text
    assert client.describe_schedule(Schedule(PERIOD)).kinds == ()


def test_run_times_spacings_and_conflicts_decide_the_places(client):
    def offsets(**kinds):
        described = client.describe_schedule(Schedule(PERIOD, slot_count=96, **kinds))
        return [kind.offset_slot_count for kind in described.kinds]

    names = ["a", "b", "c"]
    assert offsets(kinds=names, kind_spacing=KindSpacing.STABLE) == [0, 48, 24]
    # Kinds a and c may meet: b is opposite to both.
    assert offsets(kinds=names, kind_conflicts=[("a", "b"), ["c", "b"]]) == [0, 48, 0]
    timed = [Kind("a", 25 * MINUTE), Kind("b", MINUTE), Kind("c", MINUTE)]
    # Kind a needs 5 slots, b and c need one each, and all share the other 89.
    assert offsets(kinds=timed) == [0, 34, 65]
    described = client.describe_schedule(Schedule(PERIOD, slot_count=96, kinds=timed))
    assert [kind.run_time for kind in described.kinds] == [25 * MINUTE, MINUTE, MINUTE]
    assert [kind.run_budget for kind in described.kinds] == [
        slots * 5 * MINUTE for slots in (34, 31, 31)
    ]


def test_a_change_of_the_clocks_that_shortens_a_budget_is_named(client):
    schedule = Schedule(calendar=BERLIN, slot_count=24, kinds=["import", "export"])
    described = client.describe_schedule(schedule)
    assert described.max_cycle_duration == timedelta(days=1)
    assert described.time_zone_database
    # The change of the clocks at 01:00 UTC on the last Sunday of March takes one of 12 hours.
    assert {kind.run_budget for kind in described.kinds} == {11 * HOUR}
    for kind in described.kinds:
        assert kind.gap_slot_count == 12
        start = kind.worst_cycle_start_time
        assert (start.month, start.hour, start.weekday()) == (3, 23, 5)
    # Kinds that are only counted have the same budget.
    placed = client.reciprocal_slots(Schedule(calendar=BERLIN, slot_count=24), kind_count=2)
    assert [kind.run_budget for kind in placed.kinds] == [11 * HOUR] * 2


def test_predicates_select_the_rows_of_a_kind(client):
    ids = list(range(5_000))
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE account (id INTEGER, hash TEXT)")
    database.executemany("INSERT INTO account VALUES (?, ?)", [(i, digest(i).hex()) for i in ids])

    def selected(predicate) -> set[int]:
        query = f"SELECT id FROM account WHERE {predicate.sql}"
        return {row[0] for row in database.execute(query)}

    for kind in SLOTS:
        slots = client.list_slots(THREE, start_time=EPOCH, sql_target=COLUMN, kind=kind)
        assert len(slots) == 96
        for slot in slots[::7]:
            mine = {id_ for id_ in ids if place(id_, kind)[0] == slot.slot_index}
            assert selected(slot.predicate) == mine
        window = client.window_predicate(
            THREE, COLUMN, start_time=EPOCH + HOUR, end_time=EPOCH + 2 * HOUR, kind=kind
        )
        mine = {id_ for id_ in ids if HOUR <= place(id_, kind)[1] < 2 * HOUR}
        assert selected(window) == mine
        assert mine


def test_migrations_of_kinds(client):
    new = replace(THREE, slot_count=192)
    plan = client.plan_migration(THREE, new, range(50), cutover_time=NOON, kind="check")
    for row in plan.ids:
        one = client.assign_slot(THREE, row.id, from_time=plan.cutover_time, kind="check")
        assert row.last_old_run == one.last_run
        run = client.assign_slot(new, row.id, from_time=plan.cutover_time, kind="check").next_run
        assert row.first_new_run == run
    with pytest.raises(offbeat.InvalidArgument) as caught:
        client.plan_migration(THREE, new, range(50))
    assert caught.value.field == "kind"


@pytest.mark.parametrize("kind", SLOTS)
def test_an_audit_looks_at_the_slots_of_a_kind(client, kind):
    ids = range(2_000)
    audit = client.audit_ids(THREE, ids, kind=kind)
    loads = Counter(place(id_, kind)[0] for id_ in ids)
    assert audit.slot_loads == tuple(loads[slot] for slot in range(96))

    async def ask():
        async with offbeat.AsyncClient() as other:
            return await other.audit_ids(THREE, ids, kind=kind)

    assert asyncio.run(ask()) == audit


def test_kinds_of_a_schedule_of_the_file(client):
    described = client.describe_schedule("accounts/1")
    assert [kind.name for kind in described.kinds] == ["import", "export"]
    assert described.run_key_root == "accounts/1"
    runs = [
        client.assign_slot("accounts/1", "acme", from_time=NOON, kind=kind.name).next_run
        for kind in described.kinds
    ]
    assert abs(runs[1].start_time - runs[0].start_time) == 4 * HOUR
    assert [run.run_key for run in runs] == [
        f"accounts/1/{run.kind}/{run.cycle_index}/0/acme" for run in runs
    ]


def test_asyncio_answers_the_same(client):
    question = {"watermark": NOON - 9 * HOUR, "now_time": NOON, "kind": "export"}
    calls = [
        lambda client: client.describe_schedule(THREE, at_time=NOON),
        lambda client: client.list_slots(THREE, start_time=NOON, sql_target=COLUMN, kind="check"),
        lambda client: client.window_predicate(
            THREE, COLUMN, start_time=NOON, end_time=NOON + MINUTE, kind="check"
        ),
        lambda client: client.assign_slots(THREE, range(99), from_time=NOON, kind="import"),
        lambda client: client.list_due_runs(
            THREE,
            range(99),
            look_ahead=HOUR,
            catch_up_policy=CatchUpPolicy(min_gap=HOUR),
            **question,
        ),
    ]

    async def answers():
        async with offbeat.AsyncClient() as asyncio_client:
            return await asyncio.gather(*[call(asyncio_client) for call in calls])

    assert asyncio.run(answers()) == [call(client) for call in calls]


@pytest.mark.parametrize("kind", ["", "reports", "import/1"])
@pytest.mark.parametrize(
    "ask",
    [
        lambda client, kind: client.assign_slot(THREE, "acme", kind=kind),
        lambda client, kind: client.assign_slots(THREE, ["acme"], kind=kind),
        lambda client, kind: list(client.stream_slot_assignments(THREE, ["acme"], kind=kind)),
        lambda client, kind: client.assign_packed(THREE, uuids=bytes(16), kind=kind),
        lambda client, kind: client.list_due_runs(THREE, ["acme"], watermark=NOON, kind=kind),
        lambda client, kind: client.audit_ids(THREE, ["acme"], kind=kind),
        lambda client, kind: client.list_slots(THREE, sql_target=COLUMN, kind=kind),
        lambda client, kind: client.window_predicate(
            THREE, COLUMN, start_time=NOON, end_time=NOON + HOUR, kind=kind
        ),
    ],
)
def test_a_kind_that_is_not_declared_is_refused(client, ask, kind):
    with pytest.raises(offbeat.InvalidArgument) as caught:
        ask(client, kind)
    assert caught.value.field == "kind"
    assert "import, export, check" in caught.value.allowed


def test_without_kinds_the_name_is_a_label(client):
    schedule = Schedule(PERIOD)
    runs = [
        client.assign_slot(schedule, "acme", from_time=NOON, kind=kind).next_run
        for kind in ("", "sync")
    ]
    assert runs[0].start_time == runs[1].start_time
    assert [run.kind for run in runs] == ["default", "sync"]


@pytest.mark.parametrize(
    ("schedule", "field"),
    [
        (replace(THREE, kinds="import"), "kinds"),
        (replace(THREE, kinds={"import"}), "kinds"),
        (replace(THREE, kinds=["import", 5]), "kinds[1]"),
        (replace(THREE, kinds=[Kind("a"), Kind(5)]), "kinds[1].name"),
        (replace(THREE, kinds=[Kind("a", 600)]), "kinds[0].run_time"),
        (replace(THREE, kinds=["a", "a/b"]), "kinds[1].name"),
        (replace(THREE, kinds=["a", "a"]), "kinds[1].name"),
        (replace(THREE, kinds=["a", Kind("b", MINUTE)]), "kinds[1].run_time"),
        (replace(THREE, kinds=[str(kind) for kind in range(97)]), "kinds"),
        (replace(THREE, kind_spacing="even"), "kind_spacing"),
        (replace(THREE, kind_spacing=9), "kind_spacing"),
        (replace(THREE, kind_conflicts="ab"), "kind_conflicts"),
        (replace(THREE, kind_conflicts=["ab"]), "kind_conflicts[0]"),
        (replace(THREE, kind_conflicts=[("import", "export", "check")]), "kind_conflicts[0]"),
        (replace(THREE, kind_conflicts=[("import", 5)]), "kind_conflicts[0].second_kind"),
        (replace(THREE, kind_conflicts=[("report", "check")]), "kind_conflicts[0].first_kind"),
        (replace(THREE, catch_up_span=3_600), "catch_up_span"),
        (replace(THREE, catch_up_span=2 * HOUR), "catch_up_span"),
        (replace(THREE, weight_quantum=5), "weight_quantum"),
        (Schedule(PERIOD, catch_up_span=HOUR), "catch_up_span"),
        (Schedule(PERIOD, kind_spacing=KindSpacing.STABLE), "kind_spacing"),
        (Schedule(PERIOD, kind_conflicts=[("a", "b")]), "kind_conflicts"),
    ],
)
def test_kinds_that_cannot_be_are_refused_by_their_field(client, schedule, field):
    with pytest.raises(offbeat.InvalidArgument) as caught:
        client.describe_schedule(schedule)
    assert caught.value.field == f"schedule.spec.{field}"
