"""A thousand readers that make requests and do not read the answers."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from offbeat.v1 import id_pb2
from offbeat.v1 import slots_pb2 as slots
from offbeat.v1 import spread_pb2 as spread
from offbeat.v1beta1 import simulation_pb2 as simulation
from support.frames import (
    INITIAL_WINDOW_SIZE,
    LARGEST_WINDOW,
    Peer,
    begin,
    body,
    call,
    prefixed,
    window_update,
)
from support.questions import (
    ASSIGN_SLOT,
    LIST_SLOTS,
    SIMULATE,
    SPREAD,
    STREAM_SLOTS,
    listed_slots,
    one_slot,
    schedule,
)
from support.waiting import within
from trial import Trial

CONNECTIONS, STREAMS = 10, 100
#: Seconds between requests: the test is about stalls, not about a burst of work.
PAUSE = 0.002
#: Room for all requests, and a short timeout of unary calls to keep the tests short.
ROOM = ("--max-requests", "4096", "--unary-timeout", "2")
#: Seconds for which a peer may read nothing of its answer, and a margin.
UNREAD = 10 + 3
#: The timeout of unary calls, and then the same.
UNARY = 2 + UNREAD
pytestmark = pytest.mark.usefixtures("slow")  # these tests wait, too

SCENARIO = """
name = "Short"
duration = "1d"
workers = 4
[users]
count = 100
cycle = "8h"
[[kinds]]
name = "sync"
run_time = "30s"
[[strategies]]
kind = "slots"
"""


def spread_of_many() -> bytes:
    """A whole spread in one message, with turns that fill many messages."""
    order = spread.SpreadOrder(policy=spread.SPREAD_POLICY_ROUND_ROBIN, feeder_count=4)
    spec = spread.SpreadSpec(order=order)
    group = spread.SpreadInput(no_more_groups=True, whole_group_sizes=[1_000_000] * 4)
    messages = [spread.SpreadRequest(spec=spec), spread.SpreadRequest(input=group)]
    return b"".join(prefixed(message.SerializeToString()) for message in messages)


def stream_of_slots() -> bytes:
    """A message of 1,000 IDs, 30 times: 62 kB; the server reads only one of them."""
    ids = id_pb2.IdBatch(texts=[""] * 1_000)
    first = slots.StreamSlotAssignmentsRequest(schedule=schedule(), ids=ids)
    later = slots.StreamSlotAssignmentsRequest(ids=ids).SerializeToString()
    return prefixed(first.SerializeToString()) + prefixed(later) * 30


def watch_simulation() -> bytes:
    """Simulate."""
    return prefixed(simulation.SimulateRequest(scenario=SCENARIO).SerializeToString())


#: Path and body of abandoned streams, and whether the request is complete.
STREAMING = {
    "Spread": (SPREAD, spread_of_many()),
    "StreamSlotAssignments": (STREAM_SLOTS, stream_of_slots()),
    "Simulate": (SIMULATE, watch_simulation()),
}
UNARY_CALLS = {
    "AssignSlot": (ASSIGN_SLOT, prefixed(one_slot(next_runs=1_000))),
    "ListSlots": (LIST_SLOTS, prefixed(listed_slots())),
}


def crowd(
    trial: Trial, path: str, asked: bytes, connections: int = CONNECTIONS, **how: object
) -> list[Peer]:
    """The readers, after each has sent its requests."""
    peers = [Peer(trial.port, keep=False, **how) for _ in range(connections)]
    for peer in peers:
        calls = (begin(at, path) + body(at, asked) for at in range(1, 2 * STREAMS, 2))
        for out in calls:
            peer.say(out)
            time.sleep(PAUSE)
    return peers


def is_over(peer: Peer) -> bool:
    """Whether the server has ended the connection, or every stream."""
    return peer.ended is not None or peer.finished(*range(1, 2 * STREAMS, 2))


def all_end(trial: Trial, peers: list[Peer], seconds: float) -> None:
    """Fails unless the server ends every connection, or at least every stream, in time."""
    limit = time.monotonic() + seconds
    for peer in peers:
        rest = max(limit - time.monotonic(), 0.05)
        peer.pump(rest, done=lambda peer=peer: is_over(peer))
    left = [peer for peer in peers if not is_over(peer)]
    lives = [peer.lifetime() for peer in peers if peer.ended]
    stalled = sum(not peer.finished(at) for peer in left for at in range(1, 2 * STREAMS, 2))
    trial.note(f"{len(lives)} cut off, the last at {max(lives, default=0) or 0:.1f} s")
    for peer in peers:
        peer.close()
    assert not left, (
        f"{stalled} stalled readers on {len(left)} connections are still served after {seconds} s"
    )


@pytest.mark.parametrize("method", UNARY_CALLS)
def test_readers_of_unary_answers_make_no_room(
    start_trial: Callable[..., Trial], method: str
) -> None:
    trial = start_trial(*ROOM)

    def attack() -> None:
        peers = crowd(trial, *UNARY_CALLS[method], given={INITIAL_WINDOW_SIZE: 0})
        all_end(trial, peers, UNARY)

    trial.withstands(attack)


def test_readers_of_streams_make_no_room(trial: Trial) -> None:
    """Three kinds of streams, concurrently: 300, where 384 of 512 requests in flight may stream.

    A larger ``--max-requests`` allows more streams, each with up to 128 KiB of unread requests,
    and needs the memory for them.
    """

    def attack() -> None:
        how = {"given": {INITIAL_WINDOW_SIZE: 0}, "connections": 1}
        crowds = {name: crowd(trial, *asked, **how) for name, asked in STREAMING.items()}
        wrong = []
        for name, peers in crowds.items():
            try:
                all_end(trial, peers, UNREAD)
            except AssertionError as error:
                wrong.append(f"{name}: {error}")
        assert not wrong, "\n".join(wrong)

    trial.withstands(attack)


def test_stalled_readers_leave_room_for_others(trial: Trial) -> None:
    """The same with default limits: another caller is not refused."""

    def attack() -> None:
        peers = crowd(trial, *STREAMING["Spread"], given={INITIAL_WINDOW_SIZE: 0})
        all_end(trial, peers, UNREAD)

    trial.withstands(attack)


def test_readers_make_room_for_a_byte(start_trial: Callable[..., Trial]) -> None:
    """Window updates of one byte per stream, three times per second, do not extend the deadline."""
    trial = start_trial(*ROOM)

    def attack() -> None:
        given = {INITIAL_WINDOW_SIZE: 0}
        peers = crowd(trial, *UNARY_CALLS["AssignSlot"], given=given, polite=False)
        trickle = b"".join(window_update(at, 1) for at in range(1, 2 * STREAMS, 2))
        until = time.monotonic() + UNARY
        while time.monotonic() < until and not all(map(is_over, peers)):
            for peer in peers:
                peer.pump(1 / 30, trickle)
        all_end(trial, peers, 1)

    trial.withstands(attack)


def test_readers_leave_it_all_in_the_socket(start_trial: Callable[..., Trial]) -> None:
    """HTTP/2 windows are wide open, but nothing is read from the socket."""
    # So few that all answers are admitted: refusals would fit into a socket, and a peer that has
    # nothing left to read is idle, not stalled.
    room = ("--max-requests", "4096", "--max-bytes-in-flight", str(32 << 20))
    trial, connections = start_trial(*room), 4

    def attack() -> None:
        files, given = trial.server.files(), {INITIAL_WINDOW_SIZE: LARGEST_WINDOW}
        peers = [
            Peer(trial.port, given, keep=False, receive_buffer=4_096) for _ in range(connections)
        ]
        for peer in peers:
            peer.say(window_update(0, LARGEST_WINDOW - 65_535), reading=False)
            for at in range(1, 2 * STREAMS, 2):
                out = call(at, ASSIGN_SLOT, one_slot(next_runs=1_000))
                if not peer.say(out, 0.5, reading=False):
                    break
                time.sleep(PAUSE)
        # The server's last frames are behind unread data, so its open files are checked instead.
        over = within(UNREAD, lambda: trial.server.files() <= files)
        left = trial.server.files() - files
        trial.note(f"{left} connections open at the end")
        for peer in peers:
            peer.close()
        assert over, f"{left} connections are open after {UNREAD} s in which nothing was taken"

    trial.withstands(attack)
