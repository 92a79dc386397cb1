"""Locks that are replaced in a forked child: another thread may hold them during the fork."""

from __future__ import annotations

import os
import sys
import threading
from typing import Any, Callable, Generic, TypeVar
from weakref import WeakSet

T = TypeVar("T")


class ForkLock:
    """A lock for short critical sections, which a forked child never finds held."""

    def __init__(self, after_fork: Callable[[], None] = lambda: None) -> None:
        """Call ``after_fork`` in a forked child, to reset what the lock protects."""
        self._lock = threading.Lock()
        self._pid = os.getpid()
        self._after_fork = after_fork
        _locks.add(self)

    def __enter__(self) -> None:
        if self._pid != os.getpid():  # a server in C, such as uWSGI, may fork without hooks
            self.renew()
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def try_acquire(self) -> bool:
        """Take the lock if it is free; return whether it was."""
        return self._lock.acquire(blocking=False)

    def release(self) -> None:
        self._lock.release()

    def renew(self) -> None:
        """Replace the lock by a free one, and reset what it protects."""
        self._lock = threading.Lock()
        self._pid = os.getpid()
        self._after_fork()


class PerProcess(Generic[T]):
    """A value that each process creates for itself at the first use."""

    def __init__(self, make: Callable[[], T]) -> None:
        """Store the factory; nothing is created yet."""
        self._make = make
        self._lock = ForkLock(self._forget)
        self._made: list[T] = []

    def _forget(self) -> None:
        self._made = []

    def __call__(self) -> T:
        """Return the value of this process."""
        with self._lock:
            if not self._made:
                self._made.append(self._make())
            return self._made[0]


_locks: WeakSet[ForkLock] = WeakSet()


def _renew_all() -> None:
    for lock in _locks:
        lock.renew()
    # The pure-Python implementation of Protobuf has one lock for all messages.
    protobuf: Any = sys.modules.get("google.protobuf.descriptor")
    if hasattr(protobuf, "_lock"):
        protobuf._lock = threading.Lock()


os.register_at_fork(after_in_child=_renew_all)
