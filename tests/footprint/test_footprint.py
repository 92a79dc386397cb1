"""The resources of a sidecar, compared with budgets, and that they do not grow over time.

The budgets stand in ``docs/decisions/0021-budgets.md``. A MB is 1,000,000 bytes, and resident
memory includes the pages of the program. The figures stand at the end of the output.
``OFFBEAT_SOAK_SECONDS`` is how long the mixed load lasts: 20 by default, 60 in CI.
"""

from __future__ import annotations

import http.client
import os
import re
import socket
import statistics
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import offbeat
import pytest
from load import JSON, Load, first_message
from offbeat.v1beta1 import simulation_pb2 as simulation
from sidecar import MB, STATIC, Sidecar, note
from support.frames import Peer, begin, body, call, prefixed
from support.ports import free_port
from support.questions import (
    ASSIGN_SLOT,
    ASSIGN_SLOTS,
    SIMULATE,
    STREAM_SLOTS,
    many_slots,
    one_slot,
)
from support.server import BINARY, ENVIRONMENT
from support.waiting import within

IMAGE_MB = IDLE_MB = 20
FIRST_ANSWER_MS = 100
#: Starts to measure. The quickest one counts, because others are slowed by other processes.
STARTS = 20
#: Allowed growth over idle memory, for a load within the limits.
GROWTH_MB = 64
#: Allowed growth from the second to the last quarter of a mixed load: more is a leak.
LEAK_MB = 16
IDLE_CONNECTIONS = 1_000
#: Connections, and streams on each of them.
CONNECTIONS, STREAMS = 20, 100
#: Three quarters of the places may stream.
ROOM = ("--max-requests", "4096")
BY_JSON = b'{"schedule": {"spec": {"period": "28800s"}}, "id": {"text": "acme"}}'

SOAK_SECONDS = float(os.environ.get("OFFBEAT_SOAK_SECONDS", "20"))
SAMPLE_SECONDS = 0.1
FORMS = pytest.mark.parametrize("binary", [BINARY, STATIC], ids=["dynamic", "static"])


@pytest.fixture
def sidecar() -> Iterator[Sidecar]:
    with Sidecar() as started:
        yield started


def is_zero(metrics: str, gauge: str) -> bool:
    """Whether all series of a gauge are 0, and there is one."""
    series = re.findall(rf"^offbeat_{gauge}(?:\{{.*\}})? (\S+)$", metrics, re.MULTILINE)
    return bool(series) and set(series) == {"0"}


def form_of(binary: Path) -> str:
    return "static" if binary == STATIC else "dynamic"


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


@FORMS
def test_size_of_the_binary(binary: Path) -> None:
    """The image consists of the static binary and 0.1 MB of licences."""
    assert binary.exists(), f"there is no {binary}: run deploy/image/prepare.sh"
    size = binary.stat().st_size / MB
    note(f"the binary, {form_of(binary)}", size, "MB", IMAGE_MB)
    assert size <= IMAGE_MB


@FORMS
def test_idle_memory(binary: Path) -> None:
    """Idle, except for probes and scrapes."""
    assert binary.exists(), f"there is no {binary}: run deploy/image/prepare.sh"
    with Sidecar(binary=binary) as sidecar:
        for _ in range(10):
            sidecar.probe()
        idle = sidecar.megabytes()
        note(f"idle, probed and scraped, {form_of(binary)}", idle, "MB", IDLE_MB)
        note("... of it not pages of the program", sidecar.status("RssAnon") / MB, "MB")
        assert asked_by_grpc(sidecar.port)
        assert asked_by_json(sidecar.port)
        note("... after a call by gRPC and one by JSON", sidecar.megabytes(), "MB")
    assert idle <= IDLE_MB


