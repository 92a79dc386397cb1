"""Waiting for a condition: `within` says whether it holds in time, `wait_until` fails if not."""

from __future__ import annotations

import time
from collections.abc import Callable


def within(seconds: float, true: Callable[[], bool], pause: float = 0.01) -> bool:
    """Whether the condition becomes true in time.

    A condition that stays false is an answer like any other: unlike :func:`wait_until`, this
    never fails. It is for conditions of which the caller asserts more than that they hold.
    """
    limit = time.monotonic() + seconds
    while not true():
        if time.monotonic() > limit:
            return False
        time.sleep(pause)
    return True


def wait_until(
    seconds: float, true: Callable[[], bool], what: str = "the condition", pause: float = 0.1
) -> None:
    """Waits until the condition becomes true, which ``what`` names.

    Unlike :func:`within`, this fails if it does not become true in time. It looks less often,
    because most of these conditions start a process or ask a database.
    """
    if not within(seconds, true, pause):
        raise AssertionError(f"{what}: not after {seconds} s")
