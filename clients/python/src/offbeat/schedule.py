"""Schedules: how IDs become times."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import datetime, timedelta

from .errors import InvalidArgument
from .times import from_duration, from_timestamp, to_duration, to_timestamp
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
    #: Python 3.
    PYTHON = 3
    #: PHP 7.1 and later.
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

    >>> from datetime import timedelta
    >>> Schedule(timedelta(hours=8), slot_count=96).period
    datetime.timedelta(seconds=28800)

    The sidecar checks the values: a schedule that cannot be raises
    :class:`~offbeat.InvalidArgument` when it is first used.
    """

    #: Length of the cycle: 1 ms to 3,660 days, a whole number of ticks.
    period: timedelta
    #: Slots in a cycle; must divide it. Default: gcd of its seconds and 256.
    slot_count: int | None = None
    #: How an ID becomes a place. Default: HASH.
    placement: Placement | None = None
    #: HASH only: the namespace.
    salt: str = ""
    #: TWISTER only: whose. Default: RUBY.
    profile: TwisterProfile | None = None
    #: TWISTER only: 256 or 65,536. Default: 256.
    bucket_count: int | None = None
    #: Length of a tick: 1 s or a whole fraction of it, down to 1 ms. Default: 1 s.
    resolution: timedelta | None = None
    #: When cycle 0 starts; with a time zone. Default: the Unix epoch.
    anchor_time: datetime | None = None

    def to_message(self) -> pb.Schedule:
        """Turn the schedule into its message."""
        spec = pb.ScheduleSpec(period=to_duration(self.period), salt=self.salt)
        if self.resolution is not None:
            spec.resolution.CopyFrom(to_duration(self.resolution))
        if self.anchor_time is not None:
            anchor_time = to_timestamp("schedule.spec.anchor_time", self.anchor_time)
            spec.anchor_time.CopyFrom(anchor_time)
        for name in ("slot_count", "bucket_count"):
            count = getattr(self, name)
            if count is not None:
                set_int32(spec, "schedule.spec", name, count)
        if self.placement is not None:
            set_enum(spec, "schedule.spec", "placement", self.placement)
        if self.profile is not None:
            set_enum(spec, "schedule.spec", "profile", self.profile)
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


def set_int32(message: object, parent: str, name: str, value: int) -> None:
    """Set an int32 field; a value that does not fit is refused as the sidecar would."""
    try:
        setattr(message, name, value)
    except (TypeError, ValueError) as error:
        raise _unfit(parent, name, value, "must be an integer of 32 bits") from error


def set_enum(message: object, parent: str, name: str, value: int) -> None:
    """Set an enum field; numbers that no one knows are the sidecar's to refuse."""
    try:
        setattr(message, name, int(value))
    except (TypeError, ValueError) as error:
        raise _unfit(parent, name, value, "must be a value of its enum") from error


def _unfit(parent: str, name: str, value: object, allowed: str) -> InvalidArgument:
    field = f"{parent}.{name}" if parent else name
    return InvalidArgument(
        f"{field}: {value!r} is refused: {allowed}",
        reason="ERROR_REASON_OUT_OF_RANGE",
        field=field,
        value=repr(value),
        allowed=allowed,
    )
