"""Schedules: how IDs become times."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Union

from ._fields import set_enum, set_integer, set_span, set_text, set_time
from .calendars import (
    CalendarCycle,
    CycleWindow,
    DatedExclusion,
    Exclusion,
    RecurringExclusion,
    exclusion_from_message,
)
from .errors import refused
from .times import EPOCH, from_duration, from_timestamp
from .v1 import schedule_pb2 as pb


class Placement(enum.IntEnum):
    """How an ID becomes a place in the cycle."""

    #: By hash; any kind of ID, any slot count.
    HASH = 1
    #: By Mersenne twister, bit for bit as a language's standard library draws it.
    TWISTER = 2
    #: By a fraction in [0, 1) that the caller stored.
    FRACTION = 3


class TwisterProfile(enum.IntEnum):
    """Whose Mersenne twister."""

    #: Ruby 3.2 and later, and 2.7 and earlier.
    RUBY = 1
    #: Ruby 3.0 and 3.1.
    RUBY_3_0_TO_3_1 = 2
    #: Python 3.2 and later.
    PYTHON = 3
    #: PHP 8.2 and later; from 7.2 on for slots up to 2^32 ticks.
    PHP = 4


@dataclass(frozen=True)
class Schedule:
    """A cycle cut into slots, and a placement. ``None`` means the sidecar's default.

    period: length of the cycle, 1 ms to 3,660 days of elapsed time, a whole number
        of ticks (a day is 24 hours, whatever the clocks do).
    slot_count: slots in a cycle; must divide it. Default: gcd of its seconds and 256.
    placement: how an ID becomes a place. Default: ``Placement.HASH``.
    salt: HASH only: the namespace.
    profile: TWISTER only: whose. Default: ``TwisterProfile.RUBY``.
    bucket_count: TWISTER only: 256 or 65,536. Default: 256.
    resolution: length of a tick: 1 s or a whole fraction of it, down to 1 ms.
        Default: 1 s.
    anchor_time: when cycle 0 starts; with a time zone. Default: the Unix epoch.
    calendar: instead of ``period``: a day, week or month by the wall clock.
    active_windows: the parts of the cycle that may be used, in order. Default: all of it.
    exclusions: times when nothing may start. Default: none.
    weight_quantum: the weight up to which an ID is one piece. Default: no weights.

    >>> from datetime import timedelta
    >>> Schedule(timedelta(hours=8), slot_count=96).period
    datetime.timedelta(seconds=28800)

    The sidecar checks the values: a schedule that cannot be raises
    :class:`~offbeat.InvalidArgument` when it is first used.
    """

    period: timedelta | None = None
    slot_count: int | None = None
    placement: Placement | None = None
    salt: str = ""
    profile: TwisterProfile | None = None
    bucket_count: int | None = None
    resolution: timedelta | None = None
    anchor_time: datetime | None = None
    calendar: CalendarCycle | None = None
    active_windows: Sequence[CycleWindow] = ()
    exclusions: Sequence[Exclusion] = ()
    weight_quantum: int | None = None

    def __post_init__(self) -> None:
        """Keep lists as tuples: a schedule can be a key of a dictionary."""
        for name in ("active_windows", "exclusions"):
            values = getattr(self, name)
            if isinstance(values, list):
                object.__setattr__(self, name, tuple(values))

    def shifted(self, offset: timedelta) -> Schedule:
        """Return the same schedule, later by ``offset``: for kinds of job that must not meet.

        Everybody keeps slot and offset in it; the cycles start later. Not with a ``calendar``.
        """
        return replace(self, anchor_time=(self.anchor_time or EPOCH) + offset)

    def to_message(self, path: str = "schedule") -> pb.Schedule:
        """Turn the schedule into its message; ``path`` is its place in the request."""
        spec, at = pb.ScheduleSpec(), f"{path}.spec"
        if self.period is not None and self.calendar is not None:
            allowed = "must not be set together with calendar"
            raise refused(f"{at}.period", self.period, allowed, "ERROR_REASON_CONTRADICTORY")
        if self.calendar is not None:
            spec.calendar.CopyFrom(self.calendar.to_message(f"{at}.calendar"))
        set_span(spec, at, "period", self.period)
        set_text(spec, at, "salt", self.salt)
        set_span(spec, at, "resolution", self.resolution)
        set_time(spec, at, "anchor_time", self.anchor_time)
        for name in ("slot_count", "bucket_count", "weight_quantum"):
            count = getattr(self, name)
            if count is not None:
                set_integer(spec, at, name, count)
        if self.placement is not None:
            set_enum(spec, at, "placement", self.placement, Placement)
        if self.profile is not None:
            set_enum(spec, at, "profile", self.profile, TwisterProfile)
        _add_parts(spec, at, "active_windows", self.active_windows, (CycleWindow,))
        kinds = (DatedExclusion, RecurringExclusion)
        _add_parts(spec, at, "exclusions", self.exclusions, kinds)
        return pb.Schedule(spec=spec)

    @classmethod
    def from_message(cls, spec: pb.ScheduleSpec) -> Schedule:
        """Turn a resolved spec of the sidecar into a schedule."""
        by_calendar = spec.HasField("calendar")
        return cls(
            period=None if by_calendar else from_duration(spec.period),
            slot_count=spec.slot_count,
            placement=Placement(spec.placement),
            salt=spec.salt,
            profile=TwisterProfile(spec.profile) if spec.profile else None,
            bucket_count=spec.bucket_count if spec.HasField("bucket_count") else None,
            resolution=from_duration(spec.resolution),
            anchor_time=None if by_calendar else from_timestamp(spec.anchor_time),
            calendar=CalendarCycle.from_message(spec.calendar) if by_calendar else None,
            active_windows=tuple(map(CycleWindow.from_message, spec.active_windows)),
            exclusions=tuple(map(exclusion_from_message, spec.exclusions)),
            weight_quantum=spec.weight_quantum if spec.HasField("weight_quantum") else None,
        )


@dataclass(frozen=True)
class ScheduleVersion:
    """A schedule of the file that the sidecar was started with, by name and version.

    A version never changes its meaning, and must be given: with the newest as a default,
    callers would change over at different times.

    >>> ScheduleVersion("billing", 2)
    ScheduleVersion(name='billing', version=2)
    """

    name: str
    version: int

    def to_message(self, path: str = "schedule") -> pb.Schedule:
        """Turn the name into its message; ``path`` is its place in the request."""
        message = pb.Schedule()
        message.version.SetInParent()
        set_text(message.version, f"{path}.version", "name", self.name)
        set_integer(message.version, f"{path}.version", "version", self.version)
        return message


#: A schedule in full, or by name and version.
AnySchedule = Union[Schedule, ScheduleVersion]


def schedule_message(schedule: AnySchedule, path: str = "schedule") -> pb.Schedule:
    """Turn either sort of schedule into its message; ``path`` is its place in the request."""
    if not isinstance(schedule, (Schedule, ScheduleVersion)):
        raise refused(path, schedule, "must be a Schedule or a ScheduleVersion")
    return schedule.to_message(path)


def _add_parts(
    spec: Any, path: str, name: str, parts: Sequence[Any], kinds: tuple[type[Any], ...]
) -> None:
    """Fill a list of windows or exclusions."""
    names = " or a ".join(kind.__name__ for kind in kinds)
    if not isinstance(parts, Sequence):
        raise refused(f"{path}.{name}", parts, f"must be a list, whose elements are a {names}")
    for index, part in enumerate(parts):
        at = f"{path}.{name}[{index}]"
        if not isinstance(part, kinds):
            raise refused(at, part, f"must be a {names}")
        getattr(spec, name).append(part.to_message(at))
