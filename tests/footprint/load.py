"""A mixed load of everything that callers do, right or wrong, in a few threads."""

from __future__ import annotations

import contextlib
import http.client
import itertools
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator

import offbeat
from offbeat.v1 import id_pb2
from offbeat.v1 import slots_pb2 as slots
from offbeat.v1beta1 import simulation_pb2 as simulation
from sidecar import Sidecar
from support.frames import CANCEL, Peer, begin, body, call, prefixed, reset
from support.questions import (
    ASSIGN_SLOT,
    ASSIGN_SLOTS,
    LIST_SLOTS,
    SIMULATE,
    STREAM_SLOTS,
    listed_slots,
    many_slots,
    one_slot,
    schedule,
)

SCENARIO = """
name = "Short"
duration = "1d"
workers = 4
[users]
count = 2000
cycle = "8h"
[[kinds]]
name = "sync"
run_time = "30s"
[[strategies]]
kind = "slots"
"""
JSON = {"content-type": "application/json"}
#: Seconds between two rounds of a kind, which leave the machine usable for others.
PAUSE = 0.02
#: The most seconds of a call. It is long, because the test is about growth, not latency.
LONGEST = 30


def first_message(*ids: int) -> bytes:
    """The first message of a stream of assignments."""
    column = id_pb2.IdBatch(integers=ids)
    request = slots.StreamSlotAssignmentsRequest(schedule=schedule(), ids=column)
    return prefixed(request.SerializeToString())


def single_calls(sidecar: Sidecar, _: int) -> None:
    """Unary gRPC calls on a connection of their own."""
    with Peer(sidecar.port) as peer:
        for stream in range(1, 101, 2):
            assert peer.ask(stream, call(stream, ASSIGN_SLOT, one_slot()), LONGEST).status == "0"


def large_calls(sidecar: Sidecar, number: int) -> None:
    """Batches and lists, and a peer that disconnects in the middle of one."""
    with Peer(sidecar.port, keep=False) as peer:
        for stream, path, asked in [
            (1, ASSIGN_SLOTS, many_slots(4_096, twisted=True)),
            (3, LIST_SLOTS, listed_slots()),
        ]:
            assert peer.ask(stream, call(stream, path, asked), LONGEST).status == "0", path
        if number % 2:
            peer.say(call(5, ASSIGN_SLOTS, many_slots(4_096)))
            peer.abort()


def plain_calls(sidecar: Sidecar, _: int) -> None:
    """Valid and invalid calls by JSON over HTTP/1.1."""
    connection = http.client.HTTPConnection(sidecar.address, timeout=LONGEST)
    right = {"schedule": {"spec": {"period": "28800s"}}, "id": {"text": "acme"}}
    for path, asked, status in [
        (ASSIGN_SLOT, json.dumps(right), 200),
        (ASSIGN_SLOT, json.dumps({**right, "ID": 7}), 400),
        (ASSIGN_SLOT, "[" * 1_000, 400),
        ("/nothing/there", "{}", 404),
    ]:
        connection.request("POST", path, asked, JSON)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == status, (path, answer.status)
    connection.close()


def streams(sidecar: Sidecar, _: int) -> None:
    """Streams of assignments: some end, some are cancelled, some are abandoned."""
    with Peer(sidecar.port, keep=False) as peer:
        numbers = range(1, 61, 2)
        said = [begin(at, STREAM_SLOTS) + body(at, first_message(7), end=False) for at in numbers]
        peer.say(b"".join(said))
        for stream in numbers[:10]:
            assert peer.ask(stream, body(stream, b""), LONGEST).status == "0", peer.answer(stream)
        peer.say(b"".join(reset(stream, CANCEL) for stream in numbers[10:20]))


def named_spreads(sidecar: Sidecar, number: int) -> None:
    """Named spreads are opened, filled, emptied and dropped; one job in ten is dead-lettered."""
    with offbeat.Client(sidecar.address) as client:
        spread = client.named_spread(f"soak-{number % 8}", feeder_count=4, max_attempt_count=1)
        producer = spread.producer()
        for group in range(5):
            producer.submit(f"{number}-{group}", [b"x" * 200] * 40)
        for place, job in enumerate(spread.pull("one", 100).jobs):
            action = offbeat.SettleAction.ACK if place % 10 else offbeat.SettleAction.NACK
            spread.settle([(job, action)])
        assert len(list(spread.dead_letters())) == 10
        spread.discard()


def spreads(sidecar: Sidecar, _: int) -> None:
    """Spreads over one stream."""
    with offbeat.Client(sidecar.address) as client:
        turns = client.spread([range(50)] * 20, feeder_count=4)
        assert len(list(turns)) == 1_000
        next(client.spread([range(50)] * 20, feeder_count=4))  # and abandoned


def simulations(sidecar: Sidecar, _: int) -> None:
    """A scenario of 6,000 jobs."""
    asked = simulation.SimulateRequest(scenario=SCENARIO).SerializeToString()
    with Peer(sidecar.port, keep=False) as peer:
        assert peer.ask(1, call(1, SIMULATE, asked), LONGEST).status == "0"
    time.sleep(0.5)


def strangers(sidecar: Sidecar, _: int) -> None:
    """Peers that send nothing, nonsense, or half of a preface."""
    for said in (b"", b"GET / HTTP/9\r\n\r\n", b"\x16\x03\x01\x02", b"PRI * HTTP/2.0\r\n\r\nSM"):
        with (
            contextlib.suppress(OSError),
            socket.create_connection(("127.0.0.1", sidecar.port), timeout=5) as stranger,
        ):
            stranger.sendall(said)
    time.sleep(0.1)


def probes(sidecar: Sidecar, _: int) -> None:
    """Probes and scrapes, as by Kubernetes and Prometheus."""
    sidecar.probe()
    time.sleep(0.5)


KINDS = (
    single_calls,
    large_calls,
    plain_calls,
    streams,
    named_spreads,
    spreads,
    simulations,
    strangers,
    probes,
)
Kind = Callable[[Sidecar, int], None]


class Load:
    """All kinds of load at the same time, each in rounds, until it is stopped."""

    def __init__(self, sidecar: Sidecar) -> None:
        self.sidecar, self.stopping = sidecar, threading.Event()
        self.turns = {kind.__name__: 0 for kind in KINDS}
        self.failures: list[str] = []
        self.threads = [threading.Thread(target=self._repeat, args=(kind,)) for kind in KINDS]
        for thread in self.threads:
            thread.start()

    def _repeat(self, kind: Kind) -> None:
        for number in itertools.takewhile(lambda _: not self.stopping.wait(PAUSE), _numbers()):
            try:
                kind(self.sidecar, number)
            except Exception as error:
                self.failures.append(f"{kind.__name__}: {error!r}")
            self.turns[kind.__name__] += 1

    def stop(self) -> None:
        """Stops each kind after its current round."""
        self.stopping.set()
        for thread in self.threads:
            thread.join(60)


def _numbers() -> Iterator[int]:
    return itertools.count()
