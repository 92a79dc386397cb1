"""Schedules that are expensive to evaluate."""

from __future__ import annotations

import uuid
from collections.abc import Iterable

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp
from offbeat.v1 import id_pb2, schedule_pb2
from offbeat.v1.schedule_pb2 import (
    CALENDAR_UNIT_DAY,
    CALENDAR_UNIT_MONTH,
    EXCLUSION_POLICY_DEFER,
    EXCLUSION_POLICY_SKIP,
    CalendarCycle,
    CycleWindow,
    Exclusion,
    RecurringExclusion,
    Schedule,
    ScheduleSpec,
)

#: The number of IDs in a full batch.
IDS = 65_536
DAY = 86_400
#: 11 May 2033.
NOW = Timestamp(seconds=2_000_000_000)
#: The longest period, in days.
LONGEST_PERIOD = 3_660


def seconds(count: float) -> Duration:
    return Duration(seconds=int(count), nanos=int(count % 1 * 1e9))


def schedule(**spec: object) -> Schedule:
    """A schedule of one day with 24 slots, unless `spec` says otherwise."""
    if "calendar" not in spec:
        spec = {"period": seconds(DAY), **spec}
    return Schedule(spec=ScheduleSpec(**spec))


def calendar(unit: int = CALENDAR_UNIT_DAY, zone: str = "Europe/Berlin") -> CalendarCycle:
    """A cycle by the wall clock."""
    return CalendarCycle(unit=unit, time_zone=zone)


def window(start: float, end: float) -> CycleWindow:
    return CycleWindow(start_offset=seconds(start), end_offset=seconds(end))


def exclusion(
    start: float, end: float, policy: int = EXCLUSION_POLICY_DEFER, **of: object
) -> Exclusion:
    """An exclusion of a part of each day, or of another unit."""
    recurring = RecurringExclusion(calendar=calendar(**of), window=window(start, end))
    return Exclusion(recurring=recurring, policy=policy)


def exclusions(count: int, length: float = 10, policy: int = EXCLUSION_POLICY_DEFER) -> list:
    """Exclusions of `count` parts of each day."""
    step = DAY // count
    return [exclusion(at * step, at * step + length, policy) for at in range(count)]


def excluded(count: int, **spec: object) -> Schedule:
    """A calendar day with `count` exclusions."""
    return schedule(calendar=calendar(), exclusions=exclusions(count), **spec)


def skipped(**spec: object) -> Schedule:
    """A schedule by which almost no ID ever runs, so that all cycles are searched."""
    never = exclusion(0, DAY - 1, EXCLUSION_POLICY_SKIP)
    return schedule(calendar=calendar(), exclusions=[never], **spec)


def skipped_months(**spec: object) -> Schedule:
    """The same by months, where others are excluded besides."""
    nearly = [
        exclusion(day * DAY, (day + 1) * DAY - 1, EXCLUSION_POLICY_SKIP, unit=CALENDAR_UNIT_MONTH)
        for day in range(28)
    ]
    return schedule(
        calendar=calendar(CALENDAR_UNIT_MONTH), exclusions=[*nearly, *exclusions(100)], **spec
    )


def windowed(**spec: object) -> Schedule:
    """A year of 366 active windows."""
    windows = [window(day * DAY, day * DAY + DAY // 2) for day in range(366)]
    return schedule(period=seconds(366 * DAY), active_windows=windows, **spec)


def long_and_excluded(count: int = 1, days: int = LONGEST_PERIOD, **spec: object) -> Schedule:
    """The longest period, with exclusions on each of its days."""
    return schedule(period=seconds(days * DAY), exclusions=exclusions(count), **spec)


def twister(**spec: object) -> Schedule:
    """A schedule with TWISTER placement."""
    return schedule(placement=schedule_pb2.PLACEMENT_TWISTER, **spec)


#: Only slot counts 1 and itself divide it; the refusal of others names the nearest that do.
PRIME = schedule(period=seconds(316_223_983), slot_count=524_288)


def uuids(count: int = IDS) -> id_pb2.IdBatch:
    return id_pb2.IdBatch(
        uuids=[
            str(uuid.UUID(int=at * 0x9E3779B97F4A7C15F39CC0605CEDC835 % 2**128))
            for at in range(count)
        ]
    )


def texts(count: int = IDS, length: int = 56) -> id_pb2.IdBatch:
    """Texts as long as fit into a message."""
    return id_pb2.IdBatch(texts=[f"{at:0{length}}" for at in range(count)])


def decimals(count: int = IDS) -> id_pb2.IdBatch:
    """The largest decimals."""
    return id_pb2.IdBatch(decimals=[str(2**128 - 1 - at) for at in range(count)])


def integers(count: int = IDS) -> id_pb2.IdBatch:
    """Integers that are far apart."""
    return id_pb2.IdBatch(integers=[at * 2_654_435_761 for at in range(count)])


def millis(times: Iterable[float]) -> list[int]:
    """Times in milliseconds since the Unix epoch, from seconds."""
    return [int(time * 1_000) for time in times]
