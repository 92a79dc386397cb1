"""The process's only real-time timer, shared by the open deadlines of the main thread.

The first deadline takes it over, and the last one restores it. A timer that was set before keeps
running: it still fires when it is due, before or after a deadline.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from typing import Any, Protocol

#: The timer fires again after this many seconds until Python has handled the signal: a signal
#: that arrives just before a job blocks in the kernel does not end that wait.
_AGAIN = 0.05


class Due(Protocol):
    """An open deadline."""

    ends: float

    def check(self) -> None:
        """Raise if the time is up."""


class Alarm:
    """Calls ``check`` of each open deadline, once, when its time is up."""

    def __init__(self) -> None:
        """Leave the timer alone until the first deadline."""
        self._open: list[Due] = []
        # The timer before the first deadline: its handler, when it is due, and its interval.
        self._handler: Any = None
        self._due = math.inf
        self._interval = 0.0

    def open(self, deadline: Due) -> None:
        """Watch a deadline, if this thread can be interrupted."""
        if not hasattr(signal, "setitimer"):
            return  # Windows
        if threading.current_thread() is not threading.main_thread():
            return
        if signal.getsignal(signal.SIGALRM) is None:
            return  # a handler that was not set from Python could not be restored
        if not self._open:
            self._take()
        self._open.append(deadline)
        self._arm()

    def close(self, deadline: Due) -> None:
        """Stop watching a deadline; no effect if it is not watched or has expired."""
        if any(other is deadline for other in self._open):
            self._forget(deadline)

    def _take(self) -> None:
        delay, self._interval = signal.setitimer(signal.ITIMER_REAL, 0)
        self._due = time.monotonic() + delay if delay else math.inf
        self._handler = signal.signal(signal.SIGALRM, self._ring)

    def _forget(self, deadline: Due) -> None:
        """Drop a deadline; after the last one, restore the timer."""
        self._open = [other for other in self._open if other is not deadline]
        if self._open:
            self._arm()
            return
        # In this order, so that a pending signal still finds its own handler.
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self._handler)
        if self._due != math.inf:
            signal.setitimer(signal.ITIMER_REAL, _delay(self._due), self._interval)

    def _arm(self) -> None:
        first = min(self._due, *(deadline.ends for deadline in self._open))
        signal.setitimer(signal.ITIMER_REAL, _delay(first), _AGAIN)

    def _ring(self, number: int, frame: Any) -> None:
        now = time.monotonic()
        # Forget the expired deadlines before raising anything: a block that an exception leaves
        # at the wrong moment would never close them.
        due = [deadline for deadline in self._open if deadline.ends <= now]
        foreign = self._due <= now
        if foreign:
            self._due = now + self._interval if self._interval else math.inf
        for deadline in due:
            self._forget(deadline)
        if self._open and not due:
            self._arm()
        if foreign:
            self._pass_on(number, frame)
        for deadline in due:
            deadline.check()

    def _pass_on(self, number: int, frame: Any) -> None:
        if callable(self._handler):
            self._handler(number, frame)
        elif self._handler != signal.SIG_IGN:  # the default is to end the process
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)


def _delay(due: float) -> float:
    """Return the seconds from now, above 0: a timer that is set to 0 would never fire."""
    return max(due - time.monotonic(), 1e-6)


ALARM = Alarm()
