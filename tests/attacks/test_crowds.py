"""Connections by the thousand, and none to spare."""

from __future__ import annotations

import contextlib
import select
import socket
import struct
import time
from collections.abc import Callable

from frames import PREFACE, Wire, begin, call, settings
from questions import ASSIGN_SLOT, STREAM_SLOTS, one_slot
from siege import Siege

from server import within

CROWD = 5_000
#: Three seconds to say something, and a margin.
FIRST_BYTES = 3 + 2
LINGER_NOT = struct.pack("ii", 1, 0)
QUESTION = (
    b"POST /grpc.health.v1.Health/Check HTTP/1.1\r\nhost: x\r\n"
    b"content-type: application/json\r\ncontent-length: 2\r\n\r\n{}"
)


def crowd(port: int, count: int) -> list[socket.socket]:
    """So many connections, begun a hundred at a time: a queue of 128 has room for them."""
    sockets = []
    for number in range(count):
        one = socket.socket()
        one.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            one.connect(("127.0.0.1", port))
        sockets.append(one)
        if number % 100 == 99:
            time.sleep(0.02)
    return sockets


def greet(sockets: list[socket.socket]) -> None:
    """Says on each what HTTP/2 begins with, where the kernel has made the connection."""
    for one in sockets:
        with contextlib.suppress(BlockingIOError, BrokenPipeError):
            one.send(PREFACE + settings())


def closed(sockets: list[socket.socket], seconds: float) -> tuple[int, float]:
    """How many of them the server ends in time, and when the last of those ended."""
    poll, started, last = select.epoll(), time.monotonic(), 0.0
    for one in sockets:
        poll.register(one, select.EPOLLRDHUP | select.EPOLLHUP | select.EPOLLERR)
    left = len(sockets)
    while left and time.monotonic() < started + seconds:
        for file, _ in poll.poll(0.1):
            poll.unregister(file)
            left, last = left - 1, time.monotonic() - started
    poll.close()
    return len(sockets) - left, last


def test_silent_connections(besiege: Callable[..., Siege]) -> None:
    """With room for all of them."""
    siege = besiege("--max-connections", "65536")

    def attack() -> None:
        sockets = crowd(siege.port, CROWD)
        count, last = closed(sockets, FIRST_BYTES + 2)
        siege.note(f"{count} closed, the last after {last:.1f} s")
        for one in sockets:
            one.close()
        assert count == CROWD, f"{CROWD - count} of {CROWD} are open after {FIRST_BYTES + 2} s"
        assert last <= FIRST_BYTES, f"the last was closed after {last:.1f} s"

    siege.stand(attack)


def test_silent_connections_beyond_the_limit(siege: Siege) -> None:
    """1,024 at once: some of the others wait, and take their turn. How soon the kernel
    begins those anew that it had no room for is its own affair."""

    def attack() -> None:
        sockets = crowd(siege.port, CROWD)
        count, last = closed(sockets, 2 * FIRST_BYTES)
        siege.note(f"{count} closed, the last after {last:.1f} s")
        for one in sockets:
            one.close()
        assert count > 1_100, f"{count} of {CROWD} were closed in {2 * FIRST_BYTES} s"

    siege.stand(attack)


def test_health_answers_beside_silent_connections(siege: Siege) -> None:
    """A probe opens a connection of its own, and has a second: its default in Kubernetes."""

    def attack() -> None:
        sockets = crowd(siege.port, 1_100)
        time.sleep(0.3)
        started = time.monotonic()
        served = siege.server.is_serving(10)
        took = time.monotonic() - started
        siege.note(f"health took {took:.2f} s")
        for one in sockets:
            one.close()
        assert served, "health was not answered"
        assert took < 1, f"health was answered after {took:.1f} s"

    siege.stand(attack)


def test_idle_connections_that_answer_pings(siege: Siege) -> None:
    """1,024 that have spoken, and keep their places: somebody else still gets one."""

    def attack() -> None:
        sockets = crowd(siege.port, 1_023)
        time.sleep(0.5)
        greet(sockets)
        time.sleep(0.5)
        served = siege.server.is_serving(10)
        for one in sockets:
            one.close()
        assert served, "1,023 idle connections keep everybody else out"

    siege.stand(attack)


def test_exhausted_files(besiege: Callable[..., Siege]) -> None:
    siege = besiege(files=64)

    def attack() -> None:
        sockets = crowd(siege.port, 200)
        time.sleep(0.3)
        greet(sockets)
        lines = len(siege.server.logs().splitlines())
        share = siege.server.cpu_share(2)
        logged = (len(siege.server.logs().splitlines()) - lines) / 2
        full = siege.server.files()
        for one in sockets:
            one.close()
        siege.note(f"{share:.1%} of a core, {logged:.0f} log lines a second, {full} files")
        assert full >= 60, f"files were not exhausted: {full}"
        assert share <= 0.2, f"{share:.0%} of a core is spent on nothing"
        assert logged <= 25, f"{logged:.0f} lines are logged a second"
        assert within(2, lambda: siege.server.is_serving(1)), "it does not recover"

    siege.stand(attack)


def test_connections_that_are_reset(siege: Siege) -> None:
    """Opened and reset: at once, in the preface, in a request, in an answer."""
    says = [
        b"",
        PREFACE[:9],
        QUESTION[:60],
        QUESTION,
        PREFACE + settings() + begin(1, STREAM_SLOTS),
        PREFACE + settings() + call(1, ASSIGN_SLOT, one_slot(next_runs=1_000)),
    ]

    def attack() -> None:
        for turn in range(1_200):
            with socket.create_connection(("127.0.0.1", siege.port), timeout=5) as one:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_NOT)
                one.sendall(says[turn % len(says)])

    siege.stand(attack)


def test_half_closed_connections(siege: Siege) -> None:
    """Who says that nothing more comes does not keep a connection."""
    says = {
        "nothing": b"",
        "half a preface": PREFACE[:9],
        "a preface": PREFACE + settings(),
        "half a request": QUESTION[:60],
        "half a body": QUESTION[:-1],
        "a request": QUESTION,
        "half a call": PREFACE + settings() + begin(1, ASSIGN_SLOT),
        "a call": PREFACE + settings() + call(1, ASSIGN_SLOT, one_slot()),
        "a stream": PREFACE + settings() + begin(1, STREAM_SLOTS),
    }

    def attack() -> None:
        wires = [(name, Wire(siege.port)) for name in says for _ in range(50)]
        for name, wire in wires:
            wire.say(says[name])
            wire.socket.shutdown(socket.SHUT_WR)
        wrong = set[str]()
        for name, wire in wires:
            if not wire.ends(3 - min(2.9, time.monotonic() - wire.opened)):
                wrong.add(f"{name}: is open after 3 s")
            wire.close()
        assert not wrong, "\n".join(sorted(wrong))

    siege.stand(attack)
