"""Whom to ask, and how long to wait."""

from __future__ import annotations

import os
from datetime import timedelta

from .errors import refused

#: Where a sidecar listens.
DEFAULT_ADDRESS = "127.0.0.1:2328"

#: As good as for ever, in seconds.
_LONGEST = 1e8

#: How long a call may take that is not told otherwise, in seconds.
DEFAULT_TIMEOUT = 10.0


def resolve_address(address: str | None) -> str:
    """Return the address that was given, else that of the environment, else the default."""
    return _checked_address(
        (os.environ.get("OFFBEAT_ADDRESS") or DEFAULT_ADDRESS) if address is None else address
    )


def resolve_timeout(timeout: float | timedelta | None) -> float:
    """Return the timeout that was given, else that of the environment, else the default."""
    if timeout is not None:
        return to_seconds(timeout)
    text = os.environ.get("OFFBEAT_TIMEOUT")
    if not text:
        return DEFAULT_TIMEOUT
    try:
        return to_seconds(float(text))
    except ValueError as error:
        raise refused("OFFBEAT_TIMEOUT", text, "must be a positive number of seconds") from error


def to_seconds(timeout: float | timedelta) -> float:
    seconds = timeout.total_seconds() if isinstance(timeout, timedelta) else timeout
    if not isinstance(seconds, (int, float)) or not 0 < seconds < float("inf"):
        raise refused("timeout", timeout, "must be a positive number of seconds, or a timedelta")
    return min(float(seconds), _LONGEST)  # grpc counts nanoseconds in 64 bits


def _checked_address(address: str) -> str:
    """Refuse what grpc would take for something else: port 443, a name to look up."""
    allowed = "must be HOST:PORT with a port of 1 to 65535, or unix:PATH"
    if not isinstance(address, str):
        raise refused("address", address, allowed)
    if address.startswith("unix:") and len(address) > len("unix:"):
        return address
    host, _, port = address.rpartition(":")
    if not host or "/" in host or not port.isdecimal() or not 1 <= int(port) <= 65_535:
        raise refused("address", address, allowed)
    return address
