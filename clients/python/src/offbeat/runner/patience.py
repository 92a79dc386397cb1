"""How long a tick waits for a sidecar: one call, normally within the margin of its look-ahead."""

from __future__ import annotations

from datetime import timedelta

from ..breaker import Breaker
from ..client import Client

_SHORTEST, _LONGEST = timedelta(seconds=1), timedelta(seconds=10)


def timeout_of(interval: timedelta) -> timedelta:
    """Return how long a call of a tick may take: a quarter of the interval, 1 to 10 s."""
    return max(_SHORTEST, min(interval / 4, _LONGEST))


def breaker_of(interval: timedelta) -> Breaker:
    """Return a breaker that lets a tick make only one call to a sidecar that does not answer.

    Otherwise each declaration and each page of rows would wait for the sidecar, and so would the
    workers in which the ticks run.
    """
    until_next = max(_SHORTEST, min(interval / 2, timedelta(seconds=30)))
    return Breaker(failure_count=1, open_duration=until_next, max_open_duration=until_next)


def make_client(interval: timedelta) -> Client:
    """Return the default client of a runner."""
    return Client(mode="auto", timeout=timeout_of(interval), breaker=breaker_of(interval))
