"""Time zones by ID: each ID runs by the wall clock of its own zone."""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
from array import array
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

import offbeat
from offbeat import (
    CalendarCycle,
    CalendarUnit,
    Schedule,
    SqlColumnType,
    SqlDialect,
    SqlTarget,
    _questions,
)
from offbeat._weights import PieceLimits

NOON = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
ZONES = ["Asia/Tokyo", "America/New_York", "Europe/Berlin", None]
BERLIN = "Europe/Berlin"


def daily(zone: str) -> Schedule:
    return Schedule(calendar=CalendarCycle(CalendarUnit.DAY, zone), slot_count=24)


HOME = daily(BERLIN)


@pytest.fixture(scope="module")
def ids():
    return [f"user-{number}" for number in range(1_000)]


@pytest.fixture(scope="module")
def zones(ids):
    return [ZONES[index % len(ZONES)] for index in range(len(ids))]


@pytest.fixture(scope="module")
def expected(client, ids, zones):
    """Return when each ID runs next by the schedule of its own zone."""
    by_zone = {
        zone: client.assign_slots(daily(zone or BERLIN), ids, from_time=NOON) for zone in ZONES
    }
    return [by_zone[zone][index].next_run_time for index, zone in enumerate(zones)]


def test_each_id_runs_at_its_time_at_home(client, ids, zones, expected):
    rows = client.assign_slots(HOME, ids, from_time=NOON, time_zones=zones)
    assert [row.next_run_time for row in rows] == expected
    plain = client.assign_slots(HOME, ids, from_time=NOON)
    assert rows.slot_indexes == plain.slot_indexes
    assert rows.next_run_unix_millis != plain.next_run_unix_millis
    for row, zone in zip(rows, zones):
        at_home = row.next_run_time.astimezone(ZoneInfo(zone or BERLIN))
        assert at_home.replace(tzinfo=None) == at_home.replace(
            hour=0, minute=0, second=0, tzinfo=None
        ) + (row.cycle_offset)
    assert rows.time_zone_database
    # The run key does not contain the zone.
    assert rows[0].run_key.startswith(f"{rows.fingerprint}/default/")


def test_one_id_and_its_zone(client, ids, zones, expected):
    for index in range(8):
        zone = zones[index]
        one = client.assign_slot(HOME, ids[index], from_time=NOON, time_zone=zone)
        assert one.next_run.start_time == expected[index]
        assert one.time_zone_database
        if zone is not None:
            again = client.assign_slot(HOME, ids[index], from_time=NOON, time_zone=ZoneInfo(zone))
            assert again == one


def test_zones_come_in_any_form(client, ids, zones, expected):
    known = {id_: zone for id_, zone in zip(ids, zones) if zone is not None}
    for time_zones in (
        iter(zones),
        known,
        {id_: ZoneInfo(zone) for id_, zone in known.items()},
        {**known, ids[3]: None, "nobody": "Europe/Paris"},
    ):
        rows = client.assign_slots(HOME, ids, from_time=NOON, time_zones=time_zones)
        assert [row.next_run_time for row in rows] == expected
    nobody = client.assign_slots(HOME, ids, from_time=NOON, time_zones={})
    assert nobody == client.assign_slots(HOME, ids, from_time=NOON)


def test_zones_are_a_dictionary_on_the_wire():
    def column(time_zones):
        ids = range(len(time_zones))
        (batch,) = _questions.cut(ids, None, None, PieceLimits(), time_zones)
        made = batch.column()
        return list(made.time_zones), list(made.time_zone_indexes)

    berlin, tokyo = "Europe/Berlin", "Asia/Tokyo"
    assert column([None, berlin, tokyo, berlin, None]) == ([berlin, tokyo], [-1, 0, 1, 0, -1])
    assert column([berlin]) == ([berlin], [0])
    assert column([None, None]) == ([], [])


