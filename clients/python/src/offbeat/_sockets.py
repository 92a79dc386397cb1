"""Sockets whose waits end at a deadline, and which forked processes do not share."""

from __future__ import annotations

import os
import socket
import weakref
from contextlib import suppress
from typing import Any

from ._deadline import Deadline, TimeIsUp


class Socket:
    """A TCP or Unix socket of this process."""

    def __init__(self, family: int) -> None:
        """Create the socket; it is not connected yet."""
        self._sock = socket.socket(family, socket.SOCK_STREAM)
        #: When a send or receive must be complete; without a deadline, they do not block.
        self.deadline: Deadline | None = None
        # Closes the connections of a client that is garbage-collected, without a ResourceWarning:
        # the collector finalizes objects in any order, and would warn of an open socket.
        self._end = weakref.finalize(self, _close, self._sock)
        _open.add(self)

    def connect(self, address: Any, seconds: float) -> None:
        """Connect within ``seconds``, or raise ``TimeIsUp``."""
        try:
            self._sock.settimeout(seconds)
            self._sock.connect(address)
            if self._sock.family != getattr(socket, "AF_UNIX", None):
                self._sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except BaseException as error:
            self.close()
            raise _late(error) from None

    def send(self, data: bytes | memoryview) -> None:
        """Send all of ``data``."""
        rest = memoryview(data)
        while rest:
            self._set_timeout()
            try:
                rest = rest[self._sock.send(rest) :]
            except socket.timeout as error:
                raise _late(error) from None

    def receive(self, buffer: Any) -> int | None:
        """Receive bytes; returns how many, 0 at the end, ``None`` if that would block."""
        self._set_timeout()
        try:
            return self._sock.recv_into(buffer)
        except BlockingIOError:
            return None
        except socket.timeout as error:
            raise _late(error) from None

    def close(self) -> None:
        """Close this process's copy of the socket; copies of a parent or child stay open."""
        _open.discard(self)
        self._end()

    def _set_timeout(self) -> None:
        # Before each wait: otherwise a peer that sends a byte now and then would never time out.
        self._sock.settimeout(0 if self.deadline is None else self.deadline.left())


def _late(error: BaseException) -> BaseException:
    """Return ``TimeIsUp`` for a timeout that was set here, and any other error as it is."""
    is_ours = isinstance(error, socket.timeout) and error.errno is None
    return TimeIsUp() if is_ours else error


def _close(sock: socket.socket) -> None:
    with suppress(OSError):
        sock.close()


#: All open sockets, including those that are not connected yet.
_open: weakref.WeakSet[Socket] = weakref.WeakSet()


def _close_inherited() -> None:
    """Close a forked child's copies of the parent's sockets.

    Closing a copy sends nothing, so the parent's connections continue. If the copies stayed open,
    no connection would end before the child does, and the child's copies of greenlets would read
    from them.
    """
    for inherited in list(_open):
        with suppress(Exception):
            inherited.close()


os.register_at_fork(after_in_child=_close_inherited)
