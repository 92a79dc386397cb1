"""Clients that decide without a sidecar."""

from __future__ import annotations

from datetime import datetime

from .._modes import SchedulesFile
from ..aio import AsyncClient
from ..client import Client
from .clocks import Clock


class FakeClient(Client):
    """A :class:`~offbeat.Client` for tests: in the mode ``"local"``, with a ``clock`` to set.

    ``now`` is the initial time of the clock, by default that of the machine. ``schedules`` is a
    file of schedules by name, as for ``Client``.

    >>> from datetime import timedelta, timezone
    >>> import offbeat
    >>> client = FakeClient(now=datetime(2026, 1, 1, tzinfo=timezone.utc))
    >>> daily = offbeat.Schedule(timedelta(days=1))
    >>> client.assign_slot(daily, "acme").next_run.start_time.isoformat()
    '2026-01-01T07:51:01+00:00'
    >>> client.clock.travel(timedelta(days=1))
    >>> client.assign_slot(daily, "acme").next_run.start_time.isoformat()
    '2026-01-02T07:51:01+00:00'
    """

    def __init__(
        self, *, now: datetime | None = None, schedules: SchedulesFile | None = None
    ) -> None:
        """Set the clock."""
        self.clock = Clock(now)
        super().__init__(
            _NO_ADDRESS, mode="local", schedules=schedules, timeout="worker", breaker=False
        )

    def _now(self) -> datetime:
        return self.clock.now


class FakeAsyncClient(AsyncClient):
    """An :class:`~offbeat.AsyncClient` for tests, like :class:`FakeClient`."""

    def __init__(
        self, *, now: datetime | None = None, schedules: SchedulesFile | None = None
    ) -> None:
        """Set the clock."""
        self.clock = Clock(now)
        super().__init__(
            _NO_ADDRESS, mode="local", schedules=schedules, timeout="worker", breaker=False
        )

    def _now(self) -> datetime:
        return self.clock.now


#: No sidecar is called.
_NO_ADDRESS = "offbeat.invalid:1"
