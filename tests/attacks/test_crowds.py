"""Thousands of connections, up to and beyond the limits."""

from __future__ import annotations

import contextlib
import select
import socket
import struct
import time
from collections.abc import Callable

from support.frames import PREFACE, Wire, begin, call, settings
from support.questions import ASSIGN_SLOT, STREAM_SLOTS, one_slot
from support.waiting import within
from trial import Trial

CROWD = 5_000
#: The default of --max-connections.
PLACES = 1_024
#: The timeout of the first byte is 10 s; and a margin.
FIRST_BYTES = 10 + 3
LINGER_NOT = struct.pack("ii", 1, 0)
QUESTION = (
    b"POST /grpc.health.v1.Health/Check HTTP/1.1\r\nhost: x\r\n"
    b"content-type: application/json\r\ncontent-length: 2\r\n\r\n{}"
)


def crowd(port: int, count: int) -> list[socket.socket]:
    """Opens connections a hundred at a time, which fit into a listen queue of 128."""
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
    """Sends the HTTP/2 preface on each connection that the kernel has established."""
    for one in sockets:
        with contextlib.suppress(BlockingIOError, BrokenPipeError):
            one.send(PREFACE + settings())


def closed(sockets: list[socket.socket], seconds: float, wanted: int) -> tuple[int, float]:
    """The number that the server ends in time, up to `wanted`, and when the last one ended."""
    poll, started, last, count = select.epoll(), time.monotonic(), 0.0, 0
    for one in sockets:
        poll.register(one, select.EPOLLRDHUP | select.EPOLLHUP | select.EPOLLERR)
    while count < wanted and time.monotonic() < started + seconds:
        for file, _ in poll.poll(0.1):
            poll.unregister(file)
            count, last = count + 1, time.monotonic() - started
    poll.close()
    return count, last


def test_silent_connections(start_trial: Callable[..., Trial]) -> None:
    """The limit leaves room for all of them."""
    trial = start_trial("--max-connections", "65536")

    def attack() -> None:
        sockets = crowd(trial.port, CROWD)
        count, last = closed(sockets, FIRST_BYTES, CROWD)
        trial.note(f"{count} closed, the last after {last:.1f} s")
        for one in sockets:
            one.close()
        assert count == CROWD, f"{CROWD - count} of {CROWD} are open after {FIRST_BYTES} s"

    trial.withstands(attack)


def test_silent_connections_beyond_the_limit(trial: Trial) -> None:
    """They take no more places than the limit, and free them, so that others can connect.

    When the kernel retries connections that did not fit into its queue is not tested.
    """

    def attack() -> None:
        sockets = crowd(trial.port, CROWD)
        files = trial.server.files()
        count, last = closed(sockets, FIRST_BYTES, PLACES)
        trial.note(f"{files} files, {count} closed, the last after {last:.1f} s")
        for one in sockets:
            one.close()
        assert files < PLACES + 100, f"{files} files are open"
        assert count >= PLACES, f"{count} of {CROWD} were closed in {FIRST_BYTES} s"

    trial.withstands(attack)


def test_idle_connections(trial: Trial) -> None:
    """Peers that have sent requests may keep every place while idle. Connected peers are served,
    the admin port answers, and a new peer is served as soon as others have left."""

    def attack() -> None:
        sockets = crowd(trial.port, PLACES + 76)
        time.sleep(0.5)
        greet(sockets)
        full = within(5, lambda: trial.server.files() >= PLACES)
        time.sleep(0.5)
        files = trial.server.files()
        for one in sockets:
            one.close()
        trial.note(f"{files} files")
        assert full, f"{files} files are open: there is room for others"
        assert files < PLACES + 100, f"{files} files are open"
        assert within(5, lambda: trial.server.is_serving(1)), "a newcomer is not served"

    trial.withstands(attack)


def test_exhausted_files(start_trial: Callable[..., Trial]) -> None:
    # With so few files, not even the admin port can accept a probe.
    trial = start_trial(files=64, probed=False)

    def attack() -> None:
        sockets = crowd(trial.port, 200)
        time.sleep(0.3)
        greet(sockets)
        lines = len(trial.server.text().splitlines())
        share = trial.server.cpu_share(2)
        logged = (len(trial.server.text().splitlines()) - lines) / 2
        full = trial.server.files()
        for one in sockets:
            one.close()
        trial.note(f"{share:.1%} of a core, {logged:.0f} log lines a second, {full} files")
        assert full >= 60, f"files were not exhausted: {full}"
        assert share <= 0.2, f"{share:.0%} of a core is spent on nothing"
        assert logged <= 100, f"{logged:.0f} lines are logged a second"
        assert within(5, lambda: trial.server.is_serving(1)), "it does not recover"

    trial.withstands(attack)


def test_connections_that_are_reset(trial: Trial) -> None:
    """Connections that are reset at once, in the preface, in a request, or in an answer."""
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
            with socket.create_connection(("127.0.0.1", trial.port), timeout=5) as one:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_NOT)
                one.sendall(says[turn % len(says)])

    trial.withstands(attack)


def test_half_closed_connections(trial: Trial) -> None:
    """A peer that has closed its sending side does not keep its connection."""
    limit = 5
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
        wires = [(name, Wire(trial.port)) for name in says for _ in range(50)]
        for name, wire in wires:
            wire.say(says[name])
            wire.socket.shutdown(socket.SHUT_WR)
        wrong = set[str]()
        for name, wire in wires:
            if not wire.ends(limit - min(limit - 0.1, time.monotonic() - wire.opened)):
                wrong.add(f"{name}: is open after {limit} s")
            wire.close()
        assert not wrong, "\n".join(sorted(wrong))

    trial.withstands(attack)
