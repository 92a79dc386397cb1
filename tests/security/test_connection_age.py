"""Connections end at ``--max-connection-age`` without failures for callers."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from offbeat.v1 import slots_pb2 as slots
from support.frames import Peer, begin, body, call, prefixed
from support.server import ENVIRONMENT, ROOT, Server
from wire import ASSIGN_SLOT, ONE_ID, SLOTS, connect, reply, text

AGE = 1
#: Connections end up to a tenth earlier, so that they do not end all at once.
EARLIEST = AGE * 0.9
#: Seconds by which they may end later on a busy machine.
LATE = 1
PROGRAMS = ROOT / "tests" / "restarts" / "programs"
COMMANDS = {
    "py": [sys.executable],
    "rb": ["ruby", f"-I{ROOT}/clients/ruby/lib"],
    "php": ["php"],
}
SCHEDULE = {"spec": {"period": {"seconds": 86_400}}}
ONE_SLOT = slots.AssignSlotRequest(schedule=SCHEDULE, id={"text": "acme"}).SerializeToString()
IDS = {"texts": {"values": ["acme"]}}
FIRST_IDS = slots.StreamSlotAssignmentsRequest(schedule=SCHEDULE, ids=IDS).SerializeToString()
MORE_IDS = slots.StreamSlotAssignmentsRequest(ids=IDS).SerializeToString()


@pytest.fixture
def aging(serve: Callable[..., Server]) -> Server:
    """A server with a short maximum connection age."""
    return serve("--max-connection-age", str(AGE))


def age_of(peer: Peer) -> float:
    """Seconds until GOAWAY without an error."""
    assert peer.pump(AGE + LATE, done=lambda: peer.goaway is not None)
    assert peer.goaway == 0
    return time.monotonic() - peer.opened


def test_a_connection_without_calls_ends_at_its_age(aging: Server) -> None:
    with Peer(aging.port) as peer:
        assert peer.ask(1, call(1, ASSIGN_SLOT, ONE_SLOT)).status == "0"
        assert EARLIEST <= age_of(peer) <= AGE + LATE
        assert peer.ends(LATE)


def test_calls_go_on_when_their_connection_is_told_to_end(aging: Server) -> None:
    stream = SLOTS + "StreamSlotAssignments"
    with Peer(aging.port) as peer:
        assert peer.say(begin(1, stream) + body(1, prefixed(FIRST_IDS), end=False))
        assert peer.say(begin(3, ASSIGN_SLOT) + body(3, prefixed(ONE_SLOT)[:9], end=False))
        assert peer.pump(5, done=lambda: peer.answer(1).size > 0)
        first = peer.answer(1).size
        age_of(peer)
        assert not peer.ends(1), "it waits for its calls"
        # Calls that have begun continue as usual.
        assert peer.ask(3, body(3, prefixed(ONE_SLOT)[9:])).status == "0"
        assert peer.ask(1, body(1, prefixed(MORE_IDS))).status == "0"
        assert peer.answer(1).size > first
        assert peer.ends(LATE), "and ends when they have ended"


def test_connections_of_http1_end_too(aging: Server) -> None:
    begun = time.monotonic()
    with connect(aging.port) as idle, connect(aging.port) as busy:
        question = text(ASSIGN_SLOT, ONE_ID)
        idle.sendall(question)
        assert reply(idle).status == 200
        busy.sendall(question[:-20])  # a call in flight at the maximum age
        idle.settimeout(AGE + LATE)
        assert idle.recv(1) == b""
        assert EARLIEST <= time.monotonic() - begun <= AGE + LATE
        time.sleep(begun + AGE + 0.5 - time.monotonic())
        busy.sendall(question[-20:])
        answer = reply(busy)
        assert (answer.status, answer.headers["connection"]) == (200, "close")
        assert busy.recv(1) == b""


def test_connections_do_not_age_unless_they_are_told_to(serve: Callable[..., Server]) -> None:
    server = serve()
    with Peer(server.port) as peer, connect(server.port) as wire:
        for stream in (1, 3):
            assert peer.ask(stream, call(stream, ASSIGN_SLOT, ONE_SLOT)).status == "0"
            wire.sendall(text(ASSIGN_SLOT, ONE_ID))
            assert reply(wire).status == 200
            if stream == 1:
                assert not peer.ends(2 * AGE)
        assert peer.goaway is None


@pytest.mark.parametrize("kind", COMMANDS)
def test_our_clients_notice_nothing(aging: Server, tmp_path: Path, kind: str) -> None:
    """A call every few milliseconds, for more than three maximum ages."""
    stop = tmp_path / "stop"
    caller = subprocess.Popen(
        [*COMMANDS[kind], PROGRAMS / f"caller.{kind}", aging.address, "0.005", stop],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        env=ENVIRONMENT,
        text=True,
    )
    try:
        assert caller.stdout.readline() == "ready\n"
        before = aging.metric("offbeat_connections_accepted_total")
        time.sleep(3.5 * AGE)
        accepted = aging.metric("offbeat_connections_accepted_total") - before
        stop.touch()
        said = json.loads(caller.communicate(timeout=30)[0])
    finally:
        caller.kill()
        caller.communicate()
    assert said["failures"] == []
    assert said["calls"] > 50
    assert accepted >= 3, "it has connected again and again"
