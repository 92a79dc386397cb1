"""Decisions against what Python itself computes: hashlib, random, exact integers."""

from __future__ import annotations

import enum
import hashlib
import json
import random
import uuid
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest
from conftest import VECTORS

from offbeat import IdType, KindSpacing, Placement, Schedule, TwisterProfile

NOON = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def some_ids(count: int) -> list[uuid.UUID]:
    rng = random.Random("ids of this test")
    return [uuid.UUID(int=rng.getrandbits(128)) for _ in range(count)]


def test_hash_equals_hashlib(client):
    schedule = Schedule(timedelta(days=1), slot_count=96, salt="billing")
    ids = some_ids(2_000)
    rows = client.assign_slots(schedule, ids, from_time=NOON)
    for row in rows:
        digest = hashlib.md5(("billing" + str(row.id)).encode()).digest()
        h = int.from_bytes(digest[:8], "big")
        assert row.slot_index == h * 96 >> 64
        assert row.cycle_offset == timedelta(seconds=h * 86_400 >> 64)
        assert row.slot_offset == row.cycle_offset - row.slot_index * timedelta(minutes=15)


def test_twister_equals_this_very_interpreter(client):
    schedule = Schedule(
        timedelta(hours=8),
        slot_count=15,
        placement=Placement.TWISTER,
        profile=TwisterProfile.PYTHON,
    )
    rng = random.Random("seeds")
    seeds = [
        rng.choice([-1, 1]) * rng.getrandbits(rng.choice([8, 31, 33, 64, 128]))
        for _ in range(3_000)
    ]
    for row in client.assign_slots(schedule, seeds, from_time=NOON):
        assert row.slot_index == (row.id % 256) * 15 // 256
        assert row.slot_offset == timedelta(seconds=random.Random(row.id).randrange(1_920))


def test_uuids_are_placed_as_ruby_places_them(client):
    cases = json.loads((VECTORS / "uuid_ids.json").read_text())["cases"]
    for number, wanted in enumerate(cases[0]["placements"]):
        schedule = Schedule(
            timedelta(seconds=wanted["cycle"]),
            slot_count=wanted["slots"],
            placement=Placement.TWISTER,
        )
        ids = [case["uuid"].upper() for case in cases]
        rows = client.assign_slots(schedule, ids, id_type=IdType.UUID, from_time=NOON)
        for row, case in zip(rows, cases):
            expected = case["placements"][number]
            assert row.slot_index == expected["slot"]
            assert row.slot_offset == timedelta(seconds=expected["offset"])


def test_fractions_equal_ieee_doubles(client):
    cases = json.loads((VECTORS / "hash_placement.json").read_text())["fraction"]
    for ticks in sorted({case["ticks"] for case in cases}):
        schedule = Schedule(
            timedelta(milliseconds=ticks),
            slot_count=1,
            placement=Placement.FRACTION,
            resolution=timedelta(milliseconds=1),
        )
        mine = [case for case in cases if case["ticks"] == ticks]
        rows = client.assign_slots(schedule, [float(case["fraction"]) for case in mine])
        assert list(rows.cycle_offset_ticks) == [case["offset"] for case in mine]


@pytest.mark.parametrize(
    "id_value", [uuid.UUID(int=7), 42, -42, 2**127, -(2**128 - 1), "acme", "", "Ünïcødé ✓"]
)
def test_one_id_is_assigned_as_in_a_batch(client, id_value):
    schedule = Schedule(timedelta(hours=8), resolution=timedelta(milliseconds=10), anchor_time=NOON)
    one = client.assign_slot(schedule, id_value, from_time=NOON, next_run_count=3, kind="sync")
    row = client.assign_slots(schedule, [id_value], from_time=NOON, kind="sync")[0]
    assert (row.slot_index, row.slot_offset, row.cycle_offset) == (
        one.slot_index,
        one.slot_offset,
        one.cycle_offset,
    )
    assert row.next_run == one.next_run
    assert (row.next_run_time, row.run_key) == (one.next_run.start_time, one.next_run.run_key)
    assert (row.next_run.id, row.next_run.kind) == (id_value, "sync")
    assert row.run_key == f"{one.fingerprint}/sync/0/0/{id_value}"
    assert one.explanation.canonical_id == str(id_value)
    digest = hashlib.md5(str(id_value).encode()).hexdigest()
    assert one.explanation.hash == digest[:16]
    assert (one.explanation.bucket, one.explanation.fraction) == (None, None)
    assert row.next_run_time == NOON + row.cycle_offset
    runs = [one.last_run, *one.next_runs]
    assert [run.cycle_index for run in runs] == [-1, 0, 1, 2]
    assert {b.start_time - a.start_time for a, b in zip(runs, runs[1:])} == {timedelta(hours=8)}


