"""A circuit breaker: while a sidecar does not answer, calls fail at once instead of waiting."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from ._forks import ForkLock
from ._keywords import positional
from ._secret import Unpicklable
from .errors import CircuitOpen, DeadlineExceeded, NoAnswer, OffbeatError, Unavailable, refused

if TYPE_CHECKING:
    from dataclasses import KW_ONLY

_MAX_FAILURE_COUNT = 1_000_000
_MAX_SECONDS = 86_400.0


@positional(0)
@dataclass(frozen=True)
class Breaker:
    """When calls fail at once, without being made.

    failure_count: the circuit opens after this many calls in a row without an answer, 1 to
        1,000,000. A refusal is an answer. Default: 5.
    open_duration: how long it stays open, 1 ms to a day. Then one call is made, and others fail
        until it has ended. Default: 1 s. It doubles each time that this call has no answer either.
    max_open_duration: the upper limit of the doubling, open_duration to a day. Default: 30 s.

    >>> Breaker(failure_count=3).open_duration
    datetime.timedelta(seconds=1)
    """

    if TYPE_CHECKING:
        _: KW_ONLY
    failure_count: int = 5
    open_duration: timedelta = timedelta(seconds=1)
    max_open_duration: timedelta = timedelta(seconds=30)

    def __post_init__(self) -> None:
        """Refuse values that are out of range."""
        count = self.failure_count
        if not isinstance(count, int) or not 1 <= count <= _MAX_FAILURE_COUNT:
            raise refused("breaker.failure_count", count, "must be 1 to 1000000 calls")
        least = timedelta(milliseconds=1)
        for name in ("open_duration", "max_open_duration"):
            span = getattr(self, name)
            if not isinstance(span, timedelta) or not least <= span <= timedelta(days=1):
                allowed = f"must be {least.total_seconds()} to {_MAX_SECONDS:.0f} s, as a timedelta"
                raise refused(f"breaker.{name}", span, allowed)
            least = span


class Circuit(Unpicklable):
    """The state of a breaker, for one client in one process."""

    def __init__(self, breaker: Breaker | None, address: str) -> None:
        """Start closed; without a breaker, the circuit never opens."""
        self._breaker, self._address = breaker, address
        self._lock = ForkLock(self._close)
        self._close()

    def _close(self) -> None:
        self._failures = 0
        self._open_seconds = 0.0
        self._open_until = 0.0
        self._probing = False

    @contextmanager
    def call(self) -> Iterator[None]:
        """Run a call: refuse it while the circuit is open, and count its outcome."""
        is_probe = self._admit()
        try:
            yield
        except OffbeatError as error:
            self._end(_is_answer(error), is_probe)
            raise
        except BaseException:  # such as a cancellation: it says nothing about the sidecar
            with self._lock:
                self._probing = self._probing and not is_probe
            raise
        else:
            self._end(True, is_probe)

    def _admit(self) -> bool:
        """Admit a call, or raise ``CircuitOpen``; returns whether the call is the probe."""
        with self._lock:
            if not self._open_seconds:
                return False
            left = self._open_until - time.monotonic()
            if left <= 0 and not self._probing:
                self._probing = True
                return True
        when = f"is tried again in {left:.1f} s" if left > 0 else "is being tried again"
        message = f"{self._address}: the sidecar was not asked: it has not answered, and {when}"
        raise CircuitOpen(message, retry_delay=timedelta(seconds=max(left, 0.0)))

    def _end(self, answered: bool, was_probe: bool) -> None:
        with self._lock:
            if answered:
                self._close()
                return
            if self._breaker is None:
                return
            self._failures += 1
            opens = self._failures >= self._breaker.failure_count and not self._open_seconds
            if was_probe or opens:
                longest = self._breaker.max_open_duration.total_seconds()
                first = self._breaker.open_duration.total_seconds()
                self._open_seconds = min(2 * self._open_seconds or first, longest)
                self._open_until = time.monotonic() + self._open_seconds
                self._probing = False


def _is_answer(error: OffbeatError) -> bool:
    """Say whether the sidecar answered: a refusal is an answer, even during its shutdown."""
    if isinstance(error, DeadlineExceeded):
        return False
    return not isinstance(error, NoAnswer) or (
        isinstance(error, Unavailable) and bool(error.reason)
    )


def resolve_breaker(breaker: Breaker | bool | None, default: bool) -> Breaker | None:
    """Return the breaker of a setting: ``True`` is the default one, ``None`` means ``default``."""
    if breaker is None:
        breaker = default
    if isinstance(breaker, bool):
        return Breaker() if breaker else None
    if not isinstance(breaker, Breaker):
        raise refused("breaker", breaker, "must be a Breaker, True for its defaults, or False")
    return breaker
