"""Checks of the fields of a spec: each is in range, or is refused by name."""

from __future__ import annotations

import math

from ..v1 import schedule_pb2 as pb
from .ids import check_part
from .limits import PERIOD, RESOLUTION, SALT, SCHEDULE_NAME, SCHEDULE_VERSION, SLOT_COUNT
from .placement import FRACTION, HASH, TWISTER
from .rejections import (
    CONTRADICTORY,
    FIELD_MISSING,
    OUT_OF_RANGE,
    SLOT_COUNT_DOES_NOT_DIVIDE,
    Rejection,
    quoted,
)
from .times import MILLISECOND, moment_text, span_text

#: Names by the enum numbers of the protocol.
PLACEMENTS = (HASH, HASH, TWISTER, FRACTION)
PROFILES = ("", "RUBY", "RUBY_3_0_TO_3_1", "PYTHON", "PHP")
_DEFAULT_BUCKET_COUNT, _WIDE_BUCKET_COUNT = 256, 65_536


def check_resolution(resolution: int) -> int:
    millis, rest = divmod(resolution, MILLISECOND)
    if rest or millis <= 0 or 1_000 % millis:
        allowed = f"must be {RESOLUTION}, and divide one second (1000, 500, 250, … 1 ms)"
        raise Rejection(OUT_OF_RANGE, "resolution", span_text(resolution), allowed)
    return millis


def check_period(period: int, tick_millis: int) -> int:
    millis, rest = divmod(period, MILLISECOND)
    if rest or not PERIOD.allows(millis) or millis % tick_millis:
        tick = span_text(tick_millis * MILLISECOND)
        most = PERIOD.maximum // 1_000
        allowed = f"must be {tick} to {most}s (3660 days), a whole number of ticks of {tick}"
        raise Rejection(OUT_OF_RANGE, "period", span_text(period), allowed)
    return millis // tick_millis


def check_anchor(anchor: int, tick_millis: int) -> int:
    tick = tick_millis * MILLISECOND
    if anchor % tick:
        allowed = f"must be a whole number of ticks of {span_text(tick)} since the Unix epoch"
        raise Rejection(OUT_OF_RANGE, "anchor_time", moment_text(anchor), allowed)
    return anchor // MILLISECOND


def check_placement(spec: pb.ScheduleSpec) -> tuple[str, int]:
    """Return the placement, and the bucket count; 0 except with TWISTER."""
    placement = PLACEMENTS[spec.placement]

    def contradiction(field: str, value: object, owner: str) -> Rejection:
        allowed = f"must not be set with placement {placement}: only {owner} reads it"
        return Rejection(CONTRADICTORY, field, value, allowed)

    if placement != HASH and spec.salt:
        raise contradiction("salt", quoted(spec.salt), HASH)
    if placement != TWISTER:
        if spec.HasField("bucket_count"):
            raise contradiction("bucket_count", spec.bucket_count, TWISTER)
        if spec.profile:
            raise contradiction("profile", PROFILES[spec.profile], TWISTER)
        check_salt(spec.salt)
        return placement, 0
    count = spec.bucket_count if spec.HasField("bucket_count") else _DEFAULT_BUCKET_COUNT
    if count not in (_DEFAULT_BUCKET_COUNT, _WIDE_BUCKET_COUNT):
        allowed = "must be 256 or 65536 buckets (the last byte of an ID, or its last two)"
        raise Rejection(OUT_OF_RANGE, "bucket_count", count, allowed)
    return placement, count


def check_salt(salt: str) -> None:
    """Refuse a salt that is too long."""
    size = len(salt.encode())
    if size > SALT.maximum:
        raise Rejection(OUT_OF_RANGE, "salt", f"a salt of {size} bytes", f"must be {SALT}")


def check_slot_count(
    spec: pb.ScheduleSpec, period_ticks: int, tick_millis: int, bucket_count: int
) -> int:
    """Return the slot count; ``bucket_count`` is 0 except with TWISTER."""
    if not spec.HasField("slot_count"):
        return _default_slot_count(period_ticks * tick_millis)
    count = spec.slot_count
    if not SLOT_COUNT.allows(count):
        raise Rejection(OUT_OF_RANGE, "slot_count", count, f"must be {SLOT_COUNT}")
    if bucket_count and count > bucket_count:
        allowed = (
            f"must be 1 to {bucket_count} slots with {bucket_count} buckets: beyond, slots stay "
            "empty (bucket_count 65536, or placement HASH, take more)"
        )
        raise Rejection(OUT_OF_RANGE, "slot_count", count, allowed)
    if period_ticks % count:
        tick = span_text(tick_millis * MILLISECOND)
        nearest = _nearest_divisors(period_ticks, count)
        allowed = f"must divide the period of {period_ticks} ticks of {tick} ({nearest})"
        raise Rejection(SLOT_COUNT_DOES_NOT_DIVIDE, "slot_count", count, allowed)
    return count


def _default_slot_count(period_millis: int) -> int:
    seconds, rest = divmod(period_millis, 1_000)
    if rest:
        period = span_text(period_millis * MILLISECOND)
        allowed = (
            f"the period {period} is no whole number of seconds, so the slot count must be given"
        )
        raise Rejection(FIELD_MISSING, "slot_count", "nothing", allowed)
    return math.gcd(seconds, _DEFAULT_BUCKET_COUNT)


def _nearest_divisors(period: int, count: int) -> str:
    """Return the divisors of the period that are nearest to a count, in words.

    Searches 1,024 steps from the count, and then 1,024 steps from the quotient.
    """
    steps, times = 1_024, period // count

    def found(numbers: range) -> int | None:
        return next((number for number in numbers if period % number == 0), None)

    below = found(range(count - 1, max(count - steps, 1) - 1, -1))
    if below is None:
        more = found(range(times + 1, times + steps + 1))
        below = None if more is None else period // more
    above = found(range(count + 1, count + steps + 1))
    if above is None:
        fewer = found(range(times, max(times - steps, 1) - 1, -1))
        above = None if fewer is None else period // fewer
    if above is not None and above > SLOT_COUNT.maximum:
        above = None
    if below is not None and above is not None:
        return f"nearest: {below} and {above} slots"
    only = below if above is None else above
    return "nearest: none within 1024 steps" if only is None else f"nearest: {only} slots"


def check_reference(name: str, version: int) -> None:
    """Refuse an invalid name or version."""
    check_part("name", name, SCHEDULE_NAME)
    if version == 0:
        allowed = f"must be {SCHEDULE_VERSION}; the newest is not the default"
        raise Rejection(FIELD_MISSING, "version", version, allowed)
    if not SCHEDULE_VERSION.allows(version):
        raise Rejection(OUT_OF_RANGE, "version", version, f"must be {SCHEDULE_VERSION}")
