"""The deadline of a call."""

from __future__ import annotations

import time

#: The longest single wait of a socket, in seconds: the system counts milliseconds in 31 bits.
_LONGEST_WAIT = 1e6


class TimeIsUp(Exception):
    """The deadline has passed."""


class Deadline:
    """The instant by which a call must be complete, by the monotonic clock."""

    def __init__(self, seconds: float) -> None:
        """Start the clock now."""
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Return the seconds that are left, at most 1e6; raise ``TimeIsUp`` if none are."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeIsUp
        return min(left, _LONGEST_WAIT)

    def allows(self, pause: float) -> bool:
        """Say whether any time is left after ``pause`` seconds."""
        return time.monotonic() + pause < self._end
