"""Schedules: how IDs become times."""

from __future__ import annotations

import enum
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Union

from ._fields import set_enum, set_integer, set_span, set_text, set_time
from ._keywords import positional
from .calendars import (
    CalendarCycle,
    CycleWindow,
    DatedExclusion,
    Exclusion,
    RecurringExclusion,
    exclusion_from_message,
)
from .errors import refused
from .kinds import Kind, KindSpacing, add_pairs, as_kinds, as_pairs
from .times import from_duration, from_optional_duration, from_timestamp
from .v1 import schedule_pb2 as pb

if TYPE_CHECKING:
    from dataclasses import KW_ONLY

#: The only text form of a version; ten digits are enough for all.
_VERSION = re.compile("0|[1-9][0-9]{0,9}")


class Placement(enum.IntEnum):
    """How an ID becomes a place in the cycle."""

    #: By hash; takes UUIDs, integers and text.
    HASH = 1
    #: By Mersenne twister, bit for bit as a language's standard library draws numbers; takes UUIDs
    #: and integers.
    TWISTER = 2
    #: By a fraction in [0, 1) that the caller has stored.
    FRACTION = 3


class TwisterProfile(enum.IntEnum):
    """The language whose Mersenne twister decides."""

    #: Ruby 3.2 and later, and 2.7 and earlier.
    RUBY = 1
    #: Ruby 3.0 and 3.1.
    RUBY_3_0_TO_3_1 = 2
    #: Python 3.2 and later.
    PYTHON = 3
    #: PHP 8.2 and later; from 7.2 on for slots up to 2^32 ticks.
    PHP = 4


@positional(1)
@dataclass(frozen=True)
class Schedule:
    """A cycle cut into slots, and a placement. ``None`` means the sidecar's default.

    period: length of the cycle, 1 ms to 3,660 days of elapsed time, a whole number
        of ticks (a day is 24 hours, even if the clocks change).
    slot_count: slots in a cycle; must divide the cycle. Default: gcd of its seconds and 256.
    placement: how an ID becomes a place. Default: ``Placement.HASH``.
    salt: HASH only: a namespace. Default: empty.
    profile: TWISTER only: the language. Default: ``TwisterProfile.RUBY``.
    bucket_count: TWISTER only: 256 or 65,536. Default: 256.
    resolution: length of a tick: 1 s or a whole fraction of it, down to 1 ms.
        Default: 1 s.
    anchor_time: when cycle 0 starts; with a time zone. Default: the Unix epoch.
    calendar: instead of ``period``: a day, week or month by the wall clock.
    active_windows: the parts of the cycle that may be used, in order. Default: all of it.
    exclusions: times when nothing may start. Default: none.
    weight_quantum: the weight up to which an ID is one piece. Default: no weights.
    kinds: the kinds of job that must not meet on one ID, up to 1,000: names, or
        :class:`~offbeat.Kind` objects with run times. Each call about runs must then name one of
        them, which decides the time. Default: none; ``kind`` is then only a label.
    kind_spacing: how the kinds are spread over the cycle. Default: ``KindSpacing.EVEN``.
    kind_conflicts: which kinds must not meet, if others may: up to 28 pairs of names, of
        8 kinds in all. Default: no two kinds may meet.
    catch_up_span: over how much of a cycle's active time late runs are spread: at most the
        2k-th part of it for k kinds. Default: an eighth, or the 2k-th part, or what run times need.

    >>> from datetime import timedelta
    >>> Schedule(timedelta(hours=8), slot_count=96).period
    datetime.timedelta(seconds=28800)
    >>> Schedule(timedelta(days=1), kinds=["import", "export"]).kinds
    (Kind(name='import', run_time=None), Kind(name='export', run_time=None))

    The sidecar checks the values: an invalid schedule raises
    :class:`~offbeat.InvalidArgument` when it is first used.
    """

    period: timedelta | None = None
    if TYPE_CHECKING:
        _: KW_ONLY
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
    kinds: Sequence[str | Kind] = ()
    kind_spacing: KindSpacing | None = None
    kind_conflicts: Sequence[tuple[str, str]] = ()
    catch_up_span: timedelta | None = None

    def __post_init__(self) -> None:
        """Convert lists to tuples, so that a schedule can be a key of a dictionary."""
        object.__setattr__(self, "kinds", as_kinds(self.kinds))
        object.__setattr__(self, "kind_conflicts", as_pairs(self.kind_conflicts))
        for name in ("active_windows", "exclusions"):
            values = getattr(self, name)
            if isinstance(values, list):
                object.__setattr__(self, name, tuple(values))

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
        set_span(spec, at, "catch_up_span", self.catch_up_span)
        for name in ("slot_count", "bucket_count", "weight_quantum"):
            count = getattr(self, name)
            if count is not None:
                set_integer(spec, at, name, count)
        if self.placement is not None:
            set_enum(spec, at, "placement", self.placement, Placement)
        if self.profile is not None:
            set_enum(spec, at, "profile", self.profile, TwisterProfile)
        if self.kind_spacing is not None:
            set_enum(spec, at, "kind_spacing", self.kind_spacing, KindSpacing)
        _add_parts(spec, at, "active_windows", self.active_windows, "CycleWindow", CycleWindow)
        exclusions = (DatedExclusion, RecurringExclusion)
        names = "DatedExclusion or a RecurringExclusion"
        _add_parts(spec, at, "exclusions", self.exclusions, names, *exclusions)
        _add_parts(spec, at, "kinds", self.kinds, "name or a Kind", Kind)
        add_pairs(spec, at, self.kind_conflicts)
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
            kinds=tuple(map(Kind.from_message, spec.kinds)),
            kind_spacing=KindSpacing(spec.kind_spacing) if spec.kind_spacing else None,
            kind_conflicts=tuple(
                (pair.first_kind, pair.second_kind) for pair in spec.kind_conflicts
            ),
            catch_up_span=from_optional_duration(spec, "catch_up_span"),
        )


