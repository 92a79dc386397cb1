"""Greenlets go on while one of them waits for a sidecar that does not answer."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest
from conftest import Sidecar, free_port

PROGRAM = """
from gevent import monkey; monkey.patch_all()
import sys, time
from datetime import timedelta
import gevent
import offbeat

client = offbeat.Client(sys.argv[1], mode="remote", timeout=1.0)
schedule = offbeat.Schedule(timedelta(hours=8))
gaps = []

def tick():
    last = time.monotonic()
    while True:
        gevent.sleep(0.01)
        now = time.monotonic()
        gaps.append(now - last)
        last = now

def ask():
    try:
        client.assign_slot(schedule, "acme")
    except offbeat.NoAnswer as error:
        return type(error).__name__

ticker = gevent.spawn(tick)
started = time.monotonic()
asking = [gevent.spawn(ask) for _ in range(20)]
gevent.joinall(asking)
print(max(gaps), time.monotonic() - started, {one.value for one in asking})
"""


def test_a_frozen_sidecar_stops_no_other_greenlet():
    pytest.importorskip("gevent")
    sidecar = Sidecar(f"127.0.0.1:{free_port()}")
    sidecar.freeze()
    program = subprocess.run(
        [sys.executable, "-c", PROGRAM, sidecar.address], capture_output=True, text=True, timeout=60
    )
    sidecar.process.send_signal(signal.SIGCONT)
    assert sidecar.stop() == 0
    assert program.returncode == 0, program.stderr
    longest, seconds, errors = program.stdout.split(" ", 2)
    assert errors.strip() == "{'DeadlineExceeded'}"
    assert float(seconds) < 2
    assert float(longest) < 0.5
