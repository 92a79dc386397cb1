"""Packed batches, against what Python itself computes and against batches of IDs."""

from __future__ import annotations

import asyncio
import hashlib
import random
import uuid
from array import array
from datetime import datetime, time, timedelta, timezone

import pytest

import offbeat
from offbeat import (
    CalendarCycle,
    CalendarUnit,
    CycleWindow,
    ExclusionPolicy,
    Placement,
    RecurringExclusion,
    Schedule,
    TwisterProfile,
)

NOON = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
COLUMNS = (
    "slot_indexes",
    "slot_offset_ticks",
    "cycle_offset_ticks",
    "cycle_indexes",
    "next_run_unix_millis",
)


@pytest.fixture(scope="module")
def ids():
    source = random.Random("packed")
    return [uuid.UUID(int=source.getrandbits(128)) for _ in range(3_000)]


def packed(ids):
    return b"".join(each.bytes for each in ids)


def test_hashes_of_uuids_equal_hashlib(client, ids):
    schedule = Schedule(timedelta(days=1), slot_count=96, salt="billing")
    found = client.assign_packed(schedule, uuids=packed(ids), from_time=NOON)
    for each, slot, offset in zip(ids, found.slot_indexes, found.cycle_offset_ticks):
        digest = hashlib.md5(f"billing{each}".encode()).digest()
        h = int.from_bytes(digest[:8], "big")
        assert (slot, offset) == (h * 96 >> 64, h * 86_400 >> 64)
    for each, cycle, millis in zip(ids, found.cycle_indexes, found.next_run_unix_millis):
        assert NOON.timestamp() * 1_000 <= millis < NOON.timestamp() * 1_000 + 86_400_000, each
        assert cycle == millis // 86_400_000


def test_twisters_of_integers_equal_this_very_interpreter(client):
    schedule = Schedule(
        timedelta(hours=8),
        slot_count=15,
        placement=Placement.TWISTER,
        profile=TwisterProfile.PYTHON,
    )
    source = random.Random("seeds")
    seeds = [source.getrandbits(64) - (1 << 63) >> source.choice([0, 31, 56]) for _ in range(2_000)]
    found = client.assign_packed(schedule, integers=array("q", seeds), from_time=NOON)
    assert list(found.slot_indexes) == [seed % 256 * 15 // 256 for seed in seeds]
    assert list(found.slot_offset_ticks) == [random.Random(s).randrange(1_920) for s in seeds]


@pytest.mark.parametrize("count", [1, 255, 256, 257, 65_536, 65_537, 140_000])
def test_packed_ids_and_ids_are_answered_alike(client, count):
    source = random.Random(count)
    ids = [uuid.UUID(int=source.getrandbits(128)) for _ in range(count)]
    schedule = Schedule(timedelta(days=7), slot_count=168, resolution=timedelta(milliseconds=1))
    found = client.assign_packed(schedule, uuids=packed(ids), from_time=NOON, kind="sync")
    same = client.assign_slots(schedule, ids, from_time=NOON, kind="sync")
    assert len(found) == count
    for name in COLUMNS:
        assert getattr(found, name) == getattr(same, name), name
    assert (found.fingerprint, found.resolution) == (same.fingerprint, same.resolution)
    key = f"{found.run_key_prefix}/{found.cycle_indexes[-1]}/0/{ids[-1]}"
    assert key == same.run_key(count - 1)


@pytest.mark.parametrize("count", [1, 70_000])
@pytest.mark.parametrize("wanted", [*([name] for name in COLUMNS), COLUMNS[:1] + COLUMNS[-1:]])
def test_columns_that_nobody_wants_stay_empty(client, count, wanted):
    schedule = Schedule(timedelta(days=1), slot_count=24)
    integers = array("q", range(count))
    every = client.assign_packed(schedule, integers=integers, from_time=NOON)
    found = client.assign_packed(schedule, integers=integers, from_time=NOON, columns=wanted)
    assert len(found) == count
    for name in COLUMNS:
        kept = getattr(every, name) if name in wanted else getattr(every, name)[:0]
        assert getattr(found, name) == kept, name


def test_columns_that_are_none_are_refused(client):
    with pytest.raises(offbeat.InvalidArgument) as refused:
        client.assign_packed(Schedule(timedelta(days=1)), uuids=bytes(16), columns=["errors"])
    assert refused.value.field == "read_mask.paths[0]"
    assert "next_run_unix_millis" in refused.value.allowed


def test_any_bytes_will_do_and_none_too(client, ids):
    schedule = Schedule(timedelta(days=1))
    found = client.assign_packed(schedule, uuids=packed(ids), from_time=NOON)
    for same in (bytearray(packed(ids)), memoryview(packed(ids))):
        assert client.assign_packed(schedule, uuids=same, from_time=NOON) == found
    nothing = client.assign_packed(schedule, uuids=b"")
    assert (len(nothing), nothing.fingerprint) == (0, found.fingerprint)


def test_asyncio_answers_alike(client, ids):
    schedule = Schedule(timedelta(days=1))

    async def ask():
        async with offbeat.AsyncClient() as other:
            return await other.assign_packed(schedule, uuids=packed(ids), from_time=NOON)

    assert asyncio.run(ask()) == client.assign_packed(schedule, uuids=packed(ids), from_time=NOON)


def test_refused_ids_stand_in_the_errors(client):
    daily = CalendarCycle(CalendarUnit.DAY, "Asia/Kolkata")
    never = RecurringExclusion(daily, CycleWindow(time(12), time(18)), ExclusionPolicy.SKIP)
    schedule = Schedule(calendar=daily, slot_count=24, exclusions=[never])
    integers = array("q", range(500))
    with pytest.raises(offbeat.BadIds) as bad:
        client.assign_packed(schedule, integers=integers, from_time=NOON)
    found = client.assign_packed(schedule, integers=integers, from_time=NOON, return_errors=True)
    same = client.assign_slots(schedule, range(500), from_time=NOON, return_errors=True)
    assert found.errors == same.errors == bad.value.errors
    assert 50 < len(found.errors) < 250
    assert all(found.slot_indexes[error.id_index] == -1 for error in found.errors)
    assert bad.value.answer == found


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({}, "uuids"),
        ({"uuids": b"", "integers": array("q")}, "uuids"),
        ({"uuids": bytes(17)}, "uuids"),
        ({"uuids": "a" * 16}, "uuids"),
        ({"integers": [1, 2]}, "integers"),
        ({"integers": array("i", [1])}, "integers"),
    ],
)
def test_what_is_not_packed_is_refused(client, given, field):
    with pytest.raises(offbeat.InvalidArgument) as refused:
        client.assign_packed(Schedule(timedelta(days=1)), **given)
    assert refused.value.field == field