@pytest.mark.parametrize("asked", [asked_by_grpc, asked_by_json])
def test_time_to_the_first_answer(asked: Callable[[int], bool]) -> None:
    """From before the start of the process to the end of the first answer."""
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
            assert within(10, lambda port=port: listens(port)), "it does not listen"
            assert asked(port)
            times.append((time.monotonic() - started) * 1_000)
        finally:
            process.kill()
            process.wait(timeout=15)
    form = asked.__name__.replace("asked_", "")
    note(f"start to first answer {form}, best of {STARTS}", min(times), "ms", FIRST_ANSWER_MS)
    note("... median", statistics.median(times), "ms")
    assert min(times) <= FIRST_ANSWER_MS


def listens(port: int) -> bool:
    """Whether connections are accepted."""
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def opened(sidecar: Sidecar, out: Callable[[int], bytes]) -> list[Peer]:
    """Connections with streams that have sent ``out`` and received an answer."""
    peers, numbers = [], range(1, 2 * STREAMS, 2)
    for _ in range(CONNECTIONS):
        peer = Peer(sidecar.port)
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
def test_thousands_of_idle_streams(state: str) -> None:
    """Each stream holds a place until it ends; closed connections free all places."""
    count = CONNECTIONS * STREAMS
    with Sidecar(*ROOM) as sidecar:
        before = sidecar.megabytes()
        peers = opened(sidecar, STREAM_STATES[state])
        grown = sidecar.megabytes() - before
        note(f"{count:,} idle streams, {state}, more than idle", grown, "MB", GROWTH_MB)
        held = sidecar.look("/metrics")
        for peer in peers:
            peer.close()
        assert f"\noffbeat_requests_in_flight {count}\n" in held
        for gauge in ("connections", "requests_in_flight"):
            free = lambda gauge=gauge: is_zero(sidecar.look("/metrics"), gauge)  # noqa: E731
            assert within(10, free), gauge
    assert grown <= GROWTH_MB


def test_a_thousand_idle_connections(sidecar: Sidecar) -> None:
    before = sidecar.megabytes()
    peers = [Peer(sidecar.port) for _ in range(IDLE_CONNECTIONS)]
    for peer in peers:
        assert peer.ask(1, call(1, ASSIGN_SLOT, one_slot())).status == "0"
    grown = sidecar.megabytes() - before
    note(f"{IDLE_CONNECTIONS:,} idle connections, more than idle", grown, "MB", GROWTH_MB)
    for peer in peers:
        assert peer.ask(3, call(3, ASSIGN_SLOT, one_slot())).status == "0"
        peer.close()
    assert grown <= GROWTH_MB


@pytest.mark.parametrize("allowed", [8 << 20, 32 << 20])
def test_large_messages_all_at_once(allowed: int) -> None:
    """Full batches on many connections: some are refused, so that memory is bounded."""
    with Sidecar("--max-bytes-in-flight", str(allowed)) as sidecar:
        asked, before = many_slots(), sidecar.megabytes()
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
        most, bound = sidecar.status("VmHWM") / MB - before, GROWTH_MB + allowed / MB
        note(f"{allowed >> 20} MiB of messages at once, more than idle", most, "MB", bound)
    assert most <= bound


def test_jobs_of_a_named_spread(sidecar: Sidecar) -> None:
    """A million jobs of 20 bytes: the bytes counted against limits are close to the real ones."""
    before = sidecar.megabytes()
    with offbeat.Client(sidecar.address) as client:
        limits = {"max_job_count": 1_000_000, "max_byte_count": 64 << 20}
        producer = client.named_spread("many", feeder_count=8, **limits).producer()
        for group in range(250):
            producer.submit(f"group-{group}", [b"a job of twenty bytes"[:20]] * 4_000)
    counted = sum(
        float(line.split()[1]) / MB
        for line in sidecar.look("/metrics").splitlines()
        if line.startswith("offbeat_spread_bytes{")
    )
    taken = sidecar.megabytes() - before
    note("1,000,000 jobs of 20 bytes, as they are counted", counted, "MB")
    note("... as they are resident", taken, "MB", 4 * counted)
    assert taken <= 4 * counted


