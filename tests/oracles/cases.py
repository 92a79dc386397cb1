"""Random schedules, IDs and times, as messages and in the form of the model."""

from __future__ import annotations

import math
import random
import struct
import uuid
from dataclasses import dataclass

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp
from model import TWO64, Excluded, Id, Model, hashes
from offbeat.v1 import id_pb2, schedule_pb2
from wall_clocks import DAY, Spans, clock, within

#: Zones with half-hour changes, changes at midnight, skipped days, clocks that pause, or none.
ZONES = [
    "Africa/Cairo", "Africa/Casablanca", "Africa/Monrovia", "America/Asuncion",
    "America/Caracas", "America/Nuuk", "America/New_York", "America/Santiago",
    "America/Sao_Paulo", "America/Scoresbysund", "America/St_Johns", "Antarctica/Casey",
    "Antarctica/Troll", "Asia/Amman", "Asia/Dhaka", "Asia/Gaza", "Asia/Kathmandu",
    "Asia/Kolkata", "Asia/Pyongyang", "Asia/Singapore", "Asia/Tehran", "Atlantic/Azores",
    "Australia/Lord_Howe", "Europe/Berlin", "Europe/Dublin", "Europe/Lisbon", "Europe/Moscow",
    "Europe/Volgograd", "Pacific/Apia", "Pacific/Chatham", "Pacific/Fakaofo",
    "Pacific/Kiritimati", "Pacific/Kwajalein", "Pacific/Norfolk", "UTC",
]  # fmt: skip
RESOLUTIONS = [1, 5, 8, 10, 40, 125, 250, 500]
LAST = 4_102_444_800  # 2100


@dataclass
class Case:
    """A schedule, and an instant (in ticks) around which something may happen."""

    spec: schedule_pb2.ScheduleSpec
    model: Model
    about: int

    @property
    def schedule(self) -> schedule_pb2.Schedule:
        return schedule_pb2.Schedule(spec=self.spec)


