"""Web requests through gunicorn while the sidecar is frozen."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from conftest import Sidecar, free_port

pytest.importorskip("gunicorn")

REQUESTS = 300
#: Seconds within which a call of the web (0.3 s) ends on a busy machine, and of one that waited.
WEB_SECONDS, WAITED = 2, 0.25
#: Calls that may take longer if other processes compete for the CPUs.
BUSY = REQUESTS // 20
WORKERS = {
    "sync": ["--workers", "4"],
    "gthread": ["--workers", "2", "--threads", "4"],
    "gevent": ["--workers", "2"],
}


def ask(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", "/")
        return json.loads(connection.getresponse().read())
    finally:
        connection.close()


@contextmanager
def web_server(kind, mode, address):
    """Run gunicorn with workers of a kind; yields its port."""
    port = free_port()
    command = [sys.executable, "-m", "gunicorn", "--bind", f"127.0.0.1:{port}"]
    command += ["--worker-class", kind, "--graceful-timeout", "1", *WORKERS[kind], "web_app:app"]
    variables = {"OFFBEAT_ADDRESS": address, "OFFBEAT_MODE": mode}
    process = subprocess.Popen(command, cwd=Path(__file__).parent, env={**os.environ, **variables})
    try:
        deadline = time.monotonic() + 20
        while True:
            try:
                ask(port)
                break
            except OSError:
                assert time.monotonic() < deadline
                assert process.poll() is None
                time.sleep(0.05)
        yield port
    finally:
        process.terminate()
        process.wait(20)


@pytest.fixture
def frozen_later():
    """Return a sidecar for one test alone, and a function that freezes it."""
    sidecar = Sidecar(f"127.0.0.1:{free_port()}")
    yield sidecar
    sidecar.process.send_signal(signal.SIGCONT)
    assert sidecar.stop() == 0


def asked_at_once(port):
    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(lambda _: ask(port), range(REQUESTS)))


@pytest.mark.parametrize("kind", WORKERS)
def test_in_auto_all_are_answered_at_once(frozen_later, kind):
    pytest.importorskip("gevent" if kind == "gevent" else "gunicorn")
    with web_server(kind, "auto", frozen_later.address) as port:
        asked_at_once(port)
        frozen_later.freeze()
        answers = asked_at_once(port)
    assert Counter(answer["outcome"] for answer in answers) == {"local": REQUESTS}
    assert sum(answer["seconds"] > WAITED for answer in answers) <= BUSY


@pytest.mark.parametrize("kind", WORKERS)
def test_in_remote_each_ends_in_time_and_most_at_once(frozen_later, kind):
    pytest.importorskip("gevent" if kind == "gevent" else "gunicorn")
    with web_server(kind, "remote", frozen_later.address) as port:
        before = asked_at_once(port)
        frozen_later.freeze()
        answers = asked_at_once(port)
        frozen_later.process.send_signal(signal.SIGCONT)
        deadline = time.monotonic() + 20
        while {ask(port)["outcome"] for _ in range(20)} != {"sidecar"}:
            assert time.monotonic() < deadline, "a circuit stays open"
            time.sleep(0.1)
    assert Counter(answer["outcome"] for answer in before)["sidecar"] >= REQUESTS - BUSY
    assert max(answer["seconds"] for answer in answers) < WEB_SECONDS
    outcomes = Counter(answer["outcome"] for answer in answers)
    assert outcomes["sidecar"] == 0
    # Each worker has a circuit of its own, which some calls must open.
    assert outcomes["CircuitOpen"] > REQUESTS * 3 // 4, outcomes
    opened = [answer for answer in answers if answer["outcome"] == "CircuitOpen"]
    assert sum(answer["seconds"] > WAITED for answer in opened) <= BUSY