class Number(enum.IntEnum):
    SEVEN = 7


class Word(str, enum.Enum):
    ACME = "acme"


@pytest.mark.parametrize(("member", "plain"), [(Number.SEVEN, 7), (Word.ACME, "acme")])
def test_members_of_enums_are_what_they_stand_for(client, member, plain):
    schedule = Schedule(timedelta(hours=8))
    expected = client.assign_slot(schedule, plain, from_time=NOON).next_run
    assert client.assign_slot(schedule, member, from_time=NOON).next_run == expected
    row = client.assign_slots(schedule, [member, plain], from_time=NOON)[0]
    assert (row.run_key, row.next_run_time) == (expected.run_key, expected.start_time)


def test_run_keys_of_every_type_agree(client):
    hashed = Schedule(timedelta(hours=8))
    text = "0190D7A211117abc8def0123456789ab"
    for schedule, id_value, id_type in [
        (hashed, text, IdType.UUID),
        (hashed, "-7", IdType.INTEGER),
        (Schedule(timedelta(hours=8), placement=Placement.FRACTION), 1e-7, None),
        (Schedule(timedelta(hours=8), placement=Placement.FRACTION), -0.0, None),
    ]:
        one = client.assign_slot(schedule, id_value, id_type=id_type, from_time=NOON)
        row = client.assign_slots(schedule, [id_value], id_type=id_type, from_time=NOON)[0]
        assert row.run_key == one.next_run.run_key
        assert bool(row.run_key) is (schedule.placement is not Placement.FRACTION)


def test_the_fingerprint_is_the_sha_256_of_the_canonical_text(client):
    described = client.describe_schedule(
        Schedule(timedelta(hours=8), slot_count=96, salt="line\nfeed", anchor_time=NOON),
        at_time=NOON + timedelta(hours=1),
        population=100_000,
    )
    text = (
        "offbeat.v1.Schedule\nperiod=28800s\nresolution=1s\nanchor_time=2026-03-01T12:00:00Z\n"
        "slot_count=96\nplacement=HASH\nsalt=line\nfeed"
    )
    assert described.canonical_text == text
    assert described.fingerprint == hashlib.sha256(text.encode()).hexdigest()
    assert described.slot_duration == timedelta(minutes=5)
    assert (described.slot.slot_index, described.slot.cycle_index) == (12, 0)
    assert described.cycle_start_time == NOON
    assert described.slot_load.mean == pytest.approx(100_000 / 96)
    assert described.slot_load.fullest_median > described.slot_load.mean
    assert described.bucket_share is None
    # The resolved schedule is the same schedule.
    assert client.describe_schedule(described.schedule).fingerprint == described.fingerprint


def test_twister_fingerprints_and_shares(client):
    described = client.describe_schedule(
        Schedule(timedelta(hours=8), slot_count=15, placement=Placement.TWISTER)
    )
    text = (
        "offbeat.v1.Schedule\nperiod=28800s\nresolution=1s\nanchor_time=1970-01-01T00:00:00Z\n"
        "slot_count=15\nplacement=TWISTER\nbucket_count=256\nprofile=RUBY"
    )
    assert described.fingerprint == hashlib.sha256(text.encode()).hexdigest()
    share = described.bucket_share
    assert (share.min_bucket_count, share.max_bucket_count) == (17, 18)
    assert share.fullest_to_mean_ratio == pytest.approx(18 / (256 / 15))
    assert described.slot_load is None


