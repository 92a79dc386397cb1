"""Floods of frames that cost the peer next to nothing."""

from __future__ import annotations

import time

import pytest
from offbeat.v1 import id_pb2
from offbeat.v1 import slots_pb2 as slots
from support.frames import (
    ACK,
    CONTINUATION,
    DATA,
    END_HEADERS,
    END_STREAM,
    ENHANCE_YOUR_CALM,
    GOAWAY,
    HEADERS,
    PING,
    PRIORITY,
    Peer,
    begin,
    body,
    call,
    frame,
    head,
    prefixed,
    reset,
    settings,
    window_update,
)
from support.questions import ASSIGN_SLOT, HEALTH, STREAM_SLOTS, SUBMIT_GROUPS, one_slot, schedule
from trial import Trial

#: Seconds within which a flood is cut off.
SOON = 5
#: Seconds that a flood lasts if it need not be cut off.
A_WHILE = 1.5
#: A peer that takes nothing for 10 s is cut off.
UNREAD = 10 + 3
ONE = one_slot()
PINGED = frame(PING, payload=b"8bytes..")


def must_be_cut(trial: Trial, peer: Peer, what: str, limit: float = SOON) -> None:
    """Fails unless the server has ended the connection."""
    note_end(trial, peer)
    assert peer.ended, f"{what}: after {limit} s and {peer.sent:,} bytes it may still go on"


def note_end(trial: Trial, peer: Peer) -> None:
    """Closes a connection, and notes whether the server had done so."""
    life = peer.lifetime()
    ended = "never" if life is None else f"after {life:.2f} s"
    trial.note(f"cut off {ended} and {peer.sent:,} bytes, GOAWAY {peer.goaway}")
    peer.close()


def test_rapid_reset(shared: Trial) -> None:
    def attack() -> None:
        with Peer(shared.port) as peer:
            for stream in range(1, 200_001, 1_000):  # 100,000 streams, 500 at a time
                out = b"".join(
                    begin(number, ASSIGN_SLOT) + reset(number)
                    for number in range(stream, stream + 1_000, 2)
                )
                if not peer.say(out, SOON):
                    break
            peer.pump(1)
            must_be_cut(shared, peer, "100,000 resets")
            assert peer.goaway in (None, ENHANCE_YOUR_CALM)

    shared.withstands(attack)


def test_rapid_reset_of_whole_calls(shared: Trial) -> None:
    """Resets that let each call begin may cost as much as calls, but not more."""

    def attack() -> None:
        with Peer(shared.port) as peer:
            for stream in range(1, 2_000, 2):
                out = call(stream, ASSIGN_SLOT, ONE) + reset(stream) + PINGED
                pings = peer.counts[PING]
                peer.pump(1, out, done=lambda pings=pings: peer.counts[PING] > pings)
                if peer.ended:
                    break
            shared.note(f"{stream // 2 + 1} streams")

    shared.withstands(attack)


def malformed(stream: int, block: bytes) -> bytes:
    """A request that consists only of headers."""
    return frame(HEADERS, END_HEADERS | END_STREAM, stream, block)


