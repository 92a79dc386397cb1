"""Peers without a token that do not read their refusals do not keep their places."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from support.frames import INITIAL_WINDOW_SIZE, PREFACE, settings
from support.server import Server
from wire import ASSIGN_SLOT, JSON, ONE_ID, TOKEN, ask, begun, beside, body, ended, took

#: Half of the timeout of a Kubernetes probe, and longer than a new caller should wait.
SOON = 2
SECONDS = 8
REFUSED = (
    PREFACE
    + settings({INITIAL_WINDOW_SIZE: 0})
    + begun(1, ASSIGN_SLOT, kind=JSON)
    + body(1, ONE_ID)
)
#: Sockets that make requests and read nothing; some of them reconnect all the time.
STRANGERS = """
import collections, resource, socket, sys, time
port, count, rate = map(int, sys.argv[1:4])
asked = bytes.fromhex(sys.argv[4])
_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
kept = collections.deque()
def opened():
    wire = socket.socket()
    wire.setblocking(False)
    wire.connect_ex(("127.0.0.1", port))
    kept.append([wire, False])
def speak():
    for one in kept:
        if not one[1]:
            try:
                one[0].send(asked)
                one[1] = True
            except BlockingIOError:
                pass
            except OSError:
                one[1] = True
for at in range(count):
    opened()
    if at % 100 == 99:
        speak()
print("ready", flush=True)
while True:
    for _ in range(rate // 10):
        kept.popleft()[0].close()
        opened()
    speak()
    time.sleep(0.1)
"""


@pytest.mark.parametrize(
    ("most", "sockets", "rate"), [(64, 200, 20), (1_024, 2_600, 90)], ids=["few", "defaults"]
)
def test_unread_refusals_keep_nobody_out(
    serve: Callable[..., Server],
    token_file: Path,
    tmp_path: Path,
    most: int,
    sockets: int,
    rate: int,
) -> None:
    listen = f"127.0.0.1:0,unix:{tmp_path}/probe.sock"
    flags = "--token-file", str(token_file), "--max-connections", str(most)
    server = serve(*flags, listen=listen)
    strangers = beside(STRANGERS, server.port, sockets, rate, REFUSED.hex())
    missed, end = [], time.monotonic() + SECONDS

    def newcomer() -> None:
        answer = ask(server.port, ASSIGN_SLOT, ONE_ID, token=TOKEN, seconds=SOON)
        assert answer.status == 200, answer

    def probes() -> None:
        assert server.look("/readyz", SOON)
        failure = server.health(server.listening[1], SOON)
        assert failure is None, failure

    try:
        while time.monotonic() < end:
            for what in (newcomer, probes):
                try:
                    seconds = took(what)
                    if seconds > SOON:
                        missed.append(f"{what.__name__} took {seconds:.1f} s")
                except (AssertionError, OSError) as error:
                    missed.append(f"{what.__name__}: {error!r}"[:200])
    finally:
        ended(strangers)
    assert not missed, missed