def test_batches_and_halves_keep_ids_and_zones_together():
    ids = list(range(70_000))
    zones = [ZONES[id_ % 4] for id_ in ids]
    weights = [1 + id_ % 3 for id_ in ids]
    limits = PieceLimits(weight_quantum=1, slot_count=24)
    for time_zones in (zones, dict(zip(ids, zones))):
        parts = list(_questions.cut(ids, None, weights, limits, time_zones))
        assert len(parts) > 2
        parts = [half for part in parts for half in part.halves()]
        taken = [row for part in parts for row in zip(part.ids, part.weights, part.zones)]
        assert taken == list(zip(ids, weights, zones))


def test_streams_and_due_runs_take_zones(client, ids, zones, expected):
    stream = client.stream_slot_assignments(HOME, iter(ids), from_time=NOON, time_zones=zones)
    (answer,) = list(stream)
    assert [row.next_run_time for row in answer] == expected
    due = client.list_due_runs(
        HOME, ids, watermark=NOON, now_time=NOON, look_ahead=6 * HOUR, time_zones=zones
    )
    assert [(run.id, run.start_time) for run in due] == [
        (id_, run) for id_, run in zip(ids, expected) if run < NOON + 6 * HOUR
    ]
    assert due.next_due_time == min(run for run in expected if run >= NOON + 6 * HOUR)


def test_late_kinds_keep_apart_in_zones_of_their_own(client, ids, zones):
    schedule = replace(HOME, kinds=["import", "export", "check"])
    # The clocks of Berlin have just gone forward.
    now = datetime(2026, 3, 29, 2, 30, tzinfo=timezone.utc)
    starts: dict[object, list[datetime]] = {}
    for kind in schedule.kinds:
        due = client.list_due_runs(
            schedule, ids, watermark=now - DAY, now_time=now, kind=kind.name, time_zones=zones
        )
        for run in due:
            if run.late:
                starts.setdefault(run.id, []).append(run.start_time)
    # A turn is 3 hours, an eighth of a day, and each kind has a third of it.
    gaps = [b - a for mine in map(sorted, starts.values()) for a, b in zip(mine, mine[1:])]
    assert len(gaps) > 1_000
    assert min(gaps) >= HOUR - timedelta(milliseconds=1)


def test_packed_zones(client):
    numbers = array("q", range(70_000))
    names = ["Asia/Tokyo", ZoneInfo("America/New_York")]
    indexes = array("i", [number % 3 - 1 for number in numbers])
    packed = client.assign_packed(
        HOME, integers=numbers, from_time=NOON, time_zones=names, time_zone_indexes=indexes
    )
    zones = [[None, "Asia/Tokyo", "America/New_York"][number % 3] for number in numbers]
    rows = client.assign_slots(HOME, numbers, from_time=NOON, time_zones=zones)
    assert packed.next_run_unix_millis == rows.next_run_unix_millis
    assert packed.time_zone_database == rows.time_zone_database
    for wrong in (array("i", [0]), array("i", [0] * 70_001), array("q", [0] * 70_000), [0]):
        with pytest.raises(offbeat.InvalidArgument) as caught:
            client.assign_packed(HOME, integers=numbers, time_zones=names, time_zone_indexes=wrong)
        assert caught.value.field == "time_zone_indexes"
    with pytest.raises(offbeat.InvalidArgument) as caught:
        client.assign_packed(HOME, integers=numbers[:9], time_zones=names)
    assert caught.value.field.startswith("ids.time_zone")


def test_predicates_take_the_column_of_the_zone(client, ids, zones, expected):
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE account (id TEXT, hash TEXT, zone TEXT)")
    database.executemany(
        "INSERT INTO account VALUES (?, ?, ?)",
        [(id_, hashlib.md5(id_.encode()).hexdigest(), zone) for id_, zone in zip(ids, zones)],
    )
    column = SqlTarget(
        SqlDialect.SQLITE, "account", "hash", SqlColumnType.HASH_DIGITS, time_zone_column="zone"
    )
    predicate = client.window_predicate(
        HOME,
        column,
        start_time=NOON,
        end_time=NOON + 6 * HOUR,
        time_zones=["Asia/Tokyo", ZoneInfo("America/New_York")],
    )
    query = f"SELECT id FROM account WHERE {predicate.sql}"
    selected = {row[0] for row in database.execute(query)}
    # IDs of Berlin, and without a zone, are not selected.
    assert selected == {
        id_
        for id_, zone, run in zip(ids, zones, expected)
        if zone in ("Asia/Tokyo", "America/New_York") and run < NOON + 6 * HOUR
    }
    assert selected
    for zones_of_question, field in [
        ("Asia/Tokyo", "time_zones"),
        ([5], "time_zones[0]"),
        (["Asia/Tokio"], "time_zones[0]"),
    ]:
        with pytest.raises(offbeat.InvalidArgument) as caught:
            client.window_predicate(
                HOME, column, end_time=NOON + HOUR, start_time=NOON, time_zones=zones_of_question
            )
        assert caught.value.field == field


