"""How little a sidecar takes: memory, time to its first answer, and no more of either with age.

A MB is 1,000,000 bytes, and resident memory includes the pages of the program. The figures stand
at the end of the output. ``OFFBEAT_SOAK_SECONDS`` is how long the mixed load lasts: 20 by default,
60 in CI, 3600 for all of it.
"""

from __future__ import annotations

import http.client
import os
import socket
import statistics
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import offbeat
import pytest
from frames import Peer, begin, body, call, prefixed
from load import JSON, Load, first_message
from offbeat.v1 import simulation_pb2 as simulation
from questions import (
    ASSIGN_SLOT,
    ASSIGN_SLOTS,
    SIMULATE,
    STREAM_SLOTS,
    many_slots,
    one_slot,
    slot_offsets,
)
from sidecar import BINARY, ENVIRONMENT, MB, STATIC, Sidecar, free_port, note, within

#: What is built by `cargo build --release`.
PROGRAM_MB = 8
IDLE_MB = 6
PROBED_MB = 7
FIRST_ANSWER_MS = 50
STARTS = 20
STREAMS_MB = 100
#: Pages that a batch may have from the kernel. One of 20,000 UUIDs took 126 where nothing was kept.
BATCH_FAULTS = 5
#: Connections, and streams on each of them.
CONNECTIONS, STREAMS = 100, 100
#: Three quarters of the places may stream.
ROOM = ("--max-requests", "16384")
PROTO = {"content-type": "application/proto"}
BY_JSON = b'{"schedule": {"spec": {"period": "28800s"}}, "id": {"text": "acme"}}'

SOAK_SECONDS = float(os.environ.get("OFFBEAT_SOAK_SECONDS", "20"))
#: So much more memory at the end than in the second quarter is noise of the allocator, which keeps
#: 2 MiB of each heap: those of the loop and of two threads that decide batches, as they come.
GROWTH_MB = 4
SAMPLE_SECONDS = 0.1


@pytest.fixture
def sidecar() -> Iterator[Sidecar]:
    with Sidecar() as started:
        yield started


