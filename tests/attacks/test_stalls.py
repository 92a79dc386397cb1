"""A thousand readers who ask, and take nothing of the answers."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from frames import (
    INITIAL_WINDOW_SIZE,
    LARGEST_WINDOW,
    Peer,
    begin,
    body,
    call,
    prefixed,
    window_update,
)
from offbeat.v1 import id_pb2
from offbeat.v1 import slots_pb2 as slots
from offbeat.v1 import spread_pb2 as spread
from offbeat.v1beta1 import simulation_pb2 as simulation
from questions import (
    ASSIGN_SLOT,
    LIST_SLOTS,
    SIMULATE,
    SPREAD,
    STREAM_SLOTS,
    listed_slots,
    one_slot,
    schedule,
)
from trial import Trial

from server import within

CONNECTIONS, STREAMS = 10, 100
#: They ask one after the other: it is the stall that is judged, not a burst of work.
PAUSE = 0.002
#: Room for all of them; and unary calls end soon, so that the tests do too.
ROOM = ("--max-requests", "4096", "--unary-timeout", "2")
#: Seconds in which a peer may take nothing of its answer, and a margin.
UNREAD = 10 + 3
#: The deadline of unary calls, and the same.
UNARY = 2 + UNREAD
pytestmark = pytest.mark.usefixtures("slow")  # it waits, as these do

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
    """A whole spread at once, whose turns fill many messages."""
    order = spread.SpreadOrder(policy=spread.SPREAD_POLICY_ROUND_ROBIN, feeder_count=4)
    spec = spread.SpreadSpec(order=order)
    group = spread.SpreadInput(no_more_groups=True, whole_group_sizes=[1_000_000] * 4)
    messages = [spread.SpreadRequest(spec=spec), spread.SpreadRequest(input=group)]
    return b"".join(prefixed(message.SerializeToString()) for message in messages)


def stream_of_slots() -> bytes:
    """A message of 1,000 IDs, 30 times: 62 kB, and all but one of them is left unread."""
    ids = id_pb2.IdBatch(texts=[""] * 1_000)
    first = slots.StreamSlotAssignmentsRequest(schedule=schedule(), ids=ids)
    later = slots.StreamSlotAssignmentsRequest(ids=ids).SerializeToString()
    return prefixed(first.SerializeToString()) + prefixed(later) * 30


def watch_simulation() -> bytes:
    """Simulate."""
    return prefixed(simulation.SimulateRequest(scenario=SCENARIO).SerializeToString())


#: What is asked, and left: path, body, and whether the request is at its end.
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
    """The readers, after each has asked."""
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
    """The server must end every connection, or at least every stream, so soon from now."""
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
    """Three kinds of them, side by side: 300, and 384 of the 512 requests in flight may stream.

    With more places there are more streams, each of which may leave 128 KiB of requests unread:
    who sets ``--max-requests`` gives the memory for it.
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
    """The same with the limits as they are: a caller beside them is not refused."""

    def attack() -> None:
        peers = crowd(trial, *STREAMING["Spread"], given={INITIAL_WINDOW_SIZE: 0})
        all_end(trial, peers, UNREAD)

    trial.withstands(attack)


def test_readers_make_room_for_a_byte(start_trial: Callable[..., Trial]) -> None:
    """A byte of room on each stream, three times a second: the deadline holds all the same."""
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
    """All the room there is in HTTP/2, and none in TCP."""
    # So few that there is room for all their answers: refusals would fit into a socket, and who has
    # nothing more to take is idle, not stalled.
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
        # What the server says at the end stands behind what nobody reads: its files tell.
        over = within(UNREAD, lambda: trial.server.files() <= files)
        left = trial.server.files() - files
        trial.note(f"{left} connections open at the end")
        for peer in peers:
            peer.close()
        assert over, f"{left} connections are open after {UNREAD} s in which nothing was taken"

    trial.withstands(attack)
