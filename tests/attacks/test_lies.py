"""False lengths, smuggled requests, and decompression bombs."""

from __future__ import annotations

import gzip
import json
import struct
import time
from collections.abc import Callable

import pytest
from support.frames import DATA, Peer, Wire, begin, body, frame, prefixed
from support.http1 import exchange, post, settled
from support.questions import (
    ASSIGN_SLOT,
    ASSIGN_SLOTS,
    HEALTH,
    STREAM_SLOTS,
    SUBMIT_GROUPS,
)
from trial import Trial

UNARY = 2
FLAGS = ("--unary-timeout", str(UNARY), "--max-requests", "4096")
REFUSED, LATE = "8", "4"
#: Statuses of messages that are too large, and of compressed messages.
TOO_LARGE, COMPRESSED = (REFUSED, "11"), ("3", "12", "13")
STREAMS = range(1, 201, 2)
GIGA_4 = struct.pack(">BI", 0, 0xFFFF_FFFF)


@pytest.mark.parametrize("path", [ASSIGN_SLOT, SUBMIT_GROUPS, STREAM_SLOTS])
def test_length_prefixes_of_4_gib(trial: Trial, path: str) -> None:
    """A hundred on each of ten connections are refused at once, because of the prefix alone."""

    def attack() -> None:
        for _ in range(10):
            with Peer(trial.port) as peer:
                peer.say(b"".join(begin(at, path) + frame(DATA, 0, at, GIGA_4) for at in STREAMS))
                peer.pump(2, done=lambda peer=peer: peer.finished(*STREAMS))
                found = {peer.answer(at).status for at in STREAMS}
                assert found <= set(TOO_LARGE), f"statuses {found}, GOAWAY {peer.goaway}"

    trial.withstands(attack)


@pytest.mark.parametrize("sent", [0, 16_000, (4 << 20) - 1_000])
def test_length_prefixes_that_promise_more(start_trial: Callable[..., Trial], sent: int) -> None:
    """Only a part of the promised 4 MiB follows: 1,000 times, or 50 for the largest part."""
    trial = start_trial(*FLAGS)
    content = struct.pack(">BI", 0, 4 << 20) + b"\x12\x82\x80\x80\x02" + bytes(max(0, sent - 5))

    def attack() -> None:
        connections, streams = (10, STREAMS) if sent < 1 << 20 else (5, STREAMS[:10])
        peers = [Peer(trial.port) for _ in range(connections)]
        for peer in peers:
            for at in streams:
                peer.say(begin(at, SUBMIT_GROUPS))
                peer.upload(at, content[: 5 + sent], end=False, seconds=2)
        found = set[str | None]()
        for peer in peers:
            peer.pump(UNARY + 2, done=lambda peer=peer: peer.finished(*streams))
            found |= {peer.answer(at).status for at in streams}
            peer.close()
        trial.note(f"statuses {found}")
        assert found <= {LATE, REFUSED}, f"statuses {found}"

    trial.withstands(attack)


QUESTION = json.dumps({"schedule": {"spec": {"period": "86400s"}}, "id": {"text": "a"}}).encode()
CHECK = b"{}"


def chunked(path: str, content: bytes, *headers: str) -> bytes:
    """A request with the given chunked body."""
    return post(path, content, "transfer-encoding: chunked", *headers, framed=False)


