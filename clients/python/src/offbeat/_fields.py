"""Setters of message fields.

A value that the type of a field cannot hold is refused as the sidecar would refuse it.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from .errors import refused
from .ids import checked_text
from .times import to_duration, to_timestamp

OUT_OF_RANGE = "ERROR_REASON_OUT_OF_RANGE"
_INTEGER = "must be an integer that the field can hold"


def set_integer(message: object, parent: str, name: str, value: int) -> None:
    """Set an integer field."""
    _set(message, parent, name, value, _INTEGER)


def set_number(message: object, parent: str, name: str, value: float) -> None:
    """Set a floating-point field."""
    _set(message, parent, name, value, "must be a number")


def set_flag(message: object, parent: str, name: str, value: bool) -> None:
    """Set a boolean field."""
    _set(message, parent, name, value, "must be True or False")


def set_enum(
    message: object, parent: str, name: str, value: object, kind: type[enum.IntEnum]
) -> None:
    """Set an enum field; the sidecar refuses numbers that it does not know."""
    if not isinstance(value, int):
        names = ", ".join(f"{kind.__name__}.{member.name}" for member in kind)
        raise refused(path(parent, name), value, f"must be one of {names}", OUT_OF_RANGE)
    set_integer(message, parent, name, int(value))


def set_text(message: object, parent: str, name: str, value: str) -> None:
    """Set a text field."""
    setattr(message, name, checked_text(path(parent, name), value))


def set_span(message: Any, parent: str, name: str, value: timedelta | None) -> None:
    """Set a ``Duration`` field, unless ``value`` is ``None``."""
    if value is not None:
        getattr(message, name).CopyFrom(to_duration(path(parent, name), value))


def set_time(message: Any, parent: str, name: str, value: datetime | None) -> None:
    """Set a ``Timestamp`` field, unless ``value`` is ``None``."""
    if value is not None:
        getattr(message, name).CopyFrom(to_timestamp(path(parent, name), value))


def add_names(message: Any, parent: str, name: str, values: Iterable[str]) -> None:
    """Fill a list of names; refuse a single ``str``, whose letters would count as names."""
    if isinstance(values, str):
        raise refused(path(parent, name), values, f"must be a list of names, such as [{values!r}]")
    at = path(parent, name)
    getattr(message, name).extend(
        [checked_text(f"{at}[{index}]", value) for index, value in enumerate(values)]
    )


def path(parent: str, name: str) -> str:
    """Return the path of a field inside ``parent``."""
    return f"{parent}.{name}" if parent else name


def _set(message: object, parent: str, name: str, value: object, allowed: str) -> None:
    try:
        setattr(message, name, value)
    except (TypeError, ValueError) as error:
        raise refused(path(parent, name), value, allowed, OUT_OF_RANGE) from error
