"""A clock that stands still until it is set."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from ..times import to_micros, to_timestamp


class Clock:
    """A clock for tests.

    >>> clock = Clock(datetime(2026, 1, 1, tzinfo=timezone.utc))
    >>> clock.travel(timedelta(hours=2))
    >>> clock.now.hour
    2
    """

    def __init__(self, now: datetime | None = None) -> None:
        """Set the clock to an instant with a time zone, by default the present one."""
        self.now = datetime.now(timezone.utc) if now is None else now

    @property
    def now(self) -> datetime:
        """The instant that the clock shows."""
        return self._now

    @now.setter
    def now(self, now: datetime) -> None:
        to_timestamp("now", now)  # refused if it is no instant
        self._now = now

    def travel(self, span: timedelta) -> None:
        """Move the clock forward, or back with a negative span."""
        to_micros("span", span)
        self._now += span
