"""Locks that are new in a forked child: another thread may hold them at the fork."""

from __future__ import annotations

import os
import threading
from typing import Callable
from weakref import WeakSet


class ForkLock:
    """A lock for moments, which no child of a fork finds held."""

    def __init__(self, after_fork: Callable[[], None] = lambda: None) -> None:
        """Take what else a child forgets."""
        self._lock = threading.Lock()
        self._after_fork = after_fork
        _locks.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def try_acquire(self) -> bool:
        """Take the lock, if nobody holds it."""
        return self._lock.acquire(blocking=False)

    def release(self) -> None:
        self._lock.release()

    def renew(self) -> None:
        """Forget who holds it."""
        self._lock = threading.Lock()
        self._after_fork()


_locks: WeakSet[ForkLock] = WeakSet()


def _renew_all() -> None:
    for lock in _locks:
        lock.renew()


os.register_at_fork(after_in_child=_renew_all)
