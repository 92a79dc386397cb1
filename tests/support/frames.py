"""Connections that can send anything: plain sockets, and raw HTTP/2 frames."""

from __future__ import annotations

import select
import socket
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from support import headers as hpack

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY = range(8)
WINDOW_UPDATE, CONTINUATION = 8, 9
#: Flags.
ACK = END_STREAM = 1
END_HEADERS = 4
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
INITIAL_WINDOW_SIZE = 4
PROTOCOL_ERROR, FLOW_CONTROL_ERROR, STREAM_CLOSED, CANCEL = 1, 3, 5, 8
ENHANCE_YOUR_CALM = 11
LARGEST_WINDOW = 2**31 - 1
HANG_UP = select.POLLRDHUP | select.POLLHUP | select.POLLERR


def frame(kind: int, flags: int = 0, stream: int = 0, payload: bytes = b"") -> bytes:
    """A frame in wire format, without any checks."""
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def settings(values: dict[int, int] | None = None) -> bytes:
    """A SETTINGS frame, with settings by number."""
    payload = b"".join(struct.pack(">HI", *pair) for pair in (values or {}).items())
    return frame(SETTINGS, payload=payload)


def reset(stream: int, code: int = CANCEL) -> bytes:
    return frame(RST_STREAM, 0, stream, struct.pack(">I", code))


def window_update(stream: int, increment: int) -> bytes:
    return frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", increment))


def head(path: str, *more: tuple[str, str], kind: str = "application/grpc") -> bytes:
    """The header block of a call."""
    fields = [(":method", "POST"), (":scheme", "http"), (":path", path), (":authority", "x")]
    return hpack.encode([*fields, ("content-type", kind), ("te", "trailers"), *more])


def begin(stream: int, path: str, *more: tuple[str, str], flags: int = 0) -> bytes:
    """HEADERS of a call whose body follows."""
    return frame(HEADERS, END_HEADERS | flags, stream, head(path, *more))


def prefixed(message: bytes, flag: int = 0) -> bytes:
    """A gRPC message with its length prefix."""
    return struct.pack(">BI", flag, len(message)) + message


def body(stream: int, content: bytes, end: bool = True) -> bytes:
    """A body as DATA frames of 16 KiB."""
    pieces = [content[at : at + 16384] for at in range(0, len(content), 16384)] or [b""]
    last = len(pieces) - 1
    return b"".join(
        frame(DATA, END_STREAM if end and place == last else 0, stream, piece)
        for place, piece in enumerate(pieces)
    )


def call(stream: int, path: str, message: bytes, *more: tuple[str, str]) -> bytes:
    """A whole unary call."""
    return begin(stream, path, *more) + body(stream, prefixed(message))


@dataclass
class Reply:
    """An HTTP/1.1 response."""

    status: int
    headers: dict[str, str]
    body: bytes


