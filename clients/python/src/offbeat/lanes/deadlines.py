"""The deadline of an attempt, for the worker that runs it."""

from __future__ import annotations

import math
import time
from types import TracebackType

from ..errors import OffbeatError
from ._alarm import ALARM
from .routes import LaneRoute


class AttemptTimedOut(OffbeatError):
    """An attempt's time is up: its job goes to ``route.next_lane_name``, or fails permanently.

    This is not a ``TimeoutError``: that is an ``OSError``, which jobs catch for other reasons.
    """

    def __init__(self, route: LaneRoute) -> None:
        super().__init__(f"attempt {route.attempt} reached the timeout of lane {route.lane_name!r}")
        #: The route of the attempt.
        self.route = route

    def __reduce__(self) -> tuple[type[AttemptTimedOut], tuple[LaneRoute]]:
        """Make it picklable: a pool's worker sends it to its parent."""
        return type(self), (self.route,)


class AttemptDeadline:
    """The deadline of an attempt, by its route. Its time starts when it is created.

    As a context manager on the main thread, it raises :class:`AttemptTimedOut` once in the
    running job when the time is up, as Celery raises its ``SoftTimeLimitExceeded``: wherever
    the job is, unless it is in C code that handles no signals. For this, it takes over
    ``SIGALRM`` and its timer, and restores them afterwards. A timer that was set before still
    fires, and deadlines may be nested, but a job that sets that timer itself has only
    :meth:`check`.

    In other threads, and on systems without such a timer, only :meth:`check` raises: let the
    job call it often. In asyncio, where ``with`` would interrupt the loop, use
    ``asyncio.wait_for(job, deadline.remaining)`` instead.
    """

    def __init__(self, route: LaneRoute) -> None:
        """Start the clock."""
        self.route = route
        timeout = route.attempt_timeout
        #: When the time is up, by ``time.monotonic()``; infinite without a timeout.
        self.ends = math.inf if timeout is None else time.monotonic() + timeout.total_seconds()

    @property
    def remaining(self) -> float | None:
        """How many seconds are left, at least 0; ``None`` without a timeout."""
        return None if self.ends == math.inf else max(0.0, self.ends - time.monotonic())

    @property
    def expired(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() >= self.ends

    def check(self) -> None:
        """Raise :class:`AttemptTimedOut` if the time is up."""
        if self.expired:
            raise AttemptTimedOut(self.route)

    def __enter__(self) -> AttemptDeadline:
        self.check()
        if self.ends != math.inf:
            ALARM.open(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        ALARM.close(self)