@dataclass(frozen=True)
class ScheduleReference:
    """A schedule by name and version, from the file that the sidecar was started with.

    A version never changes its meaning, and must be given: if the newest version were the
    default, callers would change over at different times. The text ``"name/version"`` is
    accepted in place of any schedule.

    >>> ScheduleReference.parse("billing/2")
    ScheduleReference(name='billing', version=2)
    """

    name: str
    version: int

    @classmethod
    def parse(cls, text: str, path: str = "schedule") -> ScheduleReference:
        """Parse ``name/version``; ``path`` is its place in the request."""
        name, _, version = text.rpartition("/")
        if not name or not _VERSION.fullmatch(version):
            raise refused(path, text, 'must be name/version, such as "billing/2"')
        return cls(name, int(version))

    def to_message(self, path: str = "schedule") -> pb.Schedule:
        """Turn the reference into its message; ``path`` is its place in the request."""
        message = pb.Schedule()
        message.reference.SetInParent()
        set_text(message.reference, f"{path}.reference", "name", self.name)
        set_integer(message.reference, f"{path}.reference", "version", self.version)
        return message


#: A schedule in full, or by name and version: as an object, or as text, ``"billing/2"``.
AnySchedule = Union[Schedule, ScheduleReference, str]


def schedule_message(schedule: AnySchedule, path: str = "schedule") -> pb.Schedule:
    """Turn any sort of schedule into its message; ``path`` is its place in the request."""
    if isinstance(schedule, str):
        schedule = ScheduleReference.parse(schedule, path)
    if not isinstance(schedule, (Schedule, ScheduleReference)):
        allowed = 'must be a Schedule, a ScheduleReference or its text, such as "billing/2"'
        raise refused(path, schedule, allowed)
    return schedule.to_message(path)


def _add_parts(
    spec: Any, path: str, name: str, parts: Sequence[Any], names: str, *types: type[Any]
) -> None:
    """Fill a list of windows, exclusions or kinds."""
    if not isinstance(parts, Sequence) or isinstance(parts, str):
        raise refused(f"{path}.{name}", parts, f"must be a list, whose elements are a {names}")
    for index, part in enumerate(parts):
        at = f"{path}.{name}[{index}]"
        if not isinstance(part, types):
            raise refused(at, part, f"must be a {names}")
        getattr(spec, name).append(part.to_message(at))
