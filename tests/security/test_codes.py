"""Callers' errors are not counted as server errors."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable

import pytest
from support.frames import Peer, body, reset
from support.server import Server
from support.waiting import within
from wire import ASSIGN_SLOT, ASSIGN_SLOTS, HEALTH, ONE_ID, ask2, begun, connect, reply, text

CHUNKED = "Transfer-Encoding: chunked"
BROKEN = {
    "a size that is no number": b"zz\r\n{}\r\n0\r\n\r\n",
    "no line behind a chunk": b"2\r\n{}garbage",
    "an extension of 20 kB": b"2;a=" + b"x" * 20_000 + b"\r\n{}\r\n0\r\n\r\n",
    "trailers of 20 kB": b"2\r\n{}\r\n0\r\n" + b"a: b\r\n" * 4_000 + b"\r\n",
    "a size beyond 64 bits": b"fffffffffffffffff\r\n{}\r\n0\r\n\r\n",
}


def alarming(server: Server) -> float:
    """The number that the alert OffbeatBug watches."""
    codes = ("INTERNAL", "UNKNOWN", "DATA_LOSS")
    return sum(server.metric("offbeat_requests_total", code=code) for code in codes)


def cancelled(server: Server) -> float:
    """The number of requests whose callers disconnected."""
    return server.metric("offbeat_requests_total", code="CANCELLED")


@pytest.mark.parametrize("path", [ASSIGN_SLOT, HEALTH])
@pytest.mark.parametrize("what", BROKEN)
def test_broken_chunks_are_the_callers(serve: Callable[..., Server], what: str, path: str) -> None:
    server = serve()
    with connect(server.port) as wire:
        wire.sendall(text(path, b"", CHUNKED) + BROKEN[what])
        answer = reply(wire)
    # A health check may exceed its limit of bytes first.
    wrong = ["invalid_argument", "resource_exhausted"] if path == HEALTH else ["invalid_argument"]
    assert answer.code in wrong, answer
    assert 400 <= answer.status < 500
    assert alarming(server) == 0


def abort(wire: socket.socket) -> None:
    """Closes the connection with RST."""
    wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    wire.close()


@pytest.mark.parametrize("end", ["close", "reset"])
@pytest.mark.parametrize("path", [ASSIGN_SLOT, ASSIGN_SLOTS])
def test_departures_are_cancelled(serve: Callable[..., Server], path: str, end: str) -> None:
    server = serve()
    for _ in range(30):
        wire = connect(server.port)
        wire.sendall(text(path, ONE_ID, length=1_000))
        time.sleep(0.02)
        wire.close() if end == "close" else abort(wire)
    assert within(5, lambda: cancelled(server) == 30), cancelled(server)
    assert alarming(server) == 0


def test_departures_from_http2_are_cancelled(serve: Callable[..., Server]) -> None:
    server = serve()
    with Peer(server.port) as peer:
        for stream in range(1, 61, 2):
            peer.say(begun(stream, ASSIGN_SLOT) + body(stream, b"\0\0\0\x10\0{", end=False))
            peer.pump(0.01)
            peer.say(reset(stream))
        assert within(5, lambda: cancelled(server) == 30), cancelled(server)
    assert alarming(server) == 0


@pytest.mark.parametrize("path", [HEALTH, ASSIGN_SLOT])
def test_what_is_no_message_is_an_invalid_argument(serve: Callable[..., Server], path: str) -> None:
    server = serve()
    assert ask2(server.port, path, b"\xff").status == "3"
    assert alarming(server) == 0
