"""The address of a sidecar, and connections to it."""

from __future__ import annotations

import socket
import ssl

from ._deadline import Deadline
from ._http import Stream
from ._names import addresses_of
from ._secret import Unpicklable
from ._sockets import Socket
from ._tls import context_of
from ._tls_socket import TlsSocket, inside_openssl
from .access import Access


class Endpoint(Unpicklable):
    """Connects to an address, with TLS if configured, and never through a proxy."""

    def __init__(self, access: Access) -> None:
        """Store the address; nothing is resolved yet."""
        self._access = access
        self._path, self._host, self._port = _parse(access.address)
        self._context: ssl.SSLContext | None = None

    @property
    def host(self) -> str:
        """The value of the Host header."""
        if self._path is not None:
            return "localhost"
        host = self._host.encode("idna").decode() if not self._host.isascii() else self._host
        return f"[{host}]:{self._port}" if ":" in host else f"{host}:{self._port}"

    def connect(self, deadline: Deadline) -> Stream:
        """Return a connected socket; with TLS, after the handshake."""
        if self._path is not None:
            sock = Socket(socket.AF_UNIX)
            sock.connect(self._path, deadline.left())
            return sock
        # Before connecting, so that an unreadable file is refused even if nothing listens.
        context = self._tls_context()
        sock = self._connect_tcp(deadline)
        if context is None:
            return sock
        try:
            sock.deadline = deadline
            secured = TlsSocket(sock, context, self._server_name())
            secured.shake_hands()
        except BaseException:
            sock.close()
            raise
        return secured

    def forget(self) -> None:
        """Make the next connection read the TLS files again."""
        self._context = None

    def _connect_tcp(self, deadline: Deadline) -> Socket:
        addresses = addresses_of(self._host, self._port, deadline)
        for index, (family, address) in enumerate(addresses):
            # An address that does not answer must leave time for the ones after it.
            share = deadline.left() / (len(addresses) - index)
            sock = Socket(family)
            try:
                sock.connect(address, share)
            except Exception:
                if index == len(addresses) - 1:
                    raise
            else:
                return sock
        raise OSError("the name has no address")

    def _server_name(self) -> str:
        tls = self._access.tls
        return (tls and tls.server_name) or self._host

    def _tls_context(self) -> ssl.SSLContext | None:
        if self._context is None and self._access.tls is not None:
            with inside_openssl:
                self._context = context_of(self._access.tls)
        return self._context


def _parse(address: str) -> tuple[str | None, str, int]:
    """Return the path of a Unix socket (``None`` for TCP), the host and the port."""
    if address.startswith("unix:"):
        path = address[len("unix:") :]
        return path[2:] if path.startswith("//") else path, "", 0
    host, _, port = address.rpartition(":")
    return None, host[1:-1] if host.startswith("[") and host.endswith("]") else host, int(port)
