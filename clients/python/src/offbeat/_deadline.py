"""When a call must be complete."""

from __future__ import annotations

import time

#: As long as a socket may wait at once, in seconds: the system counts milliseconds in 31 bits.
_LONGEST_WAIT = 1e6


class TimeIsUp(Exception):
    """The deadline has passed."""


class Deadline:
    """The end of a call, by the monotonic clock."""

    def __init__(self, seconds: float) -> None:
        """Begin now."""
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Return the seconds that are left; raise ``TimeIsUp`` if there are none."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeIsUp
        return min(left, _LONGEST_WAIT)

    def allows(self, pause: float) -> bool:
        """Say whether something is left after so many seconds."""
        return time.monotonic() + pause < self._end