def asked_by_json(port: int) -> bool:
    """Whether a call by JSON is answered."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("POST", ASSIGN_SLOT, BY_JSON, JSON)
        return connection.getresponse().status == 200
    finally:
        connection.close()


def asked_by_grpc(port: int) -> bool:
    """Whether a call by gRPC is answered."""
    with Peer(port) as peer:
        return peer.ask(1, call(1, ASSIGN_SLOT, one_slot())).status == "0"


def check_idle_in_a_pod(binary: Path) -> None:
    """Asked by the kubelet and by Prometheus, and by nobody else."""
    form = "static" if binary == STATIC else "dynamic"
    with Sidecar(binary=binary) as sidecar:
        time.sleep(2)
        idle = sidecar.memory()
        note(f"idle, never asked, {form}", idle, "MB", IDLE_MB)
        for _ in range(10):
            sidecar.probe()
        probed, own = sidecar.memory(), sidecar.status("RssAnon") / MB
        note(f"idle, probed and scraped, {form}", probed, "MB", PROBED_MB)
        note("... of it not pages of the program and its libraries", own, "MB")
        assert asked_by_grpc(sidecar.port)
        note("... after a call by gRPC", sidecar.memory(), "MB")
        assert asked_by_json(sidecar.port)
        note("... after a call by JSON, too", sidecar.memory(), "MB")
    assert idle <= IDLE_MB
    assert probed <= PROBED_MB


def test_size_of_the_program() -> None:
    """As it is loaded from a disk, or sent to a node."""
    size = BINARY.stat().st_size / MB
    note("the dynamic binary", size, "MB", PROGRAM_MB)
    assert size <= PROGRAM_MB


def test_idle_memory_in_a_pod() -> None:
    """In a pod runs the static binary."""
    assert STATIC.exists(), f"there is no {STATIC}: run deploy/image/prepare.sh"
    check_idle_in_a_pod(STATIC)


def test_idle_memory_when_probed_elsewhere() -> None:
    """The dynamic binary has the pages of libraries, too, which others on the machine share."""
    check_idle_in_a_pod(BINARY)


@pytest.mark.parametrize("asked", [asked_by_grpc, asked_by_json])
def test_time_to_the_first_answer(asked: Callable[[int], bool]) -> None:
    """From before the process exists to the end of the first answer."""
    times = []
    for _ in range(STARTS):
        port = free_port()
        address, started = f"127.0.0.1:{port}", time.monotonic()
        process = subprocess.Popen(
            [BINARY, "serve", "--listen", address, "--admin-listen", "off"],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=ENVIRONMENT,
        )
        try:
            assert within(5, lambda port=port: listens(port))
            assert asked(port)
            times.append((time.monotonic() - started) * 1_000)
        finally:
            process.terminate()
            process.wait(timeout=15)
    median = statistics.median(times)
    form = asked.__name__.replace("asked_", "")
    note(f"start to first answer {form}, median of {STARTS}", median, "ms", FIRST_ANSWER_MS)
    note("... the slowest of them", max(times), "ms")
    assert median < FIRST_ANSWER_MS


def listens(port: int) -> bool:
    """Whether connections are accepted."""
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.parametrize("binary", [BINARY, STATIC], ids=["dynamic", "static"])
def test_what_batches_take_is_kept(binary: Path) -> None:
    """Memory that has been taken once is not given back after each call, to be had anew. (By HTTP,
    as from Ruby and PHP: the buffers of gRPC are larger, and teach the allocator by themselves.)"""
    asked, calls = slot_offsets(20_000), 100
    with Sidecar(binary=binary) as sidecar:
        connection = http.client.HTTPConnection("127.0.0.1", sidecar.port, timeout=5)

        def ask() -> None:
            connection.request("POST", ASSIGN_SLOTS, asked, PROTO)
            answer = connection.getresponse()
            assert answer.status == 200
            assert len(answer.read()) > 160_000

        for _ in range(20):
            ask()
        before = sidecar.faults()
        for _ in range(calls):
            ask()
        faults = (sidecar.faults() - before) / calls
        connection.close()
        form = "static" if binary == STATIC else "dynamic"
        note(f"pages had anew by a batch of 20,000 UUIDs, {form}", faults, "", BATCH_FAULTS)
        note("... memory then", sidecar.memory(), "MB")
    assert faults <= BATCH_FAULTS


def opened(sidecar: Sidecar, count: int, out: Callable[[int], bytes]) -> list[Peer]:
    """Connections with streams on which ``out`` was said, and of which each was answered."""
    peers = []
    for _ in range(count):
        peer = Peer(sidecar.port)
        numbers = range(1, 2 * STREAMS, 2)
        peer.say(b"".join(map(out, numbers)))
        answers = [peer.answer(stream) for stream in numbers]
        assert peer.pump(10, done=lambda answers=answers: all(a.headers for a in answers))
        assert all(answer.status == "200" for answer in answers), answers[0]
        peers.append(peer)
    return peers


STREAM_STATES = {
    "begun": lambda stream: begin(stream, STREAM_SLOTS),
    "once used": lambda stream: (
        begin(stream, STREAM_SLOTS) + body(stream, first_message(7), end=False)
    ),
}


@pytest.mark.parametrize("state", STREAM_STATES)
def test_ten_thousand_idle_streams(state: str) -> None:
    with Sidecar(*ROOM) as sidecar:
        tenth = CONNECTIONS // 10
        peers = opened(sidecar, tenth, STREAM_STATES[state])
        note(f"1,000 idle streams, {state}", sidecar.memory(), "MB")
        peers += opened(sidecar, CONNECTIONS - tenth, STREAM_STATES[state])
        taken = sidecar.memory()
        note(f"10,000 idle streams, {state}", taken, "MB", STREAMS_MB)
        held = sidecar.look("/metrics")
        for peer in peers:
            peer.close()
        assert "\noffbeat_requests_in_flight 10000\n" in held
        assert within(10, lambda: "\noffbeat_connections 0\n" in sidecar.look("/metrics"))
        note("... and when all have gone", sidecar.memory(), "MB")
    assert taken < STREAMS_MB


def test_a_thousand_idle_connections(sidecar: Sidecar) -> None:
    before = sidecar.memory()
    peers = [Peer(sidecar.port) for _ in range(1_000)]
    for peer in peers:
        assert peer.ask(1, call(1, ASSIGN_SLOT, one_slot())).status == "0"
    each = (sidecar.memory() - before) * 1_000 / len(peers)
    note("an idle connection, once used, of 1,000", each, "kB")
    for peer in peers:
        peer.close()
    assert each < 30


@pytest.mark.parametrize("under_way", [8 << 20, 32 << 20])
def test_large_messages_all_at_once(under_way: int) -> None:
    """Full batches on many connections; what does not fit is refused, and asked again."""
    with Sidecar("--max-bytes-under-way", str(under_way)) as sidecar:
        asked, before = many_slots(), sidecar.memory()
        answered = []

        def ask() -> None:
            for _ in range(10):
                with Peer(sidecar.port, keep=False) as peer:
                    peer.say(begin(1, ASSIGN_SLOTS))
                    peer.upload(1, prefixed(asked))
                    peer.pump(20, done=lambda: peer.finished(1))
                    answered.append(peer.answer(1).status)

        threads = [threading.Thread(target=ask) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert set(answered) <= {"0", "8"}, set(answered)
        assert "0" in answered
        most = sidecar.status("VmHWM") / MB - before
        note(f"{under_way >> 20} MiB of messages under way, more than idle", most, "MB")
    # Threads that decide batches have heaps of their own; 2 MiB of each heap are kept.
    assert most <= 1.5 * under_way / MB + 16


def test_jobs_of_a_named_spread(sidecar: Sidecar) -> None:
    """A million jobs of 20 bytes: what they count against the limits, and what they take."""
    before = sidecar.memory()
    with offbeat.Client(sidecar.address) as client:
        limits = {"max_jobs": 1_000_000, "max_bytes": 64 << 20}
        producer = client.named_spread("many", feeder_count=8, **limits).producer()
        for group in range(250):
            producer.submit(f"group-{group}", [b"a job of twenty bytes"[:20]] * 4_000)
    counted = next(
        float(line.split()[1]) / MB
        for line in sidecar.look("/metrics").splitlines()
        if line.startswith("offbeat_spread_bytes ")
    )
    taken = sidecar.memory() - before
    note("1,000,000 jobs of 20 bytes, as they are counted", counted, "MB")
    note("... as they are resident", taken, "MB")
    assert taken <= 4 * counted


def scenario(days: float, users: int, workers: int, run_time: int, *strategies: str) -> str:
    """A cycle of 8 hours."""
    chosen = "".join(f'[[strategies]]\nkind = "{kind}"\n' for kind in strategies)
    return (
        f'name = "large"\nduration = "{round(days * 86_400)}s"\nworkers = {workers}\n'
        f'[users]\ncount = {users}\ncycle = "8h"\n'
        f'[[kinds]]\nname = "sync"\nrun_time = "{run_time}s"\n{chosen}'
    )


#: What --max-simulation-bytes allows, and what the call itself takes, buffers and all.
SIMULATION_MB = (64 << 20) / MB + 4
THIRD = 1 / 3
SHAPES = {
    "many cycles": scenario(46, 11_000, 12, 3, "slots"),
    "jobs that nobody does": scenario(46, 11_000, 1, 5_000, "at_once"),
    "many users": scenario(THIRD, 510_000, 1_000, 3, "slots"),
    "many users, all of whom wait": scenario(THIRD, 510_000, 1, 3, "at_once"),
    "many users who plan themselves": scenario(THIRD, 510_000, 1_000, 3, "self_rescheduling"),
    "many users at random": scenario(THIRD, 510_000, 1_000, 3, "random_smear"),
    "three strategies": scenario(15, 22_000, 40, 3, "slots", "at_once", "random_smear"),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_largest_simulations(shape: str) -> None:
    """Of those that a call may ask for at the limits as they are: the memory that it is refused
    by is estimated, and no shape of a scenario may take more."""
    with Sidecar() as sidecar:
        asked = simulation.SimulateRequest(scenario=SHAPES[shape]).SerializeToString()
        before = sidecar.memory()
        with Peer(sidecar.port, keep=False) as peer:
            said = [("grpc-timeout", "120S")]
            answer = peer.ask(1, call(1, SIMULATE, asked, *said), 120)
            assert answer.status == "0", answer
        most = sidecar.status("VmHWM") / MB - before
        note(f"a simulation of {shape}, more than idle", most, "MB", SIMULATION_MB)
        assert most <= SIMULATION_MB
        assert most >= SIMULATION_MB / 8, "its shape is not at the limits"


def test_no_growth_under_a_mixed_load(sidecar: Sidecar) -> None:
    idle_files = sidecar.files()
    load, started = Load(sidecar), time.monotonic()
    samples = []
    try:
        while (age := time.monotonic() - started) < SOAK_SECONDS:
            samples.append((age, sidecar.memory(), sidecar.files()))
            time.sleep(SAMPLE_SECONDS)
    finally:
        load.stop()

    def quarter(number: int, column: int) -> list[float]:
        begins, ends = ((number - part) * SOAK_SECONDS / 4 for part in (1, 0))
        return [sample[column] for sample in samples if begins <= sample[0] < ends]

    memory = [statistics.median(quarter(number, 1)) for number in (1, 2, 3, 4)]
    files = [max(quarter(number, 2)) for number in (1, 2, 3, 4)]
    grown = memory[3] - memory[1]
    note(f"{SOAK_SECONDS:.0f} s of mixed load, turns", sum(load.turns.values()), "")
    for number, (bytes_, count) in enumerate(zip(memory, files), start=1):
        note(f"... quarter {number}: median memory", bytes_, "MB")
        note(f"... quarter {number}: most files", count, "")
    note("... growth from the second quarter to the last", grown, "MB", GROWTH_MB)
    assert not load.failures, load.failures[:5]
    assert min(load.turns.values()) >= 5, load.turns
    assert grown <= GROWTH_MB
    assert within(10, lambda: sidecar.files() <= idle_files), (sidecar.files(), idle_files)
    held = sidecar.look("/metrics")
    for gauge in ("requests_in_flight", "connections", "message_bytes_in_flight", "spreads"):
        assert f"\noffbeat_{gauge} 0\n" in held, gauge
