"""Schedules: how IDs become times."""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from ._fields import set_enum, set_integer
from .ids import checked_text
from .times import EPOCH, from_duration, from_timestamp, to_duration, to_timestamp
from .v1 import slots_pb2 as pb


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


class KindSpacing(enum.IntEnum):
    """How kinds of job that must not meet are spaced."""

    #: As far apart as can be.
    EVEN = 1
    #: So that adding a kind moves none.
    STABLE = 2


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

    >>> from datetime import timedelta
    >>> Schedule(timedelta(hours=8), slot_count=96).period
    datetime.timedelta(seconds=28800)

    The sidecar checks the values: a schedule that cannot be raises
    :class:`~offbeat.InvalidArgument` when it is first used.
    """

    period: timedelta
    slot_count: int | None = None
    placement: Placement | None = None
    salt: str = ""
    profile: TwisterProfile | None = None
    bucket_count: int | None = None
    resolution: timedelta | None = None
    anchor_time: datetime | None = None

    def shifted(self, offset: timedelta) -> Schedule:
        """Return the same schedule, later by ``offset``: for kinds of job that must not meet.

        Everybody keeps slot and offset in it; the cycles start later.
        """
        return replace(self, anchor_time=(self.anchor_time or EPOCH) + offset)

    def to_message(self) -> pb.Schedule:
        """Turn the schedule into its message."""
        period = to_duration("schedule.spec.period", self.period)
        salt = checked_text("schedule.spec.salt", self.salt)
        spec = pb.ScheduleSpec(period=period, salt=salt)
        if self.resolution is not None:
            resolution = to_duration("schedule.spec.resolution", self.resolution)
            spec.resolution.CopyFrom(resolution)
        if self.anchor_time is not None:
            anchor_time = to_timestamp("schedule.spec.anchor_time", self.anchor_time)
            spec.anchor_time.CopyFrom(anchor_time)
        for name in ("slot_count", "bucket_count"):
            count = getattr(self, name)
            if count is not None:
                set_integer(spec, "schedule.spec", name, count)
        if self.placement is not None:
            set_enum(spec, "schedule.spec", "placement", self.placement, Placement)
        if self.profile is not None:
            set_enum(spec, "schedule.spec", "profile", self.profile, TwisterProfile)
        return pb.Schedule(spec=spec)

    @classmethod
    def from_message(cls, spec: pb.ScheduleSpec) -> Schedule:
        """Turn a resolved spec of the sidecar into a schedule."""
        return cls(
            period=from_duration(spec.period),
            slot_count=spec.slot_count,
            placement=Placement(spec.placement),
            salt=spec.salt,
            profile=TwisterProfile(spec.profile) if spec.profile else None,
            bucket_count=spec.bucket_count if spec.HasField("bucket_count") else None,
            resolution=from_duration(spec.resolution),
            anchor_time=from_timestamp(spec.anchor_time),
        )
