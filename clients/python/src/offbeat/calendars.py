"""Calendars: cycles by the wall clock, windows of a cycle, and times when nothing may start."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Union
from zoneinfo import ZoneInfo

from ._fields import set_enum, set_span, set_text, set_time
from .errors import refused
from .times import from_duration, from_timestamp
from .v1 import schedule_pb2 as pb


class CalendarUnit(enum.IntEnum):
    """A unit of the calendar."""

    #: From midnight to midnight.
    DAY = 1
    #: From Monday to Sunday.
    WEEK = 2
    #: From the first day to the last.
    MONTH = 3


class ExclusionPolicy(enum.IntEnum):
    """What happens to runs that an exclusion holds."""

    #: They do not happen.
    SKIP = 1
    #: They happen later, spread over usable time, and before the ID's next run.
    DEFER = 2


@dataclass(frozen=True)
class CalendarCycle:
    """A day, week or month by the wall clock of a time zone.

    A run keeps its wall-clock time through changes of the clocks: a time that a change
    skips is later by the skipped time; of a time that occurs twice, the first one counts.

    unit: day, week or month.
    time_zone: its IANA name, or a ``ZoneInfo``, whose name is used. The rules come from the
        time-zone database that is built into the sidecar.

    >>> CalendarCycle(CalendarUnit.DAY, ZoneInfo("UTC")).time_zone
    'UTC'
    """

    unit: CalendarUnit
    time_zone: str | ZoneInfo

    def __post_init__(self) -> None:
        """Replace a ``ZoneInfo`` by its name."""
        if isinstance(self.time_zone, ZoneInfo):
            object.__setattr__(self, "time_zone", self.time_zone.key)

    def to_message(self, path: str) -> pb.CalendarCycle:
        """Turn the cycle into its message; ``path`` is its place in the request."""
        message = pb.CalendarCycle()
        set_enum(message, path, "unit", self.unit, CalendarUnit)
        set_text(message, path, "time_zone", self.time_zone)  # type: ignore[arg-type]
        return message

    @classmethod
    def from_message(cls, message: pb.CalendarCycle) -> CalendarCycle:
        """Read it from a message."""
        return cls(CalendarUnit(message.unit), message.time_zone)


@dataclass(frozen=True)
class CycleWindow:
    """A part of a cycle, the half-open span from one offset to another.

    Offsets count from the start of the cycle; with a calendar, by the wall clock. They are
    spans, or times of day on the first day. Midnight at the end of a day is ``timedelta(days=1)``.

    >>> CycleWindow(time(1), time(5)) == CycleWindow(timedelta(hours=1), timedelta(hours=5))
    True
    >>> tuesday = CycleWindow(timedelta(days=1, hours=1), timedelta(days=1, hours=5))  # of a week
    """

    start_offset: timedelta | time
    end_offset: timedelta | time

    def __post_init__(self) -> None:
        """Convert times of day to spans."""
        for name in ("start_offset", "end_offset"):
            offset = getattr(self, name)
            if isinstance(offset, time):
                object.__setattr__(self, name, _since_midnight(name, offset))

    def to_message(self, path: str) -> pb.CycleWindow:
        """Turn the window into its message; ``path`` is its place in the request."""
        message = pb.CycleWindow()
        set_span(message, path, "start_offset", self.start_offset)  # type: ignore[arg-type]
        set_span(message, path, "end_offset", self.end_offset)  # type: ignore[arg-type]
        return message

    @classmethod
    def from_message(cls, message: pb.CycleWindow) -> CycleWindow:
        """Read it from a message."""
        return cls(from_duration(message.start_offset), from_duration(message.end_offset))


@dataclass(frozen=True)
class DatedExclusion:
    """A single span of time in which nothing may start: from start to end, half-open.

    ``policy`` says what happens to runs in it; by default ``ExclusionPolicy.DEFER``.
    """

    start_time: datetime
    end_time: datetime
    policy: ExclusionPolicy | None = None

    def to_message(self, path: str) -> pb.Exclusion:
        """Turn the exclusion into its message; ``path`` is its place in the request."""
        message = _exclusion(path, self.policy)
        message.dated.SetInParent()
        set_time(message.dated, f"{path}.dated", "start_time", self.start_time)
        set_time(message.dated, f"{path}.dated", "end_time", self.end_time)
        return message


@dataclass(frozen=True)
class RecurringExclusion:
    """A part of each unit of a calendar in which nothing may start.

    The calendar need not be that of the schedule. If an hour occurs twice, both are excluded.
    ``policy`` says what happens to runs in it; by default ``ExclusionPolicy.DEFER``.
    """

    calendar: CalendarCycle
    window: CycleWindow
    policy: ExclusionPolicy | None = None

    def to_message(self, path: str) -> pb.Exclusion:
        """Turn the exclusion into its message; ``path`` is its place in the request."""
        message = _exclusion(path, self.policy)
        within = f"{path}.recurring"
        message.recurring.calendar.CopyFrom(self.calendar.to_message(f"{within}.calendar"))
        message.recurring.window.CopyFrom(self.window.to_message(f"{within}.window"))
        return message


#: Times when nothing may start.
Exclusion = Union[DatedExclusion, RecurringExclusion]


def exclusion_from_message(message: pb.Exclusion) -> Exclusion:
    """Read an exclusion from a message."""
    policy = ExclusionPolicy(message.policy) if message.policy else None
    if message.HasField("dated"):
        dated = message.dated
        return DatedExclusion(
            from_timestamp(dated.start_time), from_timestamp(dated.end_time), policy
        )
    recurring = message.recurring
    return RecurringExclusion(
        CalendarCycle.from_message(recurring.calendar),
        CycleWindow.from_message(recurring.window),
        policy,
    )


def _exclusion(path: str, policy: ExclusionPolicy | None) -> pb.Exclusion:
    message = pb.Exclusion()
    if policy is not None:
        set_enum(message, path, "policy", policy, ExclusionPolicy)
    return message


def _since_midnight(name: str, moment: time) -> timedelta:
    if moment.tzinfo is not None:
        raise refused(name, moment, "must be a time of day without a time zone: the cycle has one")
    return timedelta(
        hours=moment.hour,
        minutes=moment.minute,
        seconds=moment.second,
        microseconds=moment.microsecond,
    )