def test_asyncio_answers_the_same(client, ids, zones):
    async def ask():
        async with offbeat.AsyncClient() as asyncio_client:
            one = await asyncio_client.assign_slot(
                HOME, "acme", from_time=NOON, time_zone="Asia/Tokyo"
            )
            many = await asyncio_client.assign_slots(HOME, ids, from_time=NOON, time_zones=zones)
            stream = asyncio_client.stream_slot_assignments(
                HOME, ids, from_time=NOON, time_zones=zones
            )
            due = await asyncio_client.list_due_runs(
                HOME, ids, watermark=NOON - HOUR, now_time=NOON, time_zones=zones
            )
            return one, many, [answer async for answer in stream], due

    assert asyncio.run(ask()) == (
        client.assign_slot(HOME, "acme", from_time=NOON, time_zone="Asia/Tokyo"),
        client.assign_slots(HOME, ids, from_time=NOON, time_zones=zones),
        list(client.stream_slot_assignments(HOME, ids, from_time=NOON, time_zones=zones)),
        client.list_due_runs(HOME, ids, watermark=NOON - HOUR, now_time=NOON, time_zones=zones),
    )


@pytest.mark.parametrize(
    ("time_zones", "field"),
    [
        ("Asia/Tokyo", "time_zones"),
        (ZoneInfo("Asia/Tokyo"), "time_zones"),
        (["Asia/Tokyo"], "time_zones"),
        (["Asia/Tokyo"] * 3, "time_zones[2]"),
        (["Asia/Tokyo", 9], "time_zones[1]"),
        ({"a": 9}, "time_zones['a']"),
        (["Asia/Tokyo", "\ud800"], "time_zones[1]"),
    ],
)
def test_zones_that_are_wrong_are_refused(client, time_zones, field):
    for ask in (
        lambda: client.assign_slots(HOME, ["a", "b"], time_zones=time_zones),
        lambda: list(client.stream_slot_assignments(HOME, ["a", "b"], time_zones=time_zones)),
        lambda: client.list_due_runs(HOME, ["a", "b"], watermark=NOON, time_zones=time_zones),
    ):
        with pytest.raises(offbeat.InvalidArgument) as caught:
            ask()
        assert caught.value.field == field


def test_zones_need_a_calendar_and_a_name_that_is_known(client):
    elapsed = Schedule(DAY, slot_count=24)
    with pytest.raises(offbeat.InvalidArgument) as caught:
        client.assign_slots(elapsed, ["a"], time_zones=["Asia/Tokyo"])
    assert caught.value.field == "ids.time_zones[0]"
    with pytest.raises(offbeat.InvalidArgument) as caught:
        client.assign_slot(elapsed, "a", time_zone="Asia/Tokyo")
    assert caught.value.field == "time_zone"
    with pytest.raises(offbeat.InvalidArgument) as caught:
        client.assign_slot(HOME, "a", time_zone="Asia/Tokio")
    assert caught.value.field == "time_zone"
    assert caught.value.reason == "ERROR_REASON_UNKNOWN_TIME_ZONE"
    with pytest.raises(offbeat.InvalidArgument) as caught:
        client.assign_slot(HOME, "a", time_zone=9)
    assert caught.value.field == "time_zone"
    with pytest.raises(offbeat.InvalidArgument) as caught:
        client.assign_slots(HOME, ["a", "b"], time_zones=["Asia/Tokyo", "Asia/Tokio"])
    assert caught.value.field == "ids.time_zones[1]"
