"""TLS over a socket, one step of OpenSSL at a time."""

from __future__ import annotations

import os
import ssl
import threading
from contextlib import suppress
from typing import Any

from ._deadline import Deadline
from ._sockets import Socket

#: So much is received, or turned into records, at once.
_PIECE = 64 << 10

#: OpenSSL 3 has locks of its own, which a child would find held forever if another thread was
#: inside OpenSSL at the fork: so a fork waits for it. No step waits for a peer.
inside_openssl = threading.RLock()

os.register_at_fork(
    before=inside_openssl.acquire,
    after_in_parent=inside_openssl.release,
    after_in_child=inside_openssl.release,
)


class TlsSocket:
    """A socket that speaks TLS. Its OpenSSL touches memory only: the waits are the socket's."""

    def __init__(self, sock: Socket, context: ssl.SSLContext, server_name: str) -> None:
        """Wrap a socket that is connected."""
        self._sock = sock
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._piece = bytearray(_PIECE)
        with inside_openssl:
            self._tls = context.wrap_bio(
                self._incoming, self._outgoing, server_hostname=server_name
            )

    @property
    def deadline(self) -> Deadline | None:
        """As that of a :class:`Socket`."""
        return self._sock.deadline

    @deadline.setter
    def deadline(self, deadline: Deadline | None) -> None:
        self._sock.deadline = deadline

    def shake_hands(self) -> None:
        """Agree on keys, and check who the peer is."""
        try:
            while True:
                try:
                    with inside_openssl:
                        self._tls.do_handshake()
                    break
                except ssl.SSLWantReadError:
                    self._flush()
                    self._feed()
        except ssl.SSLError:
            with suppress(Exception):
                self._flush()  # tells the peer what is wrong with it
            raise
        self._flush()

    def send(self, data: bytes | memoryview) -> None:
        """Send all of it."""
        rest = memoryview(data)
        while rest:
            piece, rest = rest[:_PIECE], rest[_PIECE:]
            with inside_openssl:
                self._tls.write(piece)
            self._flush()

    def receive(self, buffer: Any) -> int | None:
        """As :meth:`Socket.receive`."""
        while True:
            try:
                with inside_openssl:
                    # It returns how many, if it is given a buffer.
                    return int(self._tls.read(len(buffer), buffer))
            except ssl.SSLWantReadError:
                if self._feed() is None:
                    return None
            except ssl.SSLEOFError:
                return 0  # without a goodbye: answers say how long they are

    def close(self) -> None:
        """As :meth:`Socket.close`; a session has no goodbye, which might be that of a parent."""
        self._sock.close()

    def _feed(self) -> int | None:
        """Receive what OpenSSL waits for."""
        count = self._sock.receive(self._piece)
        if count:
            self._incoming.write(memoryview(self._piece)[:count])
        elif count == 0:
            self._incoming.write_eof()
        return count

    def _flush(self) -> None:
        if self._outgoing.pending:
            self._sock.send(self._outgoing.read())