#: Must be refused or cut off within seconds; incomplete requests at the timeout of the call.
NONSENSE = {
    "a length of 4 GiB": post(ASSIGN_SLOT, b"{", "content-length: 4294967296", framed=False),
    "a length beyond 64 bits": post(HEALTH, b"{}", f"content-length: {1 << 64}", framed=False),
    "a negative length": post(HEALTH, b"{}", "content-length: -2", framed=False),
    "a signed length": post(HEALTH, b"{}", "content-length: +2", framed=False),
    "a length in hexadecimal": post(HEALTH, b"{}", "content-length: 0x2", framed=False),
    "a length with a space": post(HEALTH, b"{}", "content-length: 2 2", framed=False),
    "an empty length": post(HEALTH, b"{}", "content-length: ", framed=False),
    "two lengths": post(HEALTH, b"{}", "content-length: 2", "content-length: 1", framed=False),
    "two lengths in one": post(HEALTH, b"{}", "content-length: 2, 1", framed=False),
    "a length of another alphabet": post(HEALTH, b"{}", "content-length: \xb2", framed=False),
    "a chunk of no size": chunked(HEALTH, b"\r\n{}\r\n0\r\n\r\n"),
    "a chunk of a word": chunked(HEALTH, b"two\r\n{}\r\n0\r\n\r\n"),
    "a chunk of less than nothing": chunked(HEALTH, b"-2\r\n{}\r\n0\r\n\r\n"),
    "a chunk beyond 64 bits": chunked(HEALTH, b"1" + b"0" * 16 + b"\r\n{}\r\n0\r\n\r\n"),
    "a chunk longer than it says": chunked(HEALTH, b"1\r\n{}\r\n0\r\n\r\n"),
    "endless extensions": chunked(HEALTH, b"2;" + b"e" * 300_000),
    "extensions of many chunks": chunked(ASSIGN_SLOT, (b"1;" + b"e" * 200 + b"\r\n \r\n") * 1_000),
    "endless trailers": chunked(HEALTH, b"2\r\n{}\r\n0\r\n" + b"a: b\r\n" * 100_000),
    "a long size of a chunk": chunked(HEALTH, b"0" * 100_000),
    "endless small chunks": chunked(ASSIGN_SLOT, b"1\r\n \r\n" * 300_000),
    "an encoding nobody knows": post(HEALTH, b"{}", "transfer-encoding: cow", framed=False),
    "chunked, but not last": post(HEALTH, b"{}", "transfer-encoding: chunked, cow", framed=False),
    "a header without colon": post(HEALTH, b"{}", "transfer-encoding chunked"),
    "a header with a space": post(HEALTH, b"{}", "content-length : 2", framed=False),
    "a header with NUL": post(HEALTH, b"{}", "a: b\0c"),
    "a header with CR": post(HEALTH, b"{}", "a: b\rc: d"),
    "a folded header": post(HEALTH, b"{}", "a: b\r\n c: d"),
    "101 headers": post(HEALTH, b"{}", *(f"h{number}: v" for number in range(101))),
    "a header of a megabyte": post(HEALTH, b"{}", "a: " + "b" * (1 << 20)),
    "a path of a megabyte": post("/" + "p" * (1 << 20), b"{}"),
    "a method of a megabyte": b"M" * (1 << 20) + post(HEALTH, b"{}"),
    "HTTP/1.2": post(HEALTH, b"{}").replace(b"HTTP/1.1", b"HTTP/1.2"),
    "HTTP/9": post(HEALTH, b"{}").replace(b"HTTP/1.1", b"HTTP/9"),
    "no version": b"POST " + HEALTH.encode() + b"\r\n\r\n",
}
INCOMPLETE = (
    "a length of 4 GiB",
    "a long size of a chunk",
    "chunked, but not last",
    "an encoding nobody knows",
)


def test_nonsense_in_http1(start_trial: Callable[..., Trial]) -> None:
    trial = start_trial(*FLAGS)

    def attack() -> None:
        wrong = []
        for name, out in NONSENSE.items():
            limit = UNARY + 3 if name in INCOMPLETE else 3
            if what := settled(trial.port, out, limit):
                wrong.append(f"{name}: {what}")
        assert not wrong, "\n".join(wrong)

    trial.withstands(attack)


HIDDEN = post("/hidden.Service/Hidden", b"{}")
#: An ambiguous request with another one hidden in it. The hidden one must not be answered
#: besides the first, or the connection must end.
SMUGGLED = {
    "length, then chunks": post(
        HEALTH,
        b"0\r\n\r\n" + HIDDEN,
        "content-length: 5",
        "transfer-encoding: chunked",
        framed=False,
    ),
    "chunks, then length": post(
        HEALTH,
        b"2\r\n{}\r\n0\r\n\r\n" + HIDDEN,
        "transfer-encoding: chunked",
        f"content-length: {12 + len(HIDDEN)}",
        framed=False,
    ),
    "chunks in another case": post(
        HEALTH,
        b"2\r\n{}\r\n0\r\n\r\n" + HIDDEN,
        "TRANSFER-ENCODING: CHUNKED",
        "content-length: 12",
        framed=False,
    ),
    "chunks behind a tab": post(
        HEALTH,
        b"2\r\n{}\r\n0\r\n\r\n" + HIDDEN,
        "transfer-encoding:\tchunked",
        "content-length: 12",
        framed=False,
    ),
    "chunks by another name": post(
        HEALTH, b"{}" + HIDDEN, "transfer-encoding: xchunked", "content-length: 2", framed=False
    ),
    "two encodings": post(
        HEALTH,
        b"2\r\n{}\r\n0\r\n\r\n" + HIDDEN,
        "transfer-encoding: chunked",
        "transfer-encoding: identity",
        "content-length: 12",
        framed=False,
    ),
    "chunks with bare line feeds": chunked(HEALTH, b"2\n{}\n0\n\n" + HIDDEN),
    "chunks on HTTP/1.0": chunked(HEALTH, b"2\r\n{}\r\n0\r\n\r\n" + HIDDEN).replace(
        b"/1.1", b"/1.0"
    ),
}


