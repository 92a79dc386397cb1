"""Addresses and timeouts of clients."""

from __future__ import annotations

import os
import re
from datetime import timedelta
from typing import Literal, Union

from .errors import refused

#: The default address of a sidecar.
DEFAULT_ADDRESS = "127.0.0.1:2328"

#: The longest timeout, in seconds.
_LONGEST = 1e8

#: Named timeouts, in seconds: a web process cannot wait, a worker can.
_TIMEOUTS = {"web": 0.3, "worker": 10.0}
_WORDS = "a positive number of seconds, 'web' (0.3 s) or 'worker' (10 s)"

#: How long calls may take: a name, a number of seconds, or a ``timedelta``.
Timeout = Union[Literal["web", "worker"], float, timedelta]


def resolve_address(address: str | None) -> str:
    """Return the given address, else that of ``OFFBEAT_ADDRESS``, else the default."""
    return _checked_address(
        (os.environ.get("OFFBEAT_ADDRESS") or DEFAULT_ADDRESS) if address is None else address
    )


def resolve_timeout(timeout: Timeout | None) -> tuple[float, bool]:
    """Return the given timeout, else that of ``OFFBEAT_TIMEOUT``, else the default.

    Also returns whether it is that of a web process, whose client has a breaker.
    """
    if timeout is None:
        return _from_environment(os.environ.get("OFFBEAT_TIMEOUT") or "worker")
    if not isinstance(timeout, str):
        return to_seconds(timeout), False
    if timeout not in _TIMEOUTS:
        raise refused("timeout", timeout, f"must be {_WORDS}")
    return _TIMEOUTS[timeout], timeout == "web"


def _from_environment(text: str) -> tuple[float, bool]:
    if text in _TIMEOUTS:
        return _TIMEOUTS[text], text == "web"
    try:
        return to_seconds(float(text)), False
    except ValueError as error:
        raise refused("OFFBEAT_TIMEOUT", text, f"must be {_WORDS}") from error


def to_seconds(timeout: float | timedelta) -> float:
    seconds = timeout.total_seconds() if isinstance(timeout, timedelta) else timeout
    if not isinstance(seconds, (int, float)) or not 0 < seconds < float("inf"):
        raise refused("timeout", timeout, "must be a positive number of seconds, or a timedelta")
    return min(float(seconds), _LONGEST)  # grpc counts nanoseconds in 64 bits


def _checked_address(address: str) -> str:
    """Refuse an address that a transport would misread: as port 443, or as a name to look up."""
    allowed = "must be HOST:PORT with a port of 1 to 65535, or unix:PATH"
    if not isinstance(address, str):
        raise refused("address", address, allowed)
    if address.startswith("unix:") and len(address) > len("unix:"):
        return address
    host, _, port = address.rpartition(":")
    if not re.fullmatch(r"[^\s/]+", host) or not port.isdecimal() or not 1 <= int(port) <= 65_535:
        raise refused("address", address, allowed)
    return address
