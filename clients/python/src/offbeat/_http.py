"""HTTP/1.1 over one connection: one request at a time, each with a deadline.

``http.client`` reads the head of a response. Its own connection class applies a timeout to each
wait, and not to the call: a server that sends a byte now and then would never time out.
"""

from __future__ import annotations

import io
import time
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse, IncompleteRead
from typing import Any, Union

from ._deadline import Deadline
from ._sockets import Socket
from ._tls_socket import TlsSocket

#: Enough for a batch of 65,536 IDs that are all refused, with an error for each.
MAX_ANSWER_BYTES = 64 << 20

#: A body of up to this many bytes is sent together with its head, in one call.
_SMALL_BODY = 16 << 10

#: A chunked body is read in pieces of this many bytes.
_PIECE = 1 << 20

#: The exceptions of a connection that is lost, or whose peer does not speak HTTP.
BROKEN = (OSError, HTTPException)

#: What HTTP runs over: a plain socket, or TLS.
Stream = Union[Socket, TlsSocket]


class TooLarge(Exception):
    """A response is larger than ``MAX_ANSWER_BYTES``."""


@dataclass(frozen=True)
class Answer:
    """A complete response."""

    status: int
    content_type: str
    body: bytes


class Connection:
    """A connected socket and its read buffer."""

    def __init__(self, stream: Stream) -> None:
        """Take over a socket."""
        self._stream = stream
        self._incoming = _Incoming(stream)
        self._reader = _Reader(self._incoming)
        #: Whether another request may follow.
        self.is_reusable = True
        #: Since when it has been idle, by the monotonic clock.
        self.idle_since = time.monotonic()

    def exchange(self, head: bytes, body: bytes, deadline: Deadline) -> Answer:
        """Send a request and return its response, both within the deadline."""
        self._stream.deadline = deadline
        self.is_reusable = False  # until the response is complete
        lost = None
        try:
            for part in [head + body] if len(body) <= _SMALL_BODY else [head, body]:
                self._stream.send(part)
        except OSError as error:
            lost = error
        try:
            answer = self._receive()
        except BROKEN as error:
            # A server that refuses a request may respond and close before all of it was sent.
            # Without a response, the error of sending says more than that of receiving.
            raise lost or error from None
        self.is_reusable = self.is_reusable and lost is None
        self.idle_since = time.monotonic()
        return answer

    def is_quiet(self) -> bool:
        """Say whether the peer has sent nothing since the last response, and has not closed."""
        self._stream.deadline = None
        try:
            return not self._reader.peek(1) and not self._incoming.has_ended
        except OSError:
            return False

    def close(self) -> None:
        """Close the socket."""
        self._stream.close()

    def _receive(self) -> Answer:
        response = HTTPResponse(self, method="POST")  # type: ignore[arg-type]
        response.begin()
        body = _whole_body(response)
        self.is_reusable = not response.will_close and response.status >= 200
        return Answer(response.status, response.getheader("content-type", ""), body)

    def makefile(self, *_: Any) -> io.BufferedReader:
        """Return the reader; ``HTTPResponse`` calls this on what it takes for a socket."""
        return self._reader


def _whole_body(response: HTTPResponse) -> bytes:
    """Read a body to its end. It must say where it ends: a lost connection is not its end."""
    length = response.length
    if length is not None:
        if length > MAX_ANSWER_BYTES:
            raise TooLarge
        return response.read()
    if not response.chunked:
        raise HTTPException("the answer does not say where it ends")
    pieces, size = [], 0
    while piece := response.read(_PIECE):
        pieces.append(piece)
        size += len(piece)
        if size > MAX_ANSWER_BYTES:
            raise TooLarge
    return b"".join(pieces)


class _Incoming(io.RawIOBase):
    """Reads from a socket."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self.has_ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        count = self._stream.receive(buffer)
        self.has_ended = count == 0
        return count


class _Reader(io.BufferedReader):
    """Stays open after each response that is read from it."""

    def close(self) -> None:
        """Do nothing: ``HTTPResponse`` calls this at the end of each response."""


def what_broke(error: Exception) -> str:
    """Describe an error in words, where ``http.client`` uses only its class."""
    if isinstance(error, ConnectionError):  # includes RemoteDisconnected, which has a message
        return str(error)
    if isinstance(error, IncompleteRead):
        return "the answer broke off"
    if isinstance(error, HTTPException):
        return f"the answer is no HTTP: {str(error)[:80]!r}"
    return str(error)
