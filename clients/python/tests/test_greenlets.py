"""gevent and eventlet: a call without an answer does not block other greenlets."""

from __future__ import annotations

import json
import signal

import pytest
from authority import Authority
from conftest import Sidecar, free_port, run_python

#: Seconds for which a greenlet that only ticks may be blocked on a busy machine, and the timeout
#: of calls, for which one that holds up others does so.
HELD_UP, TIMEOUT = 0.75, 1.5

BEGIN = {
    "gevent": """
    from gevent import monkey
    monkey.patch_all()
    from gevent import sleep, spawn
    wait = lambda greenlet: greenlet.join()
""",
    "eventlet": """
    import warnings
    warnings.simplefilter("ignore")
    import eventlet
    eventlet.monkey_patch()
    from eventlet import sleep, spawn
    wait = lambda greenlet: greenlet.wait()
""",
}

TICKING = """
    import json, os, signal, sys, time
    from collections import Counter
    from datetime import timedelta
    from pathlib import Path
    import offbeat
    address, authority, pid, timeout, question = sys.argv[1:6]
    state = lambda stat: stat.read_text().rpartition(")")[2].split()[0]
    tls = offbeat.Tls(authority) if authority else None
    client = offbeat.Client(address, mode="remote", tls=tls, timeout=float(timeout))
    schedule = offbeat.Schedule(timedelta(hours=8))
    outcomes, held_up, ticks, ticking = Counter(), 0.0, 0, True
    def ask():
        try:
            if question == "call":
                client.assign_slot(schedule, 42)
            else:
                list(client.stream_slot_assignments(schedule, [42], timeout=client.timeout))
            outcomes["answered"] += 1
        except offbeat.OffbeatError as error:
            outcomes[type(error).__name__] += 1
    def tick():
        global held_up, ticks
        while ticking:
            before = time.monotonic()
            sleep(0.005)
            held_up, ticks = max(held_up, time.monotonic() - before - 0.005), ticks + 1
    def all_ask():
        greenlets = [spawn(ask) for _ in range(20)]
        for greenlet in greenlets:
            wait(greenlet)
    all_ask()
    os.kill(int(pid), signal.SIGSTOP)
    while {state(thread) for thread in Path(f"/proc/{pid}/task").glob("*/stat")} != {"T"}:
        time.sleep(0.001)
    ticker = spawn(tick)
    all_ask()
    ticking = False
    wait(ticker)
    os.kill(int(pid), signal.SIGCONT)
    all_ask()
    print(json.dumps({"outcomes": outcomes, "held_up": held_up, "ticks": ticks}))
"""

FORKING = """
    import os, sys
    from datetime import timedelta
    import offbeat
    client = offbeat.Client(sys.argv[1], timeout=10)
    schedule = offbeat.Schedule(timedelta(hours=8))
    failures, stopped = [], False
    def ask():
        return len(client.assign_slots(schedule, range(2_000)))
    def keep_asking():
        while not stopped:
            try:
                ask()
            except Exception as error:
                failures.append(repr(error))
            sleep(0)
    greenlets = [spawn(keep_asking) for _ in range(4)]
    statuses = []
    for _ in range(40):
        sleep(0.002)
        pid = os.fork()
        if pid == 0:  # it has copies of the greenlets, which continue
            sleep(0.02)
            os._exit(0 if ask() == 2_000 and not failures else 1)
        statuses.append(os.waitpid(pid, 0)[1])
    stopped = True
    for greenlet in greenlets:
        wait(greenlet)
    print(statuses.count(0), failures)
"""


@pytest.fixture(params=["plain", "tls"])
def target(request, tmp_path):
    """Return a sidecar for one test alone, and the authority of its certificate, if it has one."""
    flags, ca = [], ""
    if request.param == "tls":
        authority = Authority(tmp_path, "ours")
        signed, ca = authority.sign("IP:127.0.0.1"), str(authority.ca)
        flags = ["--tls-certificate", str(signed.certificate), "--tls-key", str(signed.key)]
    sidecar = Sidecar(f"127.0.0.1:{free_port()}", *flags)
    yield sidecar, ca
    sidecar.process.send_signal(signal.SIGCONT)
    assert sidecar.stop() == 0


# Streams use grpc, which supports gevent only.
@pytest.mark.parametrize(
    ("library", "question"), [("gevent", "call"), ("gevent", "stream"), ("eventlet", "call")]
)
def test_a_frozen_sidecar_holds_up_no_greenlet_that_does_not_ask(target, library, question):
    pytest.importorskip(library)
    sidecar, ca = target
    arguments = [sidecar.address, ca, str(sidecar.process.pid), str(TIMEOUT), question]
    seen = json.loads(run_python(BEGIN[library] + TICKING, *arguments))
    assert seen["outcomes"] == {"answered": 40, "DeadlineExceeded": 20}
    assert seen["held_up"] < HELD_UP
    assert seen["ticks"] > 50


def test_greenlets_ask_on_both_sides_of_a_fork(sidecar):
    pytest.importorskip("gevent")
    assert run_python(BEGIN["gevent"] + FORKING, sidecar.address) == "40 []\n"
