"""Instants and spans: converts between Python's types and protobuf's."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from .errors import refused

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_SECOND = timedelta(seconds=1)
_MICROSECOND = timedelta(microseconds=1)
_SPAN = "must be a timedelta, such as timedelta(hours=8)"


def to_duration(field: str, span: timedelta) -> Duration:
    """Turn a span into its message, without rounding."""
    micros = to_micros(field, span)
    # Truncated towards zero: seconds and nanoseconds of a message have one sign.
    sign = -1 if micros < 0 else 1
    seconds, rest = divmod(abs(micros), 1_000_000)
    return Duration(seconds=sign * seconds, nanos=sign * rest * 1_000)


def from_duration(message: Duration) -> timedelta:
    """Turn a message into a span, rounded down to microseconds, the finest unit of Python."""
    return timedelta(seconds=message.seconds, microseconds=message.nanos // 1_000)


def from_optional_duration(message: Any, field: str) -> timedelta | None:
    """Read a span that a message may lack."""
    return from_duration(getattr(message, field)) if message.HasField(field) else None


def to_micros(field: str, span: timedelta) -> int:
    """Turn a span into microseconds, without rounding."""
    if not isinstance(span, timedelta):
        raise refused(field, span, _SPAN)
    return span // _MICROSECOND


def from_micros(micros: int) -> timedelta:
    """Turn microseconds into a span."""
    return timedelta(microseconds=micros)


def to_timestamp(field: str, instant: datetime) -> Timestamp:
    """Turn an instant into its message; refuse one without a time zone."""
    if not isinstance(instant, datetime) or instant.utcoffset() is None:
        allowed = "must be a datetime with a time zone, such as datetime.now(timezone.utc)"
        raise refused(field, instant, allowed)
    since_epoch = instant - EPOCH
    seconds, rest = divmod(since_epoch, _SECOND)
    return Timestamp(seconds=seconds, nanos=rest // _MICROSECOND * 1_000)


def from_timestamp(message: Timestamp) -> datetime:
    """Turn a message into an instant in UTC."""
    return EPOCH + timedelta(seconds=message.seconds, microseconds=message.nanos // 1_000)


def from_optional_timestamp(message: Any, field: str) -> datetime | None:
    """Read an instant that a message may lack."""
    return from_timestamp(getattr(message, field)) if message.HasField(field) else None


def ceil_timestamp(message: Timestamp) -> datetime:
    """Turn a watermark into an instant in UTC, rounded up.

    Rounded down, it could lie before a run that was listed, which would then be listed again.
    Rounded up, it skips no run, because runs start at whole milliseconds.
    """
    return EPOCH + timedelta(seconds=message.seconds, microseconds=-(-message.nanos // 1_000))


def ceil_unix_millis(field: str, instant: datetime) -> int:
    """Turn a watermark into milliseconds since the Unix epoch, rounded up for the same reason."""
    message = to_timestamp(field, instant)
    return message.seconds * 1_000 - (-message.nanos // 1_000_000)


def from_unix_millis(millis: int) -> datetime:
    """Turn milliseconds since the Unix epoch into an instant in UTC."""
    return EPOCH + timedelta(milliseconds=millis)
