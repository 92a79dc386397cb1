"""A server that misbehaves as a test says, which a real one rarely does."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from contextlib import suppress

from offbeat.v1.server_info_pb2 import GetServerInfoResponse

#: Handles a connection, which is closed afterwards.
Script = Callable[[socket.socket], None]


def message(version: str) -> bytes:
    """Return the body of an answer to ``server_info``."""
    return GetServerInfoResponse(version=version).SerializeToString()


def http(body: bytes, status: str = "200 OK", kind: str = "application/proto", more="") -> bytes:
    """Return an HTTP response."""
    head = f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n{more}\r\n"
    return head.encode() + body


def request(connection: socket.socket) -> bytes:
    """Read a whole request; return nothing if the connection ends."""
    data = b""
    while b"\r\n\r\n" not in data:
        part = connection.recv(65_536)
        if not part:
            return b""
        data += part
    head, _, body = data.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
    while len(body) < length:
        body += connection.recv(65_536)
    return data


def saying(answer: bytes) -> Script:
    """Return a script that sends this answer to a request, and closes the connection."""

    def script(connection: socket.socket) -> None:
        request(connection)
        connection.sendall(answer)

    return script


def serving(connection: socket.socket) -> None:
    """Answer each request, as a sidecar does."""
    while request(connection):
        connection.sendall(http(message("whole")))


class ScriptedServer:
    """Runs one script per connection, in order; the last one serves all further connections."""

    def __init__(self, *scripts: Script, receive_buffer: int = 0) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        if receive_buffer:
            self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._scripts = list(scripts)
        self.connections = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> ScriptedServer:
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                script = self._scripts.pop(0) if len(self._scripts) > 1 else self._scripts[0]
                self.connections += 1
                threading.Thread(target=self._run, args=(script, connection), daemon=True).start()

    def _run(self, script: Script, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            script(connection)
