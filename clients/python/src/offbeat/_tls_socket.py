"""TLS over a socket, one step of OpenSSL at a time."""

from __future__ import annotations

import os
import ssl
import threading
from contextlib import suppress
from typing import Any

from ._deadline import Deadline
from ._sockets import Socket

#: How many bytes are received, or turned into records, at once.
_PIECE = 64 << 10

#: Held while a thread is inside OpenSSL, and during forks. OpenSSL 3 has internal locks; if a
#: thread held one during a fork, the child would find it locked forever. No step that holds this
#: lock waits for a peer.
inside_openssl = threading.RLock()

os.register_at_fork(
    before=inside_openssl.acquire,
    after_in_parent=inside_openssl.release,
    after_in_child=inside_openssl.release,
)


class TlsSocket:
    """A socket that speaks TLS. OpenSSL works in memory only: only the socket below waits."""

    def __init__(self, sock: Socket, context: ssl.SSLContext, server_name: str) -> None:
        """Wrap a connected socket."""
        self._sock = sock
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._piece = bytearray(_PIECE)
        with inside_openssl:
            self._tls = context.wrap_bio(
                self._incoming, self._outgoing, server_hostname=server_name
            )

    @property
    def deadline(self) -> Deadline | None:
        """The deadline of the socket below: see :class:`Socket`."""
        return self._sock.deadline

    @deadline.setter
    def deadline(self, deadline: Deadline | None) -> None:
        self._sock.deadline = deadline

    def shake_hands(self) -> None:
        """Do the TLS handshake, which checks the peer's certificate."""
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
                self._flush()  # sends the alert that tells the peer why
            raise
        self._flush()

    def send(self, data: bytes | memoryview) -> None:
        """Send all of ``data``."""
        rest = memoryview(data)
        while rest:
            piece, rest = rest[:_PIECE], rest[_PIECE:]
            with inside_openssl:
                self._tls.write(piece)
            self._flush()

    def receive(self, buffer: Any) -> int | None:
        """Receive bytes, as :meth:`Socket.receive` does."""
        while True:
            try:
                with inside_openssl:
                    # With a buffer, `read` returns the number of bytes.
                    return int(self._tls.read(len(buffer), buffer))
            except ssl.SSLWantReadError:
                if self._feed() is None:
                    return None
            except ssl.SSLEOFError:
                return 0  # no close_notify is needed: responses say where they end

    def close(self) -> None:
        """Close the socket without close_notify, which could end the session of a parent."""
        self._sock.close()

    def _feed(self) -> int | None:
        """Receive bytes for OpenSSL."""
        count = self._sock.receive(self._piece)
        if count:
            self._incoming.write(memoryview(self._piece)[:count])
        elif count == 0:
            self._incoming.write_eof()
        return count

    def _flush(self) -> None:
        if self._outgoing.pending:
            self._sock.send(self._outgoing.read())
