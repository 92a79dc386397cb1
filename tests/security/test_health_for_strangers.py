"""Health/Check needs no token, but its callers must not affect others."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.frames import Peer
from support.server import Server
from support.waiting import within
from wire import (
    ASSIGN_SLOTS,
    HEALTH,
    SCHEDULE,
    TOKEN,
    all_of,
    ask,
    ask2,
    begun,
    beside,
    connect,
    ended,
    reply,
    text,
    took,
)

#: The most bytes and seconds of a check, whose message is only the name of a service.
MOST_BYTES, LONGEST = 1_024, 2.0
HALF_OPEN = text(HEALTH, b"", length=2)


@pytest.fixture
def server(serve: Callable[..., Server], token_file: Path, tmp_path: Path) -> Server:
    """A server with a public port, and a socket for its own probe."""
    listen = f"127.0.0.1:0,unix:{tmp_path}/probe.sock"
    return serve("--token-file", str(token_file), listen=listen)


@pytest.fixture
def half_open(server: Server) -> Iterator[None]:
    """256 checks without bodies, each on an HTTP/1.1 connection."""
    strangers = [connect(server.port) for _ in range(256)]
    for stranger in strangers:
        stranger.sendall(HALF_OPEN)
    time.sleep(0.3)
    yield
    all_of(strangers)


@pytest.mark.usefixtures("half_open")
def test_half_open_checks_fail_no_probe(server: Server) -> None:
    assert server.health(server.listening[1]) is None
    assert server.look("/readyz")


@pytest.mark.usefixtures("half_open")
def test_half_open_checks_fail_no_probe_of_liveness(server: Server) -> None:
    assert server.look("/livez")


def test_half_open_checks_of_http2_fail_no_probe(server: Server) -> None:
    peers = [Peer(server.port) for _ in range(3)]
    for peer in peers:
        peer.say(b"".join(begun(stream, HEALTH) for stream in range(1, 200, 2)))
    time.sleep(0.3)
    failure = server.health(server.listening[1])
    all_of(peer.socket for peer in peers)
    assert failure is None


def test_checks_take_no_place_and_no_bytes(server: Server) -> None:
    strangers = [connect(server.port) for _ in range(100)]
    for stranger in strangers:
        stranger.settimeout(0.2)
        with contextlib.suppress(OSError):  # the check may have been refused already
            stranger.sendall(text(HEALTH, b" " * 200_000, length=250_000))
    time.sleep(0.5)
    counts = [
        server.metric(name)
        for name in ("offbeat_requests_in_flight", "offbeat_message_bytes_in_flight")
    ]
    all_of(strangers)
    assert counts == [0, 0]


def test_a_check_is_over_soon(server: Server) -> None:
    """A check without its body is answered or cut off."""
    with connect(server.port) as stranger:
        stranger.sendall(HALF_OPEN)

        def end() -> None:
            with contextlib.suppress(ConnectionError):
                assert reply(stranger, 10).status >= 400

        assert took(end) < LONGEST + 1


def test_a_check_that_trickles_is_over_soon(server: Server) -> None:
    with connect(server.port) as stranger:
        stranger.sendall(text(HEALTH, b"", length=MOST_BYTES))
        stranger.settimeout(0.1)

        def is_over() -> bool:
            try:
                stranger.sendall(b" ")
                return stranger.recv(1 << 16) is not None
            except TimeoutError:
                return False
            except OSError:
                return True

        assert within(LONGEST + 1, is_over, pause=0.1)


@pytest.mark.parametrize("size", [MOST_BYTES + 1, 250_000])
def test_a_long_check_is_refused(server: Server, size: int) -> None:
    answer = ask(server.port, HEALTH, b"{}".ljust(size))
    assert 400 <= answer.status < 500
    assert answer.code == "resource_exhausted"


def test_a_long_check_is_refused_over_grpc(server: Server) -> None:
    service = b"s" * 2_000
    message = b"\x0a\xd0\x0f" + service  # field 1, its length, the name
    assert ask2(server.port, HEALTH, message).status == "8"


def test_a_check_of_a_service_is_answered(server: Server) -> None:
    """Messages up to one kibibyte are read."""
    assert ask(server.port, HEALTH, b'{"service": ""}'.ljust(MOST_BYTES)).status == 200
    unknown = json.dumps({"service": "s" * 200}).encode()
    assert ask(server.port, HEALTH, unknown).status == 404


#: Unknown keys, each of which must be parsed.
STRANGERS = """
import socket, sys, threading
port, count = map(int, sys.argv[1:])
content = ("{" + ",".join(f'"{at}":1' for at in range(22_000)) + "}")[:250_000].encode()
head = ("POST /grpc.health.v1.Health/Check HTTP/1.1\\r\\nHost: localhost\\r\\n"
        f"Content-Type: application/json\\r\\nContent-Length: {len(content)}\\r\\n\\r\\n").encode()
def loop():
    while True:
        try:
            with socket.create_connection(("127.0.0.1", port), 5) as wire:
                wire.settimeout(5)
                wire.sendall(head + content)
                wire.recv(4096)
        except OSError:
            pass
for _ in range(count):
    threading.Thread(target=loop, daemon=True).start()
print("ready", flush=True)
sys.stdin.read()
"""


def test_long_checks_hold_up_nobody(server: Server) -> None:
    asked = {"schedule": SCHEDULE, "ids": {"integers": [str(at) for at in range(20_000)]}}
    content = json.dumps(asked).encode()

    def call() -> None:
        answer = ask(server.port, ASSIGN_SLOTS, content, token=TOKEN, seconds=20)
        assert answer.status == 200, answer

    assert took(call) < 1, "the machine is too busy for this test"
    strangers = beside(STRANGERS, server.port, 40)
    time.sleep(0.5)
    seconds = sorted(took(call) for _ in range(10))
    ended(strangers)
    assert seconds[-1] < 1, seconds