def test_slots_tile_a_day(client):
    schedule = Schedule(timedelta(hours=8), slot_count=4)
    slots = client.list_slots(schedule, start_time=EPOCH, end_time=EPOCH + timedelta(days=1))
    assert [slot.slot_index for slot in slots] == [0, 1, 2, 3] * 3
    assert [slot.cycle_index for slot in slots] == [0] * 4 + [1] * 4 + [2] * 4
    assert slots[0].start_time == EPOCH
    assert all(a.end_time == b.start_time for a, b in zip(slots, slots[1:]))
    assert len(client.list_slots(schedule)) == 4


def test_reciprocals_show_both_views(client):
    schedule = Schedule(timedelta(hours=8), slot_count=8)
    placed = client.reciprocal_slots(schedule, kind_count=3)
    assert [kind.id_slot_index for kind in placed.kinds] == [0, 2, 5]
    assert [kind.clock_slot_index for kind in placed.kinds] == [0, 6, 3]
    assert (placed.gap_slot_count, placed.gap) == (2, timedelta(hours=2))
    assert placed.independent_run_budget == timedelta(hours=1)
    timed = client.reciprocal_slots(
        schedule, slot_index=1, run_times=[timedelta(hours=4), timedelta(minutes=1)]
    )
    # the kinds need 4 slots and 1, the slack is 3: the second one is at 4 + ⌊1·3/2⌋
    assert [kind.id_slot_index for kind in timed.kinds] == [1, 6]
    assert [kind.gap_slot_count for kind in timed.kinds] == [5, 3]
    stable = client.reciprocal_slots(schedule, kind_count=4, kind_spacing=KindSpacing.STABLE)
    assert [kind.offset_slot_count for kind in stable.kinds] == [0, 4, 2, 6]


def test_kinds_of_a_schedule_stand_where_reciprocals_say(client):
    base = Schedule(timedelta(hours=8), slot_count=8, anchor_time=NOON)
    placed = client.reciprocal_slots(base, kind_count=3)
    declared = replace(base, kinds=["import", "export", "check"])
    ids = list(range(500))
    answers = [
        client.assign_slots(declared, ids, from_time=NOON, kind=kind.name)
        for kind in declared.kinds
    ]
    offsets = [kind.offset for kind in client.describe_schedule(declared).kinds]
    assert offsets == [kind.offset for kind in placed.kinds]
    hours = 8 * 3_600_000
    for runs in zip(*(answer.next_run_unix_millis for answer in answers)):
        around = sorted(run % hours for run in runs)
        gaps = [b - a for a, b in zip(around, [*around[1:], around[0] + hours])]
        assert min(gaps) == placed.gap // timedelta(milliseconds=1)


def test_any_number_of_ids_of_any_length(client):
    ids = [f"{number:07}" + "x" * (number % 900) for number in range(70_000)]
    schedule = Schedule(timedelta(hours=8))
    rows = client.assign_slots(schedule, ids, from_time=NOON)
    assert rows.ids == ids
    assert len(rows) == 70_000
    for index in (0, 1, 65_535, 65_536, 69_999):
        digest = hashlib.md5(ids[index].encode()).digest()
        assert rows.cycle_offset_ticks[index] == int.from_bytes(digest[:8], "big") * 28_800 >> 64
    assert len(client.assign_slots(schedule, [])) == 0


def test_streams_answer_batch_by_batch_while_ids_still_come(client):
    made = 0

    def ids():
        nonlocal made
        for number in range(2_000_000):
            made = number + 1
            yield number

    schedule = Schedule(timedelta(hours=8))
    stream = client.stream_slot_assignments(schedule, ids(), from_time=NOON, kind="sync")
    first = next(stream)
    assert first.ids[:3] == [0, 1, 2]
    assert made < 1_000_000, "the stream pulled IDs far ahead of its answers"
    second = next(stream)
    assert second.ids[0] == len(first)
    one = client.assign_slot(schedule, second.ids[0], from_time=NOON, kind="sync")
    assert second[0].run_key == one.next_run.run_key
    stream.close()


def test_a_stream_answers_all(client):
    schedule = Schedule(timedelta(hours=8))
    ids = [str(number) for number in range(50_000)]
    answers = list(client.stream_slot_assignments(schedule, iter(ids), from_time=NOON))
    assert [row for answer in answers for row in answer.ids] == ids
    whole = client.assign_slots(schedule, ids, from_time=NOON)
    assert [slot for answer in answers for slot in answer.slot_indexes] == list(whole.slot_indexes)