def test_smuggled_requests(trial: Trial) -> None:
    def attack() -> None:
        wrong = []
        for name, out in SMUGGLED.items():
            replies, ended = exchange(trial.port, out, 1, replies=2)
            statuses = [reply.status for reply in replies]
            if 404 in statuses:
                wrong.append(f"{name}: the hidden request was answered: {statuses}, ended {ended}")
            elif not ended and statuses != [200]:
                wrong.append(f"{name}: {statuses}, and the connection goes on")
        assert not wrong, "\n".join(wrong)

    trial.withstands(attack)


def test_bodies_shorter_than_declared(start_trial: Callable[..., Trial]) -> None:
    """500 incomplete bodies are dropped, whether or not the peer stays."""
    trial = start_trial(*FLAGS)

    def attack() -> None:
        wires = [Wire(trial.port) for _ in range(500)]
        for wire in wires:
            wire.say(post(ASSIGN_SLOT, QUESTION, "content-length: 200000", framed=False))
        started, waiting = time.monotonic(), 0
        for wire in wires:
            left = UNARY + 2 - (time.monotonic() - started)
            over = lambda wire=wire: bool(wire.answers1())  # noqa: E731
            waiting += not wire.pump(max(left, 0.01), done=over)
            wire.close()
        assert not waiting, f"{waiting} of 500 are still waited for after {UNARY + 2} s"

    trial.withstands(attack)


BOMB = gzip.compress(b"\0" * (64 << 20))


def test_compressed_bombs(trial: Trial) -> None:
    """64 MiB of zeros in 64 KiB: nothing must be decompressed."""
    forms = {
        "gzip": [("grpc-encoding", "gzip")],
        "deflate": [("grpc-encoding", "deflate")],
        "zstd": [("grpc-encoding", "zstd")],
        "identity": [("grpc-encoding", "identity")],
        "unnamed": [],
    }

    def attack() -> None:
        wrong = []
        with Peer(trial.port) as peer:
            at = 1
            for path in (ASSIGN_SLOTS, STREAM_SLOTS, HEALTH):
                for name, headers in forms.items():
                    peer.say(begin(at, path, *headers))
                    peer.upload(at, prefixed(BOMB, flag=1))
                    status = peer.ask(at, b"", 2).status
                    if status not in COMPRESSED:
                        wrong.append(f"{name} to {path}: status {status}")
                    at += 2
        for encoding in ("gzip", "x-gzip", "deflate", "br", "zstd", "gzip, gzip"):
            out = post(ASSIGN_SLOTS, BOMB, f"content-encoding: {encoding}")
            replies, _ = exchange(trial.port, out, 2)
            if not replies or replies[0].status not in (415, 501):
                wrong.append(f"content-encoding {encoding}: {replies}")
        assert not wrong, "\n".join(wrong)

    trial.withstands(attack)


def test_messages_larger_than_allowed(trial: Trial) -> None:
    """Too large by a byte, and by a lot; by gRPC, as JSON, and as binary."""
    large = (256 << 10) + 1

    def attack() -> None:
        wrong = []
        with Peer(trial.port) as peer:
            for at, size in ((1, large), (3, 100 << 20)):
                out = begin(at, ASSIGN_SLOT) + frame(DATA, 0, at, struct.pack(">BI", 0, size))
                answer = peer.ask(at, out, 2)
                if answer.status not in TOO_LARGE:
                    wrong.append(f"gRPC, {size} bytes: {answer.status}")
            peer.say(body(5, b""))
        for size in (large, 8 << 20):
            for kind in ("application/json", "application/proto"):
                out = post(ASSIGN_SLOT, b" " * size).replace(b"application/json", kind.encode())
                replies, ended = exchange(trial.port, out, 2)
                statuses = [reply.status for reply in replies]
                if statuses not in ([413], [429]) and not (ended and not replies):
                    wrong.append(f"{kind}, {size} bytes: {replies}, ended {ended}")
        assert not wrong, "\n".join(wrong)

    trial.withstands(attack)
