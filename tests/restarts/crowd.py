"""Streams of every kind on many connections, and half-open connections."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from google.protobuf.duration_pb2 import Duration
from google.rpc import error_details_pb2, status_pb2
from offbeat.v1 import id_pb2
from offbeat.v1 import named_spread_pb2 as named
from offbeat.v1 import slots_pb2 as slots
from offbeat.v1 import spread_pb2 as spread
from sidecar import Sidecar, supported
from support import questions
from support.frames import (
    HEADERS,
    INITIAL_WINDOW_SIZE,
    PREFACE,
    Answer,
    Peer,
    Wire,
    begin,
    body,
    call,
    frame,
    head,
    prefixed,
    settings,
)
from support.http1 import post
from support.waiting import within

NAMED = "/offbeat.v1.NamedSpreadService/"
WATCH = "/grpc.health.v1.Health/Watch"
#: HealthCheckResponse with SERVING, and with NOT_SERVING.
SERVING, NOT_SERVING = prefixed(b"\x08\x01"), prefixed(b"\x08\x02")
UNAVAILABLE = "14"
#: After the status, RST_STREAM with NO_ERROR asks a caller to stop sending (RFC 9113, 8.1).
NO_FAULT = (None, 0)
SPREAD_NAME = "crowd"
ORDER = spread.SpreadOrder(feeder_count=4)
#: Timeouts so long that they do not end connections before the shutdown does.
PATIENT = supported("--first-byte-timeout=60", "--write-stall-timeout=600", "--keepalive=7200")

#: Streams that may continue until the end of the grace period, and those that end at once.
WORKING, WATCHING = ("slots", "half", "spread"), ("jobs", "watch")
KINDS = WORKING + WATCHING
CONNECTIONS, STREAMS = 10, 100
WINDOWLESS = UNREAD = 50
EACH_HALF_OPEN = 8


def open_spread() -> bytes:
    """OpenSpread."""
    spec = named.NamedSpreadSpec(order=ORDER, lease_duration=Duration(seconds=30))
    return named.OpenSpreadRequest(spread_name=SPREAD_NAME, spec=spec).SerializeToString()


def pull_jobs(wait: int) -> bytes:
    """PullJobs, which waits because there are no jobs."""
    request = named.PullJobsRequest(
        spread_name=SPREAD_NAME,
        consumer_id="puller",
        max_pulled_job_count=1,
        max_wait_duration=Duration(seconds=wait),
    )
    return request.SerializeToString()


def first_words(kind: str, stream: int, name: str) -> bytes:
    """The first bytes of a stream, which then stays open."""
    if kind == "watch":
        return begin(stream, WATCH) + body(stream, prefixed(b""))
    if kind == "jobs":
        credit = named.JobCredit(job_count=1)
        start = named.StreamJobsStart(spread_name=SPREAD_NAME, consumer_id=name, credit=credit)
        message = named.StreamJobsRequest(start=start).SerializeToString()
        return begin(stream, NAMED + "StreamJobs") + body(stream, prefixed(message), end=False)
    if kind == "spread":
        message = spread.SpreadRequest(spec=spread.SpreadSpec(order=ORDER)).SerializeToString()
        return begin(stream, questions.SPREAD) + body(stream, prefixed(message), end=False)
    ids = id_pb2.IdBatch(integers=range(100)) if kind == "answered" else None
    request = slots.StreamSlotAssignmentsRequest(schedule=questions.schedule(), ids=ids)
    message = prefixed(request.SerializeToString())
    content = message[: len(message) // 2] if kind == "half" else message
    return begin(stream, questions.STREAM_SLOTS) + body(stream, content, end=False)


def is_open(kind: str, answer: Answer) -> bool:
    """Whether the server has accepted a stream."""
    said = answer.size > 0 if kind in ("watch", "jobs", "spread") else True
    return said and answer.headers.get(":status") == "200" and not answer.ended


def retry_delay(answer: Answer) -> float | None:
    """The retry delay in the details of a status."""
    packed = answer.headers.get("grpc-status-details-bin", "")
    status = status_pb2.Status.FromString(base64.b64decode(packed + "=" * (-len(packed) % 4)))
    for detail in status.details:
        if detail.Is(error_details_pb2.RetryInfo.DESCRIPTOR):
            info = error_details_pb2.RetryInfo()
            detail.Unpack(info)
            return info.retry_delay.ToTimedelta().total_seconds()
    return None


class Streams:
    """A connection with open streams, whose peer reads and answers as it should."""

    def __init__(self, port: int, name: str) -> None:
        self.peer = Peer(port)
        self.kinds = {2 * place + 1: KINDS[place % len(KINDS)] for place in range(STREAMS)}
        out = [first_words(kind, stream, f"{name}-{stream}") for stream, kind in self.kinds.items()]
        self.peer.say(b"".join(out))
        #: When each stream ended.
        self.ends: dict[int, float] = {}

    def opened(self) -> bool:
        """Whether all streams are open."""
        answers = self.peer.answers
        ready = lambda: all(is_open(kind, self.peer.answer(s)) for s, kind in self.kinds.items())  # noqa: E731
        return self.peer.pump(10, done=lambda: len(answers) == STREAMS and ready())

    def watch(self, until: Callable[[], bool]) -> None:
        """Reads until the server ends the connection, and records when streams end."""
        while not self.peer.ended and not until():
            self.peer.pump(0.02)
            now = time.monotonic()
            for stream in self.kinds:
                if stream not in self.ends and self.peer.finished(stream):
                    self.ends[stream] = now

    def wrongs(self, told: float, grace: float) -> list[str]:
        """The violations on this connection."""
        wrong = []
        if self.peer.goaway != 0:
            wrong.append(f"GOAWAY: {self.peer.goaway}")
        for stream, kind in self.kinds.items():
            answer = self.peer.answer(stream)
            after = self.ends.get(stream, float("inf")) - told
            if answer.status != UNAVAILABLE or not answer.ended or answer.reset not in NO_FAULT:
                wrong.append(f"{kind}: status {answer.status}, reset {answer.reset}")
            elif retry_delay(answer) != 1:
                wrong.append(f"{kind}: retry delay {retry_delay(answer)}")
            elif kind in WORKING and after < grace:
                wrong.append(f"{kind}: ended after {after:.2f} s, and might have gone on")
            elif kind in WATCHING and after > grace:
                wrong.append(f"{kind}: ended after {after:.2f} s, and had no reason to wait")
            elif kind == "watch" and answer.data != SERVING + NOT_SERVING:
                wrong.append(f"watch: {answer.data!r}")
        return wrong


def half_open() -> list[bytes]:
    """The bytes that half-open connections send."""
    request = post("/offbeat.v1.SlotService/AssignSlot", b"x" * 100)
    broken = frame(HEADERS, 0, 1, head(questions.ASSIGN_SLOT)[:20])  # CONTINUATION is to follow
    half = body(1, prefixed(b"x" * 100)[:30], end=False)
    return [
        b"",
        PREFACE[:9],
        PREFACE + settings()[:5],
        PREFACE + settings() + broken,
        PREFACE + settings() + begin(1, questions.ASSIGN_SLOT) + half,
        PREFACE + settings(),
        b"POST /offb",
        request[:60],
        request[:-50],
    ]


class Crowd:
    """All connections at the moment of the shutdown."""

    def __init__(self, server: Sidecar) -> None:
        self.server, port = server, server.port
        with Peer(port) as opener:
            opened = opener.ask(1, call(1, NAMED + "OpenSpread", open_spread()))
            assert opened.status == "0", opened
        self.streams = [Streams(port, f"c{place}") for place in range(CONNECTIONS)]
        with ThreadPoolExecutor(CONNECTIONS) as pool:
            assert all(pool.map(Streams.opened, self.streams)), "streams do not open"
        self.others = [self._windowless(port), self._unread(port)]
        for said in half_open():
            self.others += [self._wire(port, said) for _ in range(EACH_HALF_OPEN)]
        for _ in range(EACH_HALF_OPEN):
            self.others += [self._idle1(port), self._idle2(port)]

    def _windowless(self, port: int) -> Wire:
        """Its window is zero, so that answers must wait."""
        peer = Peer(port, {INITIAL_WINDOW_SIZE: 0})
        for place in range(WINDOWLESS):
            kind = ("watch", "answered", "spread")[place % 3]
            peer.say(first_words(kind, 2 * place + 1, ""), reading=False)
        peer.pump(0.05)
        return peer

    def _unread(self, port: int) -> Wire:
        """Its peer reads and acknowledges nothing."""
        peer = Peer(port)
        for place in range(UNREAD):
            peer.say(first_words(KINDS[place % 3], 2 * place + 1, ""), reading=False)
        return peer

    def _wire(self, port: int, said: bytes) -> Wire:
        wire = Wire(port)
        assert wire.say(said, reading=False)
        return wire

    def _idle1(self, port: int) -> Wire:
        wire = Wire(port)
        out = post("/grpc.health.v1.Health/Check", b"{}")
        assert wire.pump(5, out, done=lambda: len(wire.answers1()) == 1)
        assert wire.ended is None
        return wire

    def _idle2(self, port: int) -> Wire:
        peer = Peer(port)
        assert peer.ask(1, call(1, questions.ASSIGN_SLOT, questions.one_slot())).status == "0"
        return peer

    @property
    def stream_count(self) -> int:
        """The number of streams."""
        return CONNECTIONS * STREAMS + WINDOWLESS + UNREAD

    def is_known(self) -> bool:
        """Whether the server has accepted all connections and streams."""
        count = CONNECTIONS + len(self.others)
        known = within(9, lambda: self.server.gauge("requests_in_flight") >= self.stream_count)
        return known and within(9, lambda: self.server.gauge("connections") == count)

    def watch(self) -> None:
        """Reads on the well-behaved connections until the server has ended."""
        until = time.monotonic() + 30
        over = lambda: time.monotonic() > until  # noqa: E731
        with ThreadPoolExecutor(CONNECTIONS) as pool:
            list(pool.map(lambda streams: streams.watch(over), self.streams))

    def close(self) -> None:
        for wire in [*self.others, *(streams.peer for streams in self.streams)]:
            wire.close()