class Wire:
    """A TCP connection that records the bytes it received, and when it ended."""

    def __init__(self, port: int, receive_buffer: int | None = None) -> None:
        self.socket = socket.socket()
        if receive_buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(10)
        self.socket.connect(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        self.opened = time.monotonic()
        self.ended: float | None = None
        self.received = b""
        self.sent = 0
        self.replies: list[bytes] = []
        self.queue = memoryview(b"")
        self.poll = select.poll()

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connection normally."""
        self.socket.close()

    def answers1(self) -> list[Reply]:
        """The complete HTTP/1.1 responses among the received bytes."""
        found, rest = [], self.received
        while b"\r\n\r\n" in rest:  # each iteration consumes a head
            top, rest = rest.split(b"\r\n\r\n", 1)
            first, *lines = top.decode("latin-1").split("\r\n")
            pairs = (line.split(":", 1) for line in lines)
            fields = {name.lower(): value.strip() for name, value in pairs}
            length = int(fields.get("content-length", 0))
            if len(rest) < length:
                break
            found.append(Reply(int(first.split()[1]), fields, rest[:length]))
            rest = rest[length:]
        return found

    def abort(self) -> None:
        """Closes the connection with RST."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def lifetime(self) -> float | None:
        """Seconds until the server ended it."""
        return None if self.ended is None else self.ended - self.opened

    def take(self, data: bytes) -> None:
        """Handles received bytes."""
        self.received += data

    def pump(
        self,
        seconds: float,
        out: bytes = b"",
        times: int = 1,
        reading: bool = True,
        done: Callable[[], bool] = lambda: False,
    ) -> bool:
        """Sends ``out`` repeatedly, and reads, until ``done``, the end, or the time is up.

        Returns whether it reached the end, or ``done``. The next call sends what is left.
        """
        limit = time.monotonic() + seconds
        left = times if out else 0
        while self.ended is None and not done():
            rest = limit - time.monotonic()
            if rest <= 0:
                return False
            if not self.queue and self.replies:
                self.queue = memoryview(b"".join(self.replies))
                self.replies.clear()
            elif not self.queue and left:
                self.queue = memoryview(out)
                left -= 1
            try:
                self._exchange(min(rest, 0.05), reading)
            except BlockingIOError:
                continue
            except OSError:
                self.ended = time.monotonic()
        return True

    def _exchange(self, seconds: float, reading: bool) -> None:
        wanted = HANG_UP | (select.POLLIN if reading else 0)
        self.poll.register(self.socket, wanted | (select.POLLOUT if self.queue else 0))
        events = dict(self.poll.poll(seconds * 1_000)).get(self.socket.fileno(), 0)
        if events & select.POLLIN:
            data = self.socket.recv(1 << 18)
            if not data:
                raise ConnectionResetError
            self.take(data)
        elif events & HANG_UP:
            raise ConnectionResetError  # received bytes do not matter any more
        if events & select.POLLOUT:
            count = self.socket.send(self.queue)
            self.queue = self.queue[count:]
            self.sent += count

    def say(self, out: bytes, seconds: float = 5, reading: bool = True) -> bool:
        """Sends all bytes, and returns whether the server took them in time."""
        # One queue: replies to frames that arrive meanwhile go behind it, and do not count.
        self.queue = memoryview(b"".join((self.queue, *self.replies, out)))
        self.replies.clear()
        goal = self.sent + len(self.queue)
        self.pump(seconds, reading=reading, done=lambda: self.sent >= goal)
        return self.sent >= goal

    def ends(self, seconds: float, reading: bool = True) -> bool:
        """Whether the server ends the connection within this time."""
        self.pump(seconds, reading=reading)
        return self.ended is not None


@dataclass
class Answer:
    """The frames received on one stream."""

    headers: dict[str, str] = field(default_factory=dict)
    data: bytes = b""
    size: int = 0
    reset: int | None = None
    ended: bool = False

    @property
    def status(self) -> str | None:
        """The gRPC status, or the HTTP status if there is none."""
        return self.headers.get("grpc-status", self.headers.get(":status"))


class Peer(Wire):
    """A connection of raw frames. A polite peer acknowledges, and updates its windows."""

    def __init__(
        self,
        port: int,
        given: dict[int, int] | None = None,
        polite: bool = True,
        keep: bool = True,
        receive_buffer: int | None = None,
    ) -> None:
        super().__init__(port, receive_buffer)
        self.polite, self.keep = polite, keep
        self.decoder = hpack.Decoder()
        self.answers: dict[int, Answer] = {}
        self.goaway: int | None = None
        self.counts = [0] * 10
        #: The server's windows: of the connection, of a new stream, and of open streams.
        self.room, self.first_room, self.rooms = 65_535, 65_535, dict[int, int]()
        self.rest = bytearray()
        self.begun = bytearray()
        self.say(PREFACE + settings(given), reading=False)

    def answer(self, stream: int) -> Answer:
        """The answer on a stream, as far as it has arrived."""
        return self.answers.setdefault(stream, Answer())

    def finished(self, *streams: int) -> bool:
        """Whether the streams have ended, normally or by a reset."""
        answers = map(self.answer, streams)
        return all(answer.ended or answer.reset is not None for answer in answers)

    def ask(self, stream: int, out: bytes, seconds: float = 5) -> Answer:
        """Sends, and waits for the answer of one stream."""
        self.pump(seconds, out, done=lambda: self.finished(stream))
        return self.answer(stream)

    def has_room(self, stream: int) -> int:
        """The number of bytes that the server's windows allow now."""
        return min(self.room, self.first_room + self.rooms.get(stream, 0))

    def upload(self, stream: int, content: bytes, end: bool = True, seconds: float = 10) -> bool:
        """Sends a body as fast as the windows allow; returns whether the server took all of it."""
        limit, at = time.monotonic() + seconds, 0
        self.pump(seconds, done=lambda: self.counts[SETTINGS] > 0)
        ready = lambda: self.has_room(stream) > 0 or self.finished(stream)  # noqa: E731
        while at < len(content):  # each iteration sends at least a byte, or returns
            self.pump(limit - time.monotonic(), done=ready)
            piece = content[at : at + min(16_384, max(0, self.has_room(stream)))]
            at += len(piece)
            flags = END_STREAM if end and at == len(content) else 0
            self.room -= len(piece)
            self.rooms[stream] = self.rooms.get(stream, 0) - len(piece)
            refused = self.finished(stream)
            if refused or not piece or not self.say(frame(DATA, flags, stream, piece)):
                return False
        return True

    def take(self, data: bytes) -> None:
        self.rest += data
        at = 0
        while len(self.rest) - at >= 9:  # each iteration consumes a frame
            length = int.from_bytes(self.rest[at : at + 3], "big")
            if len(self.rest) - at < 9 + length:
                break
            kind, flags, stream = struct.unpack_from(">BBI", self.rest, at + 3)
            self.take_frame(kind, flags, stream, bytes(self.rest[at + 9 : at + 9 + length]))
            at += 9 + length
        del self.rest[:at]

    def take_frame(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        """Handles a frame from the server."""
        self.counts[kind] += 1
        if kind == WINDOW_UPDATE:
            more = int.from_bytes(payload, "big")
            if stream:
                self.rooms[stream] = self.rooms.get(stream, 0) + more
            else:
                self.room += more
        elif kind == SETTINGS and not flags & ACK:
            for number, value in struct.iter_unpack(">HI", payload):
                if number == INITIAL_WINDOW_SIZE:
                    self.first_room = value
        if kind == GOAWAY:
            code = int.from_bytes(payload[4:8], "big")
            self.goaway = code or self.goaway or 0
        elif kind == RST_STREAM:
            self.answer(stream).reset = int.from_bytes(payload, "big")
        elif kind in (HEADERS, CONTINUATION):
            self.begun += payload
            if flags & END_HEADERS:
                self.answer(stream).headers.update(self.decoder.decode(bytes(self.begun)))
                self.begun.clear()
        elif kind == DATA:
            answer = self.answer(stream)
            answer.size += len(payload)
            if self.keep:
                answer.data += payload
            if self.polite and payload:
                self.replies.append(window_update(0, len(payload)))
                if not flags & END_STREAM:
                    self.replies.append(window_update(stream, len(payload)))
        elif self.polite and kind in (PING, SETTINGS) and not flags & ACK:
            self.replies.append(frame(kind, ACK, 0, payload if kind == PING else b""))
        if kind in (DATA, HEADERS) and flags & END_STREAM:
            self.answer(stream).ended = True
