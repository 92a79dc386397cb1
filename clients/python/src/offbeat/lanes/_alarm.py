"""The process's one real-time timer, shared by the deadlines that are open on the main thread.

It is taken with the first deadline and given back with the last. A timer that somebody else
had set goes on meanwhile: whichever is due first goes off first.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from typing import Any, Protocol

#: After so many seconds the timer goes off again, until Python has noticed: a signal that comes
#: just before a job waits in the kernel does not end that wait.
_AGAIN = 0.05


class Due(Protocol):
    """What is open until it ends."""

    ends: float

    def check(self) -> None:
        """Raise if the time is up."""


class Alarm:
    """Calls ``check`` of each open deadline, once, when its time is up."""

    def __init__(self) -> None:
        """Take nothing yet."""
        self._open: list[Due] = []
        # What was there before: who is called, when, and how often after that.
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
            return  # a handler that is not Python's could not be given back
        if not self._open:
            self._take()
        self._open.append(deadline)
        self._arm()

    def close(self, deadline: Due) -> None:
        """Watch it no more; if it was not watched, or is due already, nothing happens."""
        if any(other is deadline for other in self._open):
            self._forget(deadline)

    def _take(self) -> None:
        delay, self._interval = signal.setitimer(signal.ITIMER_REAL, 0)
        self._due = time.monotonic() + delay if delay else math.inf
        self._handler = signal.signal(signal.SIGALRM, self._ring)

    def _forget(self, deadline: Due) -> None:
        """Drop it, and give the timer back with the last."""
        self._open = [other for other in self._open if other is not deadline]
        if self._open:
            self._arm()
            return
        # In this order: a signal that is on its way still finds the handler that it is for.
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self._handler)
        if self._due != math.inf:
            signal.setitimer(signal.ITIMER_REAL, _delay(self._due), self._interval)

    def _arm(self) -> None:
        first = min(self._due, *(deadline.ends for deadline in self._open))
        signal.setitimer(signal.ITIMER_REAL, _delay(first), _AGAIN)

    def _ring(self, number: int, frame: Any) -> None:
        now = time.monotonic()
        # Those whose time is up are forgotten before anything is raised: a block that is left
        # by an exception at the wrong moment would not come to close them.
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
    """Return how long from now; a timer that is set to 0 would never go off."""
    return max(due - time.monotonic(), 1e-6)


ALARM = Alarm()
