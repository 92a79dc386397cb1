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
    """Connects to an address, by TLS if that is wanted, without a proxy."""

    def __init__(self, access: Access) -> None:
        """Remember where; nothing is looked up yet."""
        self._access = access
        self._path, self._host, self._port = _parse(access.address)
        self._context: ssl.SSLContext | None = None

    @property
    def host(self) -> str:
        """The host that requests name."""
        if self._path is not None:
            return "localhost"
        host = self._host.encode("idna").decode() if not self._host.isascii() else self._host
        return f"[{host}]:{self._port}" if ":" in host else f"{host}:{self._port}"

    def connect(self, deadline: Deadline) -> Stream:
        """Return a socket that is connected, and has shaken hands."""
        if self._path is not None:
            sock = Socket(socket.AF_UNIX)
            sock.connect(self._path, deadline.left())
            return sock
        # Before it connects: a file that cannot be read is refused in any case.
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
        """Read the files of TLS again when it connects next."""
        self._context = None

    def _connect_tcp(self, deadline: Deadline) -> Socket:
        addresses = addresses_of(self._host, self._port, deadline)
        for index, (family, address) in enumerate(addresses):
            # An address that does not answer leaves time for those behind it.
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
    """Return the path of a socket, or a host and a port."""
    if address.startswith("unix:"):
        path = address[len("unix:") :]
        return path[2:] if path.startswith("//") else path, "", 0
    host, _, port = address.rpartition(":")
    return None, host[1:-1] if host.startswith("[") and host.endswith("]") else host, int(port)
