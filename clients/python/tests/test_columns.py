"""Columns of answers by name, and last runs."""

from __future__ import annotations

import asyncio
import random
import uuid
from array import array
from datetime import datetime, time, timedelta, timezone

import pytest

import offbeat
from offbeat import (
    DEFAULT_COLUMNS,
    CalendarCycle,
    CalendarUnit,
    CycleWindow,
    ExclusionPolicy,
    RecurringExclusion,
    Schedule,
)

NOON = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
EIGHT_HOURS = Schedule(timedelta(hours=8))
LAST = "last_run_unix_millis"


def test_the_last_run_is_told_only_on_request(client):
    ids = list(range(70_000))
    plain = client.assign_slots(EIGHT_HOURS, ids, from_time=NOON)
    assert len(plain.last_run_unix_millis) == 0
    assert plain[7].last_run_time is None
    rows = client.assign_slots(EIGHT_HOURS, ids, from_time=NOON, columns=[*DEFAULT_COLUMNS, LAST])
    assert rows.slot_indexes == plain.slot_indexes
    for id_ in (0, 7, 69_999):
        one = client.assign_slot(EIGHT_HOURS, id_, from_time=NOON)
        assert rows[id_].last_run_time == one.last_run.start_time
        assert rows[id_].next_run == plain[id_].next_run == one.next_run
    eight_hours = 8 * 3_600_000
    runs = zip(rows.last_run_unix_millis, rows.next_run_unix_millis)
    assert all(following - last == eight_hours for last, following in runs)


def test_a_last_run_that_exclusions_skip_is_none(client):
    # Runs of the first half of each day are skipped.
    daily = CalendarCycle(CalendarUnit.DAY, "UTC")
    never = RecurringExclusion(daily, CycleWindow(time(0), time(12)), ExclusionPolicy.SKIP)
    schedule = Schedule(calendar=daily, slot_count=24, exclusions=[never])
    every = client.assign_slots(
        schedule, range(200), from_time=NOON, columns=[*DEFAULT_COLUMNS, LAST], return_errors=True
    )
    assert 50 < len(every.errors) < 150
    refused = {error.id_index for error in every.errors}
    assert {id_ for id_, last in enumerate(every.last_run_unix_millis) if last == -1} == refused
    for row in every.accepted():
        assert timedelta(0) < NOON - row.last_run_time < timedelta(days=1)


def test_columns_of_streams(client):
    columns = ["next_run_unix_millis", LAST]
    expected = client.assign_slots(EIGHT_HOURS, range(20_000), from_time=NOON, columns=columns)
    stream = list(
        client.stream_slot_assignments(EIGHT_HOURS, range(20_000), from_time=NOON, columns=columns)
    )
    assert sum(len(answer) for answer in stream) == 20_000
    for name in columns:
        whole = array("q")
        for answer in stream:
            whole.extend(getattr(answer, name))
        assert whole == getattr(expected, name)
    assert len(stream[0].slot_indexes) == 0

    async def ask():
        async with offbeat.AsyncClient() as other:
            rows = await other.assign_slots(
                EIGHT_HOURS, range(20_000), from_time=NOON, columns=columns
            )
            answers = other.stream_slot_assignments(
                EIGHT_HOURS, range(20_000), from_time=NOON, columns=columns
            )
            return rows, [answer async for answer in answers]

    assert asyncio.run(ask()) == (expected, stream)


def test_packed_ids_have_last_runs_too(client):
    source = random.Random("last")
    ids = [uuid.UUID(int=source.getrandbits(128)) for _ in range(500)]
    packed = client.assign_packed(
        EIGHT_HOURS, uuids=b"".join(id_.bytes for id_ in ids), from_time=NOON, columns=[LAST]
    )
    rows = client.assign_slots(EIGHT_HOURS, ids, from_time=NOON, columns=[LAST])
    assert packed.last_run_unix_millis == rows.last_run_unix_millis
    assert (len(packed), len(packed.next_run_unix_millis)) == (500, 0)


def test_rows_need_their_columns(client):
    rows = client.assign_slots(EIGHT_HOURS, ["acme"], from_time=NOON, columns=["cycle_indexes"])
    assert (len(rows), len(rows.cycle_indexes), len(rows.slot_indexes)) == (1, 1, 0)
    for ask in (
        lambda: rows[0],
        lambda: rows[:],
        lambda: list(rows),
        lambda: next(rows.accepted()),
        lambda: rows.run_key(0),
    ):
        with pytest.raises(LookupError, match="not asked for: slot_indexes"):
            ask()
    columns = ["slot_indexes", "cycle_indexes"]
    keys = client.assign_slots(EIGHT_HOURS, ["acme"], from_time=NOON, columns=columns)
    one = client.assign_slot(EIGHT_HOURS, "acme", from_time=NOON)
    assert keys.run_key(0) == one.next_run.run_key


@pytest.mark.parametrize(
    ("columns", "field"),
    [
        (["slot_indexes", "errors"], "read_mask.paths[1]"),
        (["slot_indexes", 7], "read_mask.paths[1]"),
        (LAST, "read_mask.paths"),
    ],
)
def test_columns_that_are_none_are_refused(client, columns, field):
    for ask in (
        lambda: client.assign_slots(EIGHT_HOURS, ["acme"], columns=columns),
        lambda: list(client.stream_slot_assignments(EIGHT_HOURS, ["acme"], columns=columns)),
        lambda: client.assign_packed(EIGHT_HOURS, uuids=bytes(16), columns=columns),
    ):
        with pytest.raises(offbeat.InvalidArgument) as caught:
            ask()
        assert caught.value.field == field


def test_refused_ids_of_a_stream_are_counted_from_its_start(client):
    ids = ["0" * 32] * 8_192 + ["1" * 32, "bad"]
    stream = client.stream_slot_assignments(EIGHT_HOURS, ids, id_type=offbeat.IdType.UUID)
    first, second = stream
    assert first.errors == ()
    assert [(error.id_index, error.field) for error in second.errors] == [(8_193, "ids[8193]")]
    assert (second.first_id_index, [row.id for row in second.accepted()]) == (8_192, ["1" * 32])
    with pytest.raises(LookupError, match=r"ids\[8193\] was refused"):
        second[1]