def scenario(days: float, users: int, workers: int, run_time: int, *strategies: str) -> str:
    """A cycle of 8 hours."""
    chosen = "".join(f'[[strategies]]\nkind = "{kind}"\n' for kind in strategies)
    return (
        f'name = "large"\nduration = "{round(days * 86_400)}s"\nworkers = {workers}\n'
        f'[users]\ncount = {users}\ncycle = "8h"\n'
        f'[[kinds]]\nname = "sync"\nrun_time = "{run_time}s"\n{chosen}'
    )


#: What --max-simulation-bytes allows, and the call itself.
SIMULATION_MB = (64 << 20) / MB + 16
THIRD = 1 / 3
SHAPES = {
    "many cycles": scenario(46, 9_200, 12, 3, "slots"),
    "jobs that nobody does": scenario(46, 9_200, 1, 5_000, "at_once"),
    "many users": scenario(THIRD, 409_000, 1_000, 3, "slots"),
    "many users who all wait": scenario(THIRD, 409_000, 1, 3, "at_once"),
    "many users who plan themselves": scenario(THIRD, 409_000, 1_000, 3, "self_rescheduling"),
    "many users at random": scenario(THIRD, 409_000, 1_000, 3, "random_smear"),
    "three strategies": scenario(15, 21_100, 40, 3, "slots", "at_once", "random_smear"),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_largest_simulations(shape: str) -> None:
    """The largest that a call may request. The default limits apply to an estimate of memory, and
    no shape of a scenario takes more."""
    with Sidecar() as sidecar:
        asked = simulation.SimulateRequest(scenario=SHAPES[shape]).SerializeToString()
        before = sidecar.megabytes()
        with Peer(sidecar.port, keep=False) as peer:
            said = [("grpc-timeout", "120S")]
            answer = peer.ask(1, call(1, SIMULATE, asked, *said), 120)
            assert answer.status == "0", answer
        most = sidecar.status("VmHWM") / MB - before
        note(f"a simulation of {shape}, more than idle", most, "MB", SIMULATION_MB)
        assert most <= SIMULATION_MB


def test_no_growth_under_a_mixed_load(sidecar: Sidecar) -> None:
    idle_files, idle = sidecar.files(), sidecar.megabytes()
    load, started = Load(sidecar), time.monotonic()
    samples = []
    try:
        while (age := time.monotonic() - started) < SOAK_SECONDS:
            samples.append((age, sidecar.megabytes(), sidecar.files()))
            time.sleep(SAMPLE_SECONDS)
    finally:
        load.stop()

    def quarter(number: int, column: int) -> list[float]:
        begins, ends = ((number - part) * SOAK_SECONDS / 4 for part in (1, 0))
        return [sample[column] for sample in samples if begins <= sample[0] < ends]

    memory = [statistics.median(quarter(number, 1)) for number in (1, 2, 3, 4)]
    files = [max(quarter(number, 2)) for number in (1, 2, 3, 4)]
    grown, leaked = memory[3] - idle, memory[3] - memory[1]
    note(f"{SOAK_SECONDS:.0f} s of mixed load, turns", sum(load.turns.values()), "")
    for number, (bytes_, count) in enumerate(zip(memory, files), start=1):
        note(f"... quarter {number}: median memory", bytes_, "MB")
        note(f"... quarter {number}: most files", count, "")
    note("... last quarter, more than idle", grown, "MB", GROWTH_MB)
    note("... last quarter, more than the second", leaked, "MB", LEAK_MB)
    assert not load.failures, load.failures[:5]
    assert min(load.turns.values()) >= 5, load.turns
    assert grown <= GROWTH_MB
    assert leaked <= LEAK_MB
    assert within(10, lambda: sidecar.files() <= idle_files), (sidecar.files(), idle_files)
    held = sidecar.look("/metrics")
    for gauge in ("requests_in_flight", "connections", "message_bytes_in_flight", "spreads"):
        assert is_zero(held, gauge), gauge
