"""A user without access to the Unix socket does not affect other callers."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.server import Server
from wire import ASSIGN_SLOT, ONE_ID, all_of, ask, beside, connect, ended

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="only root can be another user")
FLAGS = "--socket-uids", "0", "--socket-mode", "0666"
AS_NOBODY = """
import os, socket, sys, time
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
path = sys.argv[1]
def connected():
    wire = socket.socket(socket.AF_UNIX)
    wire.connect(path)
    return wire
print("ready", flush=True)
"""
IN_A_LOOP = (
    AS_NOBODY
    + """
end = time.monotonic() + 3
count = 0
while time.monotonic() < end:
    try:
        connected().close()
        count += 1
    except OSError:
        pass
print(count, flush=True)
"""
)
#: Health checks, which need no token, without their bodies.
HALF_OPEN = (
    AS_NOBODY
    + """
head = (b"POST /grpc.health.v1.Health/Check HTTP/1.1\\r\\nHost: localhost\\r\\n"
        b"Content-Type: application/json\\r\\nContent-Length: 2\\r\\n\\r\\n")
kept = []
for _ in range(int(sys.argv[2])):
    try:
        kept.append(connected())
        kept[-1].sendall(head)
    except OSError:
        pass
print("sent", flush=True)
time.sleep(60)
"""
)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that other users may enter."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


def test_strangers_fill_no_log(serve: Callable[..., Server], folder: Path) -> None:
    path = folder / "s.sock"
    server = serve(*FLAGS, listen=f"unix:{path}")
    before = len(server.lines())
    nobody = beside(IN_A_LOOP, path)
    assert nobody.stdout
    count = int(nobody.stdout.readline())
    ended(nobody)
    time.sleep(0.2)
    assert count > 100
    assert len(server.lines()) - before <= 10, f"{len(server.lines())} lines of {count} connects"
    assert len(server.lines()) > before, "nothing was said of them"


def test_strangers_take_no_place(serve: Callable[..., Server], folder: Path) -> None:
    path = folder / "s.sock"
    server = serve(*FLAGS, "--max-connections", "64", listen=f"127.0.0.1:0,unix:{path}")
    nobody = beside(HALF_OPEN, path, 80)
    assert nobody.stdout
    nobody.stdout.readline()
    try:
        for _ in range(3):
            assert ask(server.port, ASSIGN_SLOT, ONE_ID, seconds=2).status == 200
            assert ask(server.listening[1], ASSIGN_SLOT, ONE_ID, seconds=2).status == 200
    finally:
        ended(nobody)


def test_strangers_evict_nobody(serve: Callable[..., Server], folder: Path) -> None:
    path = folder / "s.sock"
    server = serve(*FLAGS, "--max-connections", "64", listen=f"unix:{path}")
    idle = [connect(server.address) for _ in range(64)]
    for one in idle:
        one.sendall(
            b"POST " + ASSIGN_SLOT.encode() + b" HTTP/1.1\r\nHost: localhost\r\n"
            b"Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
        )
    for one in idle:
        assert one.recv(1 << 16).startswith(b"HTTP/1.1 400")
    nobody = beside(HALF_OPEN, path, 80)
    time.sleep(2)
    evicted = server.metric("offbeat_connections_evicted_total")
    ended(nobody)
    all_of(idle)
    assert evicted == 0
