"""Connections that are kept for the next calls: each is one call's at a time."""

from __future__ import annotations

import time

from ._deadline import Deadline, TimeIsUp
from ._endpoint import Endpoint
from ._forks import ForkLock
from ._http import Connection
from ._secret import Unpicklable

#: So many are kept; of more calls at a time, the others connect for themselves.
_KEPT = 32

#: For so many seconds. The sidecar keeps one that is idle for 60; what stands between, who knows.
_KEPT_SECONDS = 30.0


class NotConnected(TimeIsUp):
    """The deadline has passed before there was a connection."""


class Pool(Unpicklable):
    """The connections of one process. A forked child begins without any."""

    def __init__(self, endpoint: Endpoint) -> None:
        """Begin without any."""
        self._endpoint = endpoint
        self._lock = ForkLock(self._disown)
        self._idle: list[Connection] = []
        #: All, also those in calls.
        self._open: set[Connection] = set()

    def take(self) -> Connection | None:
        """Return a connection that was kept, and that the sidecar has not closed since."""
        while True:
            with self._lock:
                if not self._idle:
                    return None
                connection = self._idle.pop()
            if not _is_old(connection) and connection.is_quiet():
                return connection
            self.drop(connection)

    def connect(self, deadline: Deadline) -> Connection:
        """Return a new connection."""
        try:
            connection = Connection(self._endpoint.connect(deadline))
        except TimeIsUp:
            raise NotConnected from None
        with self._lock:
            self._open.add(connection)
        return connection

    def give_back(self, connection: Connection) -> None:
        """Keep a connection, if it may be used again."""
        with self._lock:
            # One that was closed by `close`, or is a parent's, is not among the open ones.
            is_kept = connection.is_reusable and connection in self._open
            if is_kept:
                self._idle.append(connection)
            surplus = self._surplus()
        for dropped in surplus if is_kept else [connection, *surplus]:
            self.drop(dropped)

    def drop(self, connection: Connection) -> None:
        """Close a connection."""
        with self._lock:
            self._open.discard(connection)
        connection.close()

    def close(self) -> None:
        """Close those that are idle; those in calls are closed when these end."""
        with self._lock:
            idle, self._idle, self._open = self._idle, [], set()
            self._endpoint.forget()
        for connection in idle:
            connection.close()

    def _surplus(self) -> list[Connection]:
        """Take out those that are too many, or too old: the ones that were used longest ago."""
        surplus = []
        while self._idle and (len(self._idle) > _KEPT or _is_old(self._idle[0])):
            surplus.append(self._idle.pop(0))
        return surplus

    def _disown(self) -> None:
        # In a forked child, whose copies of the sockets are closed.
        self._idle, self._open = [], set()


def _is_old(connection: Connection) -> bool:
    return time.monotonic() - connection.idle_since > _KEPT_SECONDS