def duration(millis: int) -> Duration:
    return Duration(seconds=millis // 1_000, nanos=millis % 1_000 * 1_000_000)


def instant(millis: int) -> Timestamp:
    return Timestamp(seconds=millis // 1_000, nanos=millis % 1_000 * 1_000_000)


def millis(message: Timestamp | Duration) -> int:
    assert message.nanos % 1_000_000 == 0
    return message.seconds * 1_000 + message.nanos // 1_000_000


def a_divisor(rng: random.Random, number: int, most: int) -> int:
    low = [i for i in range(1, min(most, math.isqrt(number)) + 1) if number % i == 0]
    return rng.choice(sorted({*low, *(number // i for i in low if number // i <= most)}))


def some_windows(rng: random.Random, whole: int, rate: int) -> Spans:
    """Parts of a cycle, in order, that do not touch."""
    grain = rng.choice([g for g in (1, rate, 900 * rate, 3_600 * rate) if whole // g >= 4] or [1])
    most = min(whole // grain, 10**9)
    count = min(rng.choice([1, 1, 2, 3, 8]), (most + 1) // 2)
    cuts = sorted(rng.sample(range(most + 1), 2 * count)) if most >= 2 * count else [0, most]
    return [(a * grain, b * grain) for a, b in zip(cuts[::2], cuts[1::2], strict=True)]


def a_time(rng: random.Random, zone: str) -> int:
    """A random second from 1970 to 2100, usually near a change of the clock."""
    at = rng.randrange(0, LAST)
    if rng.random() < 0.15:
        at = rng.randrange(-(10**9), 0)
    if rng.random() < 0.75:
        for _ in range(40):
            changes = clock(zone).changes_of(rng.randrange(0, LAST) // (30 * DAY))
            if changes:
                return changes[0][0] + rng.choice([0, -1, 1, rng.randrange(-3 * DAY, 3 * DAY)])
    return at


def a_case(rng: random.Random, *, plain: bool = False, exclusions: bool = True) -> Case:
    zone = rng.choice(ZONES)
    about = a_time(rng, zone)
    spec = schedule_pb2.ScheduleSpec()
    tick = rng.choice([1_000, 1_000, 1_000, rng.choice(RESOLUTIONS)])
    rate = 1_000 // tick
    if tick != 1_000 or rng.random() < 0.2:
        spec.resolution.CopyFrom(duration(tick))
    model = Model(tick=tick, slots=1)
    calendar = not plain and rng.random() < 0.7
    if calendar:
        model.unit, model.zone = rng.choice(["DAY", "DAY", "WEEK", "MONTH"]), zone
        spec.calendar.unit = schedule_pb2.CalendarUnit.Value(f"CALENDAR_UNIT_{model.unit}")
        spec.calendar.time_zone = zone
        whole = {"DAY": 1, "WEEK": 7, "MONTH": 28}[model.unit] * DAY * rate
        longest = model.longest
    else:
        whole = rng.choice([rng.randrange(1, 100), rng.randrange(1, 200_000) * rate])
        whole = rng.choice([whole, 8 * 3_600 * rate, DAY * rate, rng.randrange(1, 40) * DAY * rate])
        longest = model.period = whole
        spec.period.CopyFrom(duration(whole * tick))
        if rng.random() < 0.5:
            anchor = rng.choice([about * rate, rng.randrange(-(10**12), 10**12) * rate])
            model.anchor = anchor % (10**10 * rate)
            spec.anchor_time.CopyFrom(instant(model.anchor * tick))
    if not plain and rng.random() < 0.4:
        model.windows = some_windows(rng, whole, rate)
        if model.unit == "MONTH" and rng.random() < 0.5:
            first, last = model.windows[-1]
            model.windows[-1] = (first, rng.randrange(last, longest + 1))
        for start, end in model.windows:
            one = spec.active_windows.add()
            one.start_offset.CopyFrom(duration(start * tick))
            one.end_offset.CopyFrom(duration(end * tick))
        if model.windows == [(0, longest)]:
            model.windows = []  # the default
    if not plain and exclusions and rng.random() < 0.6:
        for _ in range(rng.choice([1, 1, 2, 3, 6])):
            add_exclusion(rng, spec, model, about * rate)
    choose_placement(rng, spec, model, calendar)
    return Case(spec, model, about * rate)


def some_kind(rng: random.Random, case: Case) -> str:
    """Sometimes declares kinds, and chooses one; kinds cannot be combined with DEFER exclusions."""
    model, count = case.model, rng.choice([1, 2, 3, 5])
    if rng.random() < 0.5 or any(one.policy == "DEFER" for one in model.exclusions):
        return ""
    if model.slots < count or model.shortest < 2 * count:
        return ""
    for kind in range(count):
        case.spec.kinds.add(name=f"kind-{kind}")
    kind = rng.randrange(count)
    model.kind_place = kind * model.slots // count
    return f"kind-{kind}"


def choose_placement(
    rng: random.Random, spec: schedule_pb2.ScheduleSpec, model: Model, calendar: bool
) -> None:
    kinds = ["HASH", "HASH", "FRACTION"] if calendar else ["HASH", "HASH", "FRACTION", "TWISTER"]
    model.placement = rng.choice(kinds)
    spec.placement = schedule_pb2.Placement.Value(f"PLACEMENT_{model.placement}")
    most = 1 << 20
    if model.placement == "TWISTER":
        spec.profile = schedule_pb2.TWISTER_PROFILE_PYTHON
        most = 256
        if rng.random() < 0.5:
            most = spec.bucket_count = 65_536
    if model.placement == "HASH" and rng.random() < 0.6:
        model.salt = spec.salt = rng.choice(["s", "Δ salt", "x" * 200, "a%b'c"])
    lengths = {model.active(cycle) for cycle in range(0, 48 if model.unit == "MONTH" else 1)}
    model.slots = a_divisor(rng, math.gcd(*lengths), most)
    spec.slot_count = model.slots


def add_exclusion(
    rng: random.Random, spec: schedule_pb2.ScheduleSpec, model: Model, about: int
) -> None:
    policy = rng.choice(["SKIP", "DEFER", "DEFER"])
    message = spec.exclusions.add()
    message.policy = schedule_pb2.ExclusionPolicy.Value(f"EXCLUSION_POLICY_{policy}")
    cycle = model.longest
    if rng.random() < 0.5:
        size = rng.choice([1, cycle // 20, cycle // 3, cycle, 2 * cycle])
        size = rng.randrange(1, max(2, size + 1))
        last = model.exclusions[-1].dated if model.exclusions else None
        start = about + rng.randrange(-cycle, cycle + 1)
        if last and rng.random() < 0.4:
            start = last[1]  # they touch
        message.dated.start_time.CopyFrom(instant(start * model.tick))
        message.dated.end_time.CopyFrom(instant((start + size) * model.tick))
        model.exclusions.append(Excluded(policy, dated=(start, start + size)))
        return
    unit, zone = rng.choice(["DAY", "WEEK", "MONTH"]), rng.choice([model.zone or "UTC", *ZONES[:3]])
    whole = {"DAY": 1, "WEEK": 7, "MONTH": 28}[unit] * DAY * model.rate
    size = rng.randrange(1, min(whole, 2 * cycle) + 1)
    if rng.random() < 0.7:
        size = max(1, size // 8)
    start = rng.choice([0, whole - size, rng.randrange(0, whole - size + 1)])
    if start == 0 and size == whole:
        size = max(1, whole // 2)
    recurring = message.recurring
    recurring.calendar.unit = schedule_pb2.CalendarUnit.Value(f"CALENDAR_UNIT_{unit}")
    recurring.calendar.time_zone = zone
    recurring.window.start_offset.CopyFrom(duration(start * model.tick))
    recurring.window.end_offset.CopyFrom(duration((start + size) * model.tick))
    window = (start, start + size)
    model.exclusions.append(Excluded(policy, unit=unit, zone=zone, window=window))


def some_ids(
    rng: random.Random, case: Case, count: int, kind: str = ""
) -> tuple[id_pb2.IdBatch, list[Id]]:
    """IDs of one type, as a column and in the form of the model."""
    model, column = case.model, id_pb2.IdBatch()
    if model.placement == "FRACTION":
        for _ in range(count):
            nice = rng.randrange(model.slots) / model.slots
            edge = rng.choice([nice, math.nextafter(nice, 0), 0.0, 5e-324, math.nextafter(1, 0)])
            column.fractions.append(max(0.0, rng.choice([rng.random(), rng.random(), edge])))
        return column, known_ids(case, column)
    kinds = ["uuid", "integer"] if model.placement == "TWISTER" else ["uuid", "integer", "text"]
    kind = kind or rng.choice(kinds)
    for _ in range(count):
        if kind == "uuid":
            column.packed_uuids += rng.getrandbits(128).to_bytes(16, "big")
        elif kind == "integer":
            number = rng.choice([rng.randrange(-(2**63), 2**63), rng.randrange(-300, 300)])
            column.integers.append(number)
        else:
            text = rng.choice(["", "a/b", "ünïcode", "x" * 1_000]) + str(rng.random())
            column.texts.append(text)
    return column, known_ids(case, column)


def known_ids(case: Case, column: id_pb2.IdBatch) -> list[Id]:
    """The IDs of a column in the form of the model."""
    model = case.model
    if column.fractions:
        texts = [struct.pack(">d", fraction).hex() for fraction in column.fractions]
        pairs = zip(texts, column.fractions)
        return [Id(text, fraction=one, smear=hashes("", text)[1]) for text, one in pairs]
    seeds, texts = [0] * len(column.texts), list(column.texts)
    if column.packed_uuids:
        starts = range(0, len(column.packed_uuids), 16)
        seeds = [int.from_bytes(column.packed_uuids[at : at + 16], "big") for at in starts]
        texts = [str(uuid.UUID(int=seed)) for seed in seeds]
    elif column.integers:
        seeds, texts = list(column.integers), [str(number) for number in column.integers]
    ids = []
    for seed, text in zip(seeds, texts):
        place, smear = hashes(model.salt, text)
        one = Id(text, hash=place, smear=smear)
        if model.placement == "TWISTER":
            buckets = case.spec.bucket_count or 256
            slot_ticks = model.shortest // model.slots
            drawn = random.Random(seed).randrange(slot_ticks)
            one.shifted = seed % buckets * model.slots // buckets * slot_ticks + drawn
        ids.append(one)
    return ids


def one_id(column: id_pb2.IdBatch, index: int) -> id_pb2.Id:
    if column.packed_uuids:
        return id_pb2.Id(uuid_bytes=column.packed_uuids[16 * index : 16 * index + 16])
    if column.integers:
        return id_pb2.Id(integer=column.integers[index])
    if column.texts:
        return id_pb2.Id(text=column.texts[index])
    return id_pb2.Id(fraction=column.fractions[index])


def shown(spec: object, *more: object) -> str:
    return " ".join([str(spec).replace("\n", " "), *map(str, more)])


def a_time_near(rng: random.Random, case: Case) -> int:
    """A time near the case's instant in milliseconds, not always on a tick."""
    tick, cycle = case.model.tick, case.model.longest
    at = case.about + rng.choice([0, rng.randrange(-cycle, cycle + 1)])
    return at * tick + rng.choice([0, 0, rng.randrange(tick)])


def first_tick(case: Case, at: int) -> int:
    return -(-at // case.model.tick)


def smeared(
    model: Model, at: int, hash_of_id: int, index: int, count: int, span: int
) -> int | None:
    """The start, in milliseconds, of one of `count` runs smeared over a span from `at` on."""
    bounded = model.windows or model.exclusions
    if bounded:
        most = -(-span // model.tick)
        left = model.usable_ticks(-(-at // model.tick), most)
        span = span if left >= most else left * model.tick
    later = (index * TWO64 + hash_of_id) * span // (count * TWO64)
    if not bounded:
        return at + later
    tick = model.usable_tick(-(-at // model.tick), later // model.tick)
    return None if tick is None else tick * model.tick


def shortest_millis(model: Model) -> int:
    """The length of the shortest cycle."""
    ticks = 28 * 86_400 * model.rate if model.unit == "MONTH" else model.longest
    return ticks * model.tick


def slot_times(model: Model, cycle: int, slot: int) -> tuple[int, int]:
    """The span from the earliest tick of a slot to the end of the latest."""
    size = model.active(cycle) // model.slots
    low, high = slot * size, (slot + 1) * size
    spans = []
    for one in model.stretches(cycle):
        for first, last in within([(low, high)], one.offset, one.offset + one.ticks):
            spans.append((one.instant + first - one.offset, one.instant + last - one.offset))
    return min(spans)[0] * model.tick, max(end for _, end in spans) * model.tick
