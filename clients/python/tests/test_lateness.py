"""How late runs start: in prometheus_client, and in the sidecar's own metrics."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import subprocess
import sys
import textwrap
import time
import urllib.request
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest
from conftest import Sidecar, free_port

import offbeat
from offbeat import LatenessRecorder, Schedule, ScheduleReference, lateness

NOON = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
SECOND = timedelta(seconds=1)
METRIC = "offbeat_run_lateness_seconds"


class Metered:
    """A sidecar whose metrics can be read."""

    def __init__(self, port: int | None = None) -> None:
        self.admin = free_port()
        self.sidecar = Sidecar(f"127.0.0.1:{port or free_port()}", admin=f"127.0.0.1:{self.admin}")
        self.address = self.sidecar.address

    def value(self, what: str, schedule: str, kind: str = "default") -> float:
        """Read the count or sum of a series."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.admin}/metrics", timeout=5) as answer:
            text = answer.read().decode()
        series = f'{METRIC}_{what}{{schedule="{schedule}",kind="{kind}"}}'
        found = re.search(re.escape(series) + r" (\S+)$", text, re.MULTILINE)
        return float(found.group(1)) if found else 0

    def soon(self, count: float, schedule: str) -> float:
        """Wait until a series has this many values, and return how many it has."""
        deadline = time.monotonic() + 5
        while self.value("count", schedule) < count and time.monotonic() < deadline:
            time.sleep(0.02)
        return self.value("count", schedule)


@pytest.fixture(scope="module")
def metered():
    running = Metered()
    yield running
    assert running.sidecar.stop() == 0


@pytest.fixture(scope="module")
def client(metered):
    with offbeat.Client(metered.address) as client:
        yield client


@pytest.fixture
def no_prometheus(monkeypatch):
    monkeypatch.setitem(sys.modules, "prometheus_client", None)


def test_prometheus_has_a_histogram_of_what_all_answers_say(client):
    prometheus = pytest.importorskip("prometheus_client")
    registry = prometheus.CollectorRegistry()
    recorder = LatenessRecorder(registry=registry)
    schedule = Schedule(timedelta(hours=8))
    run = client.assign_slot(schedule, "acme", from_time=NOON, kind="sync").next_run
    row = client.assign_slots(schedule, ["acme"], from_time=NOON, kind="sync")[0]
    due = replace(run, start_time=run.start_time + 99 * SECOND)
    assert (run.late, due.late) == (False, True)
    for schedule in (ScheduleReference("bank-sync", 2), "bank-sync/2"):
        for scheduled in (run, row, due):  # all of them have their kind
            late = recorder.record(schedule, scheduled, started_time=run.start_time + 7 * SECOND)
            assert late == 7 * SECOND
    late = recorder.record(
        "bank-sync", run.start_time, kind="sync", started_time=run.start_time + 7 * SECOND
    )
    assert late == 7 * SECOND
    early = recorder.record("bank-sync", run, started_time=run.start_time - SECOND)
    assert early == timedelta(0)

    def sample(what, **labels):
        labels = {"schedule": "bank-sync", "kind": "sync", **labels}
        return registry.get_sample_value(f"{METRIC}_{what}", labels)

    assert (sample("count"), sample("sum")) == (8, 49)
    assert (sample("bucket", le="0.1"), sample("bucket", le="5.0")) == (1, 1)
    assert sample("bucket", le="15.0") == 8
    # A registry accepts a name once, so a second recorder shares the metric.
    LatenessRecorder(registry=registry).record("bank-sync", NOON, kind="sync")
    assert sample("count") == 9


def test_the_registry_of_the_library_is_the_default():
    prometheus = pytest.importorskip("prometheus_client")
    for _ in range(2):
        LatenessRecorder().record("bank-sync", datetime.now(timezone.utc))
    labels = {"schedule": "bank-sync", "kind": "default"}
    assert prometheus.REGISTRY.get_sample_value(f"{METRIC}_count", labels) == 2


@pytest.mark.usefixtures("no_prometheus")
def test_without_the_library_nothing_is_missing_but_the_metric():
    now = datetime.now(timezone.utc)
    late = LatenessRecorder().record("bank-sync", now - timedelta(minutes=1))
    assert timedelta(minutes=1) <= late < timedelta(minutes=2)
    with pytest.raises(offbeat.InvalidArgument, match="prometheus_client"):
        LatenessRecorder(registry=object())


@pytest.mark.usefixtures("no_prometheus")
@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda r: r.record("bank-sync", datetime(2026, 1, 1)), "scheduled"),
        (lambda r: r.record("bank-sync", "2026-01-01T00:00:00Z"), "scheduled"),
        (lambda r: r.record("bank-sync", NOON, started_time=datetime(2026, 1, 1)), "started_time"),
        (lambda _: LatenessRecorder(client=offbeat.Client(), interval=0), "timeout"),
    ],
)
def test_what_is_no_instant_is_refused(call, field):
    with pytest.raises(offbeat.InvalidArgument) as caught:
        call(LatenessRecorder())
    assert caught.value.field == field


