"""Connections that are kept for later calls. Each serves one call at a time."""

from __future__ import annotations

import time

from ._deadline import Deadline, TimeIsUp
from ._endpoint import Endpoint
from ._forks import ForkLock
from ._http import Connection
from ._secret import Unpicklable

#: How many idle connections are kept. More calls at a time open connections of their own.
_KEPT = 32

#: How long an idle connection is kept, in seconds. The sidecar keeps it for 60 s; a proxy between
#: them may keep it for less.
_KEPT_SECONDS = 30.0


class NotConnected(TimeIsUp):
    """The deadline passed before the connection was open."""


class Pool(Unpicklable):
    """The connections of one process. A forked child begins without any."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._lock = ForkLock(self._disown)
        self._idle: list[Connection] = []
        #: All open connections, including those in use.
        self._open: set[Connection] = set()

    def take(self) -> Connection | None:
        """Return an idle connection that the sidecar has not closed; ``None`` if there is none."""
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
            # A connection from before `close`, or of the parent process, is not in `_open`.
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
        """Close idle connections; those in use are closed when their calls end."""
        with self._lock:
            idle, self._idle, self._open = self._idle, [], set()
            self._endpoint.forget()
        for connection in idle:
            connection.close()

    def _surplus(self) -> list[Connection]:
        """Remove the connections that are too many or too old, longest unused first."""
        surplus = []
        while self._idle and (len(self._idle) > _KEPT or _is_old(self._idle[0])):
            surplus.append(self._idle.pop(0))
        return surplus

    def _disown(self) -> None:
        # Runs in a forked child; `_sockets` closes its copies of the sockets.
        self._idle, self._open = [], set()


def _is_old(connection: Connection) -> bool:
    return time.monotonic() - connection.idle_since > _KEPT_SECONDS
