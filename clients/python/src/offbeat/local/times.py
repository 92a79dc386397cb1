"""Spans and instants as whole nanoseconds, and as messages and texts."""

from __future__ import annotations

from datetime import datetime, timedelta

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from .rejections import MALFORMED, OUT_OF_RANGE, Rejection

SECOND = 1_000_000_000
MILLISECOND = 1_000_000

#: 0001-01-01T00:00:00Z and 9999-12-31T23:59:59.999999999Z, since the Unix epoch.
MIN_MOMENT = -62_135_596_800 * SECOND
MAX_MOMENT = 253_402_300_800 * SECOND - 1
#: The same in milliseconds, rounded outwards.
MIN_MILLIS = MIN_MOMENT // MILLISECOND
MAX_MILLIS = -(-MAX_MOMENT // MILLISECOND)

_EPOCH = datetime(1970, 1, 1)


def read_span(field: str, message: Duration) -> int:
    """Read a span; its seconds and nanoseconds must have one sign."""
    seconds, nanos = message.seconds, message.nanos
    if abs(nanos) >= SECOND or seconds * nanos < 0:
        allowed = "must be -999999999 to 999999999 ns, with the sign of the seconds"
        raise Rejection(MALFORMED, f"{field}.nanos", nanos, allowed)
    return seconds * SECOND + nanos


def read_moment(field: str, message: Timestamp) -> int:
    """Read an instant of the years 1 to 9999."""
    seconds, nanos = message.seconds, message.nanos
    if not 0 <= nanos < SECOND:
        raise Rejection(MALFORMED, f"{field}.nanos", nanos, "must be 0 to 999999999 ns")
    moment = seconds * SECOND + nanos
    if not MIN_MOMENT <= moment <= MAX_MOMENT:
        raise Rejection(
            OUT_OF_RANGE, field, f"{seconds}s since the Unix epoch", f"must be {all_time()}"
        )
    return moment


def duration(nanos: int) -> Duration:
    """Write a span that is not negative."""
    return Duration(seconds=nanos // SECOND, nanos=nanos % SECOND)


def timestamp(nanos: int) -> Timestamp:
    """Write an instant."""
    return Timestamp(seconds=nanos // SECOND, nanos=nanos % SECOND)


def timestamp_of_millis(millis: int) -> Timestamp | None:
    """Write an instant, if it lies in the years 1 to 9999."""
    nanos = millis * MILLISECOND
    return timestamp(nanos) if MIN_MOMENT <= nanos <= MAX_MOMENT else None


def floor_millis(nanos: int) -> int:
    return nanos // MILLISECOND


def ceil_millis(nanos: int) -> int:
    return -(-nanos // MILLISECOND)


def is_in_time(millis: int) -> bool:
    """Say whether an instant lies in the years 1 to 9999."""
    return MIN_MOMENT <= millis * MILLISECOND <= MAX_MOMENT


def within_time(millis: int) -> int:
    """Clamp an instant to the years 1 to 9999, including their end."""
    return min(max(millis, MIN_MILLIS), MAX_MILLIS)


def span_text(nanos: int) -> str:
    """Format a span as ``28800s`` or ``0.250s``, with 0, 3, 6 or 9 decimal places."""
    sign, size = ("-" if nanos < 0 else ""), abs(nanos)
    return f"{sign}{size // SECOND}{_fraction(size % SECOND)}s"


def moment_text(nanos: int) -> str:
    """Format an instant as ``2026-01-01T00:00:00Z``, with decimal places as in a span."""
    seconds = _EPOCH + timedelta(seconds=nanos // SECOND)
    return f"{seconds.isoformat()}{_fraction(nanos % SECOND)}Z"


def all_time() -> str:
    return f"{moment_text(MIN_MOMENT)} to {moment_text(MAX_MOMENT)}"


def _fraction(nanos: int) -> str:
    if not nanos:
        return ""
    if nanos % 1_000_000 == 0:
        return f".{nanos // 1_000_000:03}"
    return f".{nanos // 1_000:06}" if nanos % 1_000 == 0 else f".{nanos:09}"
