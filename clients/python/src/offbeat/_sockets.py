"""Sockets whose waits end with a deadline, and which no fork shares."""

from __future__ import annotations

import os
import socket
import weakref
from contextlib import suppress
from typing import Any

from ._deadline import Deadline, TimeIsUp


class Socket:
    """A socket of this process, over TCP or of Unix."""

    def __init__(self, family: int) -> None:
        """Connect to nothing yet."""
        self._sock = socket.socket(family, socket.SOCK_STREAM)
        #: When what is sent or received must be complete; without one, nothing waits.
        self.deadline: Deadline | None = None
        # A client that is dropped closes its connections in silence: not by the collector, which
        # takes what it finds in any order, and would warn of the socket.
        self._end = weakref.finalize(self, _close, self._sock)
        _open.add(self)

    def connect(self, address: Any, seconds: float) -> None:
        """Connect within so many seconds, or raise ``TimeIsUp``."""
        try:
            self._sock.settimeout(seconds)
            self._sock.connect(address)
            if self._sock.family != getattr(socket, "AF_UNIX", None):
                self._sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except BaseException as error:
            self.close()
            raise _late(error) from None

    def send(self, data: bytes | memoryview) -> None:
        """Send all of it."""
        rest = memoryview(data)
        while rest:
            self._set_timeout()
            try:
                rest = rest[self._sock.send(rest) :]
            except socket.timeout as error:
                raise _late(error) from None

    def receive(self, buffer: Any) -> int | None:
        """Receive some bytes; returns how many, 0 at the end, ``None`` if it would have to wait."""
        self._set_timeout()
        try:
            return self._sock.recv_into(buffer)
        except BlockingIOError:
            return None
        except socket.timeout as error:
            raise _late(error) from None

    def close(self) -> None:
        """Close the socket of this process; that of a parent or child stays open."""
        _open.discard(self)
        self._end()

    def _set_timeout(self) -> None:
        # Before each wait: a peer that sends a byte now and then would never be late.
        self._sock.settimeout(0 if self.deadline is None else self.deadline.left())


def _late(error: BaseException) -> BaseException:
    """Turn a wait of ours that took too long into ``TimeIsUp``; return any other error."""
    is_ours = isinstance(error, socket.timeout) and error.errno is None
    return TimeIsUp() if is_ours else error


def _close(sock: socket.socket) -> None:
    with suppress(OSError):
        sock.close()


#: All that are open, also those that are about to connect.
_open: weakref.WeakSet[Socket] = weakref.WeakSet()


def _close_inherited() -> None:
    """Close, in a forked child, its copies of the parent's sockets.

    That sends nothing, and so the parent's connections continue. Without it, none of them would end
    before the child does; and of greenlets, a child has copies that would read there.
    """
    for inherited in list(_open):
        with suppress(Exception):
            inherited.close()


os.register_at_fork(after_in_child=_close_inherited)
