"""HTTP/1.1 over one connection: one request at a time, each with a deadline.

The head of an answer is read by ``http.client``. Its own connection would do with one timeout
for each wait, so that a server that sends a byte now and then is never late.
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

#: A batch of 65,536 IDs that are all refused, with what is wrong about each.
MAX_ANSWER_BYTES = 64 << 20

#: Up to so many bytes, a body is sent together with its head, in one packet.
_SMALL_BODY = 16 << 10

#: In pieces of so many bytes an answer is read that does not announce its length.
_PIECE = 1 << 20

#: What a connection raises that is lost, or that speaks something else.
BROKEN = (OSError, HTTPException)

#: The types of connections.
Stream = Union[Socket, TlsSocket]


class TooLarge(Exception):
    """An answer is larger than ``MAX_ANSWER_BYTES``."""


@dataclass(frozen=True)
class Answer:
    """A whole answer."""

    status: int
    content_type: str
    body: bytes


class Connection:
    """A socket that is connected, and what was read of it."""

    def __init__(self, stream: Stream) -> None:
        """Take over a socket."""
        self._stream = stream
        self._incoming = _Incoming(stream)
        self._reader = _Reader(self._incoming)
        #: Whether another request may follow.
        self.is_reusable = True
        #: Since when it is unused, by the monotonic clock.
        self.idle_since = time.monotonic()

    def exchange(self, head: bytes, body: bytes, deadline: Deadline) -> Answer:
        """Send a request, and return its answer, both within a deadline."""
        self._stream.deadline = deadline
        self.is_reusable = False  # until the answer is complete
        lost = None
        try:
            for part in [head + body] if len(body) <= _SMALL_BODY else [head, body]:
                self._stream.send(part)
        except OSError as error:
            lost = error
        try:
            answer = self._receive()
        except BROKEN as error:
            # A server that refuses a request may close before it was sent all; without an
            # answer, that it could not be sent says more.
            raise lost or error from None
        self.is_reusable = self.is_reusable and lost is None
        self.idle_since = time.monotonic()
        return answer

    def is_quiet(self) -> bool:
        """Say whether nothing has come since the last answer, not even the end."""
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
        """Return what ``HTTPResponse`` reads."""
        return self._reader


def _whole_body(response: HTTPResponse) -> bytes:
    """Read a body to its end, which it must announce: a lost connection is none."""
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
    """Outlives the answers that are read from it."""

    def close(self) -> None:
        """Do nothing: ``HTTPResponse`` calls it at the end of each answer."""


def what_broke(error: Exception) -> str:
    """Say in words what http.client says by its classes."""
    if isinstance(error, ConnectionError):  # also one of a status line that never came
        return str(error)
    if isinstance(error, IncompleteRead):
        return "the answer broke off"
    if isinstance(error, HTTPException):
        return f"the answer is no HTTP: {str(error)[:80]!r}"
    return str(error)
