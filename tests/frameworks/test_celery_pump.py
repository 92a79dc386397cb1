"""Tenants in turns: a named spread of a real sidecar feeds a queue of a real Celery."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import offbeat
import pytest
from harness import CELERY
from support.ledgers import whole_lines
from support.ports import free_port
from support.redis_server import RedisServer
from support.waiting import wait_until

ROOT = Path(__file__).parents[2]
PROJECT = Path(__file__).with_name("fair")
BINARY = Path(os.environ.get("OFFBEAT_BIN", ROOT / "target" / "debug" / "offbeat"))


class Fair:
    """The app, with its sidecar, pump and worker."""

    def __init__(self, folder: Path, redis: RedisServer) -> None:
        self.folder, self.ledger = folder, folder / "ledger"
        self._redis, self._processes = redis, []
        self.address = f"127.0.0.1:{free_port()}"
        self.environment = {
            **os.environ,
            "BROKER": redis.url,
            "OFFBEAT_ADDRESS": self.address,
            "LEDGER": str(self.ledger),
            "PYTHONPATH": str(PROJECT),
        }
        self.start_sidecar()

    def start(self, *command: object, name: str) -> subprocess.Popen[bytes]:
        with (self.folder / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                [*map(str, command)],
                env=self.environment,
                cwd=self.folder,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._processes.append(process)
        return process

    def start_sidecar(self) -> subprocess.Popen[bytes]:
        command = (BINARY, "serve", "--listen", self.address, "--admin-listen", "off")
        process = self.start(*command, name="sidecar")
        wait_until(10, self._listens)
        return process

    def _listens(self) -> bool:
        host, port = self.address.split(":")
        try:
            socket.create_connection((host, int(port)), 1).close()
        except OSError:
            return False
        return True

    def start_pump(self) -> subprocess.Popen[bytes]:
        return self.start(sys.executable, PROJECT / "fair.py", name="pump")

    def start_worker(self) -> subprocess.Popen[bytes]:
        arguments = ("-A", "fair", "worker", "-l", "INFO", "-c", "2", "-Q", "exports")
        return self.start(CELERY, *arguments, name="worker")

    def submit(self, code: str) -> None:
        """Run code that submits, in a process of its own."""
        subprocess.run(
            [sys.executable, "-c", f"from fair import *\n{code}"], env=self.environment, check=True
        )

    def lines(self) -> list[str]:
        return whole_lines(self.ledger)

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self._processes.remove(process)

    def stop(self) -> None:
        for process in list(self._processes):
            self.kill(process)

    def queue_length(self, connection: socket.socket) -> int:
        connection.sendall(b"LLEN exports\r\n")
        return int(connection.recv(64)[1:])

    @property
    def spread(self) -> offbeat.NamedSpread:
        client = offbeat.Client(self.address, mode="remote")
        return client.named_spread("exports", 4)


@pytest.fixture
def fair(redis: RedisServer, tmp_path: Path) -> Iterator[Fair]:
    redis.kill()
    redis.start()
    fair = Fair(tmp_path, redis)
    yield fair
    fair.stop()


def test_small_tenants_are_done_before_a_large_one_has_had_half(
    fair: Fair, redis: RedisServer
) -> None:
    fair.submit(
        """
exports.submit("large", [export.s("large", number) for number in range(1500)])
for tenant in range(9):
    exports.submit(f"small-{tenant}", [export.s(f"small-{tenant}", n) for n in range(15)])
"""
    )
    longest, watching = 0, threading.Event()

    def watch() -> None:
        nonlocal longest
        with socket.create_connection(("127.0.0.1", redis.port)) as connection:
            while not watching.wait(0.005):
                longest = max(longest, fair.queue_length(connection))

    watcher = threading.Thread(target=watch)
    watcher.start()
    fair.start_pump()
    fair.start_worker()
    wait_until(120, lambda: len(fair.lines()) >= 1635)
    watching.set()
    watcher.join()
    lines = fair.lines()
    assert len(lines) == len(set(lines)) == 1635
    last_small = max(index for index, line in enumerate(lines) if line.startswith("small"))
    large_before = sum(line.startswith("large") for line in lines[:last_small])
    assert large_before < 750
    assert 1 <= longest <= 8, "twice the feeders"
    counts = fair.spread.describe().counts
    wait_until(10, lambda: fair.spread.describe().counts.settled_job_count == 1635)
    assert counts.dead_letter_count == 0


def test_what_becomes_of_jobs_that_end_in_other_ways(fair: Fair) -> None:
    fair.start_worker()
    fair.start_pump()
    fair.submit('exports.submit("ways", [again.s(), failing.s(), deadly.s(), slow.s()])')
    wait_until(60, lambda: fair.spread.describe().counts.dead_letter_count == 2)
    wait_until(60, lambda: "slow ended" in fair.lines())
    wait_until(10, lambda: fair.spread.describe().counts.settled_job_count == 4)
    lines = fair.lines()
    assert [line for line in lines if line.startswith("again")] == ["again 0", "again 1"]
    assert lines.count("failing") == 1, "Celery did not try it again, and nor does the spread"
    assert lines.count("deadly") == 2, "its process was killed: as often as max_attempt_count"
    assert lines.count("slow") == 1, "its lease was extended while it was at work"


def test_pumps_and_workers_that_are_killed(fair: Fair) -> None:
    fair.submit('exports.submit("g", [export.s("g", number) for number in range(300)])')
    pump, worker = fair.start_pump(), fair.start_worker()
    for count in (60, 140):
        wait_until(60, lambda count=count: len(fair.lines()) >= count)
        fair.kill(pump)
        fair.kill(worker)
        pump, worker = fair.start_pump(), fair.start_worker()
    wait_until(90, lambda: len(set(fair.lines())) == 300)
    # At each kill, at most the jobs of two processes are done twice.
    assert len(fair.lines()) <= 300 + 2 * 2
    wait_until(30, lambda: fair.spread.describe().counts.settled_job_count == 300)
    assert fair.spread.describe().counts.dead_letter_count == 0


def test_messages_of_a_spread_that_has_begun_again_are_ignored(fair: Fair) -> None:
    sidecar = fair._processes[0]
    fair.start_pump()
    fair.submit('exports.submit("old", [export.s("old", number) for number in range(5)])')
    wait_until(30, lambda: fair.spread.describe().counts.leased_job_count == 5)
    fair.kill(sidecar)
    fair.start_sidecar()
    fair.submit('exports.submit("new", [export.s("new", number) for number in range(5)])')
    fair.start_worker()
    wait_until(60, lambda: sum(line.startswith("new") for line in fair.lines()) == 5)
    assert not [line for line in fair.lines() if line.startswith("old")]


def test_a_task_that_settles_no_lease_is_refused(fair: Fair) -> None:
    code = """
try:
    exports.submit("g", [plain.s()])
except offbeat.InvalidArgument as error:
    assert "OffbeatTask" in str(error)
else:
    raise SystemExit("accepted")
"""
    fair.submit(code)