#: Requests that make the server reset the stream.
MISTAKES = {
    "window updates of 0": lambda stream: begin(stream, ASSIGN_SLOT) + window_update(stream, 0),
    "windows that overflow": lambda stream: (
        begin(stream, ASSIGN_SLOT) + window_update(stream, 2**31 - 1)
    ),
    # A request without :path is not one of them: h2 passes it on, and it is answered like any
    # other request for an unknown path.
    "requests with an empty path": lambda stream: malformed(stream, b"\x83\x86\x04\x00"),
    "requests without scheme": lambda stream: malformed(stream, b"\x83\x84"),
    "bodies longer than declared": lambda stream: (
        begin(stream, ASSIGN_SLOT, ("content-length", "1")) + body(stream, b"12")
    ),
    "DATA behind the end": lambda stream: (
        begin(stream, ASSIGN_SLOT, flags=END_STREAM) + frame(DATA, 0, stream, b"x")
    ),
    "DATA on reset streams": lambda stream: (
        begin(stream, ASSIGN_SLOT) + reset(stream) + frame(DATA, 0, stream, b"x")
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_resets_that_the_server_causes(shared: Trial, mistake: str) -> None:
    """4,000 streams, unless the connection is ended earlier: each costs no more than a call."""

    def attack() -> None:
        with Peer(shared.port, keep=False) as peer:
            for stream in range(1, 8_001, 2):
                if not peer.say(MISTAKES[mistake](stream)):
                    break
            peer.pump(0.2)
            note_end(shared, peer)

    shared.withstands(attack)


#: The start of a message of 4 MiB.
PROMISE = body(1, b"\0\0\x3f\xff\xff", end=False)
SCHEDULE = slots.StreamSlotAssignmentsRequest(schedule=schedule()).SerializeToString()
STREAM = begin(1, STREAM_SLOTS)
#: Control frames, with the frames that open their stream: the server ends the connection.
CONTROL = {
    "PING": (b"", PINGED),
    "PING acknowledgements": (b"", frame(PING, ACK, payload=b"8bytes..")),
    "SETTINGS": (b"", settings()),
    "SETTINGS that change windows": (b"", settings({4: 1 << 16}) + settings({4: 1 << 20})),
    "PRIORITY": (b"", frame(PRIORITY, 0, 1, b"\0\0\0\0\x10")),
    "WINDOW_UPDATE of a connection": (b"", window_update(0, 1)),
    "WINDOW_UPDATE of a stream": (STREAM, window_update(1, 1)),
    "RST_STREAM of a closed stream": (STREAM + reset(1), reset(1)),
}
#: Other frames: the server ends the connection, or flow control bounds the flood.
OTHERS = {
    "frames of an unknown kind": (b"", frame(0x42, 0, 0, b"")),
    "GOAWAY": (b"", frame(GOAWAY, payload=b"\0" * 8)),
    "empty DATA, read": (STREAM, frame(DATA, 0, 1)),
    "DATA of a byte, read": (STREAM + PROMISE, frame(DATA, 0, 1, b"x")),
    "DATA of padding alone, read": (STREAM, frame(DATA, 8, 1, b"\x07" + b"\0" * 7)),
    "empty messages, read": (
        STREAM + body(1, prefixed(SCHEDULE), end=False),
        frame(DATA, 0, 1, b"\0\0\0\0\0"),
    ),
    "empty DATA, not read": (begin(1, HEALTH) + body(1, prefixed(b""), False), frame(DATA, 0, 1)),
    "DATA of a byte, not read": (begin(1, "/no/method"), frame(DATA, 0, 1, b"x")),
    "DATA of a byte, of a unary message": (
        begin(1, SUBMIT_GROUPS) + PROMISE,
        frame(DATA, 0, 1, b"\0"),
    ),
}


@pytest.mark.parametrize("flood", CONTROL)
def test_flood_of_control_frames(shared: Trial, flood: str) -> None:
    opening, useless = CONTROL[flood]

    def attack() -> None:
        with Peer(shared.port, keep=False) as peer:
            peer.say(opening)
            peer.pump(SOON, useless * 4_000, times=1_000_000)
            must_be_cut(shared, peer, flood)

    shared.withstands(attack)


@pytest.mark.parametrize("flood", OTHERS)
def test_flood_of_other_frames(shared: Trial, flood: str) -> None:
    opening, useless = OTHERS[flood]

    def attack() -> None:
        with Peer(shared.port, keep=False) as peer:
            peer.say(opening)
            peer.pump(A_WHILE, useless * 4_000, times=1_000_000)
            note_end(shared, peer)

    shared.withstands(attack)


def pinged(peer: Peer, count: int) -> int:
    """Sends PINGs in hundreds, waiting for the answers; returns how many were answered."""
    before = peer.counts[PING]
    for sent in range(100, count + 1, 100):
        done = lambda sent=sent: peer.counts[PING] >= before + sent  # noqa: E731
        peer.pump(5, PINGED * 100, done=done)
        if peer.ended:
            break
    return peer.counts[PING] - before


def test_control_frames_are_bounded_in_number(shared: Trial) -> None:
    """Even if they are slow: the next ones are sent only after the answers to the last ones."""
    most = 50_000

    def attack() -> None:
        with Peer(shared.port, keep=False) as peer:
            answered = pinged(peer, most)
            shared.note(f"{answered:,} PINGs were answered")
            must_be_cut(shared, peer, f"{most:,} PINGs")

    shared.withstands(attack)


def test_a_reader_of_a_long_stream_is_not_cut_off(shared: Trial) -> None:
    """Its WINDOW_UPDATEs, two per message, are control frames of a single request."""
    count, at_once, smallest = 12_000, 100, 100
    ids = id_pb2.IdBatch(integers=[7])
    message = slots.StreamSlotAssignmentsRequest(ids=ids).SerializeToString()
    out = body(1, prefixed(message), end=False) + window_update(0, 200) + window_update(1, 200)
    with Peer(shared.port, polite=False, keep=False) as peer:
        peer.say(STREAM + body(1, prefixed(SCHEDULE), end=False))
        for sent in range(at_once, count + 1, at_once):
            done = lambda sent=sent: peer.answer(1).size >= sent * smallest  # noqa: E731
            peer.pump(10, out * at_once, done=done)
            assert done(), f"after {sent} messages: {peer.answer(1)}, GOAWAY {peer.goaway}"
        assert peer.ask(1, body(1, b"")).status == "0"


def test_floods_whose_answers_nobody_reads(shared: Trial) -> None:
    """PING and SETTINGS, in turn, on one connection each."""

    def attack() -> None:
        kinds = ("PING", "SETTINGS")
        peers = [Peer(shared.port, receive_buffer=4_096) for _ in kinds]
        until = time.monotonic() + UNREAD
        while time.monotonic() < until and not all(peer.ended for peer in peers):
            for kind, peer in zip(kinds, peers):
                peer.pump(0.05, CONTROL[kind][1] * 4_000, times=1_000_000, reading=False)
        for kind, peer in zip(kinds, peers):
            must_be_cut(shared, peer, kind, UNREAD)

    shared.withstands(attack)


#: HEADERS with endless continuations.
CONTINUATIONS = {
    "endless": frame(CONTINUATION, 0, 1, b"\0\x01a\x7f\x81\x7f" + b"b" * 16_378),
    "endless and small": frame(CONTINUATION, 0, 1, b"\0\x01a\x01b"),
    "endless and empty": frame(CONTINUATION, 0, 1),
}


@pytest.mark.parametrize("form", CONTINUATIONS)
def test_continuation_flood(shared: Trial, form: str) -> None:
    def attack() -> None:
        with Peer(shared.port) as peer:
            out = frame(HEADERS, END_STREAM, 1, head(ASSIGN_SLOT))
            peer.say(out)
            piece = CONTINUATIONS[form]
            peer.pump(SOON, piece * max(1, 65_536 // len(piece)), times=100_000)
            must_be_cut(shared, peer, form)

    shared.withstands(attack)


def header_lists() -> dict[str, bytes]:
    """Requests with more headers than the announced limit of 16 KiB."""
    start = head(ASSIGN_SLOT)
    pairs = b"".join(b"\0" + b"\x04n%03d" % number + b"\x01v" for number in range(1_000))
    long = b"\0\x01a" + b"\x7f\x81\xf7\x01" + b"b" * 31_616
    remembered = b"\x40\x01a" + b"\x7f\x81\x1e" + b"b" * 4_000
    return {
        "many small headers": start + pairs * 20,
        "one long value": start + long * 4,
        # An entry of 4,000 bytes that single bytes refer to again and again: 64 MB.
        "a bomb of HPACK": start + remembered + b"\xbe" * 16_000,
        "a header of 60 KB in the path": head("/" + "p" * 60_000),
    }


@pytest.mark.parametrize("form", header_lists())
def test_huge_header_lists(shared: Trial, form: str) -> None:
    block = header_lists()[form]
    pieces = [block[at : at + 16_384] for at in range(0, len(block), 16_384)]

    def frames(stream: int) -> bytes:
        kinds = [HEADERS] + [CONTINUATION] * (len(pieces) - 1)
        flags = [END_STREAM] + [0] * (len(pieces) - 1)
        flags[-1] |= END_HEADERS
        return b"".join(map(frame, kinds, flags, [stream] * len(pieces), pieces))

    def attack() -> None:
        with Peer(shared.port) as peer:
            for stream in range(1, 41, 2):
                answer = peer.ask(stream, frames(stream), SOON)
                if peer.ended:
                    break
                refused = answer.reset is not None or answer.status not in (None, "0", "200")
                assert refused, f"{form}: {answer}"
            shared.note(f"{stream // 2 + 1} requests, GOAWAY {peer.goaway}, {answer.headers}")

    shared.withstands(attack)