@pytest.mark.usefixtures("no_prometheus")
def test_the_sidecar_counts_what_a_thread_sends(metered, client):
    recorder = LatenessRecorder(client=client, interval=0.05)
    for seconds in (1, 2, 400 * 86_400):
        recorder.record("mail", NOON, started_time=NOON + seconds * SECOND)
    recorder.record(ScheduleReference("mail", 2), NOON, started_time=NOON - SECOND)
    assert metered.soon(4, "mail") == 4
    assert metered.value("sum", "mail") == 3 + 366 * 86_400
    # The thread ends when everything is sent; the next value starts another one.
    recorder.record("mail", NOON, started_time=NOON)
    assert metered.soon(5, "mail") == 5


@pytest.mark.usefixtures("no_prometheus")
def test_flushing_waits_for_the_sidecar(metered, client):
    recorder = LatenessRecorder(client=client, interval=3_600)
    for number in range(500):
        recorder.record("flushed", NOON, started_time=NOON + SECOND, kind=f"kind-{number % 2}")
    recorder.flush()
    counts = [metered.value("count", "flushed", f"kind-{number}") for number in range(2)]
    assert counts == [250, 250]
    recorder.flush()
    assert metered.value("count", "flushed", "kind-0") == 250


@pytest.mark.usefixtures("no_prometheus")
def test_no_job_waits_or_fails_for_a_sidecar_that_is_away(caplog):
    port = free_port()
    recorder = LatenessRecorder(client=offbeat.Client(f"127.0.0.1:{port}"), interval=0.05)
    with caplog.at_level(logging.WARNING, "offbeat"):
        started = time.monotonic()
        for _ in range(100):
            recorder.record("bank-sync", NOON, started_time=NOON)
        assert time.monotonic() - started < 2
        recorder.flush()
        recorder.flush()
    assert [record.message[:32] for record in caplog.records] == [
        "the lateness of runs cannot be s"
    ]
    # Buffered values are counted once when the sidecar is back.
    metered = Metered(port)
    try:
        assert metered.soon(100, "bank-sync") == 100
        recorder.record("bank-sync", NOON, started_time=NOON)
        assert metered.soon(101, "bank-sync") == 101
    finally:
        assert metered.sidecar.stop() == 0


@pytest.mark.usefixtures("no_prometheus")
def test_what_the_sidecar_refuses_is_logged_and_forgotten(metered, client, caplog):
    recorder = LatenessRecorder(client=client, interval=3_600)
    with caplog.at_level(logging.WARNING, "offbeat"):
        recorder.record("no/name", NOON, started_time=NOON)
        recorder.record("a-name", NOON, started_time=NOON)
        recorder.flush()
        recorder.flush()
    assert [record.message.split(":")[0] for record in caplog.records] == [
        "the lateness of 1 runs was lost"
    ]
    assert metered.value("count", "a-name") == 1


@pytest.mark.usefixtures("no_prometheus")
def test_no_more_is_kept_than_a_message_holds(monkeypatch):
    monkeypatch.setattr(lateness, "_KEPT", 50)
    nobody = offbeat.Client(f"127.0.0.1:{free_port()}")
    recorder = LatenessRecorder(client=nobody, interval=3_600)
    for number in range(80):
        recorder.record("bank-sync", NOON, started_time=NOON + number * SECOND)
    recorder.flush()
    kept = [late // SECOND for _, _, late in recorder._sender._pending]
    assert kept == list(range(30, 80))
    recorder._sender._pending.clear()


SCRIPT = """
    import os
    import sys
    from datetime import datetime, timezone

    sys.modules["prometheus_client"] = None
    import offbeat

    recorder = offbeat.LatenessRecorder(client=offbeat.Client(sys.argv[1]), interval=3_600)
    now = datetime.now(timezone.utc)
"""


def run_script(code: str, address: str) -> None:
    script = textwrap.dedent(SCRIPT) + textwrap.dedent(code)
    subprocess.run([sys.executable, "-c", script, address], check=True, timeout=30)


def test_what_is_left_is_sent_when_the_process_ends(metered):
    run_script('recorder.record("ended", now)', metered.address)
    assert metered.value("count", "ended") == 1


def test_an_end_does_not_wait_for_a_sidecar_that_is_away():
    started = time.monotonic()
    run_script('recorder.record("ended", now)', f"127.0.0.1:{free_port()}")
    assert time.monotonic() - started < 12


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_a_forked_child_sends_its_own_runs_alone(metered):
    run_script(
        """
        recorder.record("forked", now)          # the parent's, and still to be sent
        child = os.fork()
        if child == 0:
            recorder.record("forked", now)
            recorder.flush()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        """,
        metered.address,
    )
    assert metered.value("count", "forked") == 2


def test_clients_count_themselves_too(metered, client):
    assert client.record_lateness("direct", [SECOND, -SECOND, timedelta(microseconds=1_999)])
    assert metered.value("count", "direct") == 3
    assert metered.value("sum", "direct") == pytest.approx(1.001)
    assert client.record_lateness(ScheduleReference("direct", 7), [SECOND] * 70_000, kind="many")
    assert metered.value("count", "direct", "many") == 70_000

    async def ask():
        async with offbeat.AsyncClient(metered.address) as asyncio_client:
            return await asyncio_client.record_lateness("direct", [SECOND], kind="async")

    assert asyncio.run(ask()) is True
    assert metered.value("count", "direct", "async") == 1
    with pytest.raises(offbeat.InvalidArgument) as caught:
        client.record_lateness("direct", [SECOND, 5])
    assert caught.value.field == "lateness_millis[1]"
    with pytest.raises(offbeat.InvalidArgument, match="schedule_name"):
        client.record_lateness("", [SECOND])
