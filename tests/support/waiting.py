"""Waiting for a condition: `within` returns whether it holds in time, `wait_until` fails if not."""

from __future__ import annotations

import time
from collections.abc import Callable


def within(seconds: float, true: Callable[[], bool], pause: float = 0.01) -> bool:
    """Whether the condition becomes true in time.

    The caller decides what follows: unlike :func:`wait_until`, this never fails by itself.
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
    """Waits until the condition becomes true.

    Unlike :func:`within`, this fails if the condition stays false, and names it by ``what``. By
    default it polls less often, because most of its conditions start a process or query a database.
    """
    if not within(seconds, true, pause):
        raise AssertionError(f"{what}: not after {seconds} s")
