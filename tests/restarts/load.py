"""A steady load from three languages, and a caller that never retries."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from faults.ledger import Ledger
from sidecar import ROOT
from support.waiting import within

PROGRAMS = Path(__file__).parent / "programs"
FAULTS = ROOT / "tests/faults/programs"
COMMANDS = {
    "py": [sys.executable],
    "rb": ["ruby", "-I", str(ROOT / "clients/ruby/lib")],
    "php": ["php"],
}
#: Between two calls, in seconds.
PAUSE = "0.005"
GROUPS, JOBS = 20, 10
#: The same specification as in the programs.
SPEC = {
    "order": {"feederCount": 4},
    "leaseDuration": "1s",
    "limits": {"maxAttemptCount": 1000},
}
CHECK = "/grpc.health.v1.Health/Check"
NAMED = "/offbeat.v1.NamedSpreadService/"


class Connection(http.client.HTTPConnection):
    """HTTP over TCP or a Unix socket."""

    def __init__(self, address: str) -> None:
        super().__init__("localhost", timeout=10)
        self.address = address

    def connect(self) -> None:
        if self.address.startswith("unix:"):
            self.sock = socket.socket(socket.AF_UNIX)
            self.sock.settimeout(self.timeout)
            self.sock.connect(self.address.removeprefix("unix:"))
        else:
            host, port = self.address.rsplit(":", 1)
            self.sock = socket.create_connection((host, int(port)), self.timeout)
            self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, path: str, question: dict) -> dict:
        """The answer to a call in JSON."""
        self.request("POST", path, json.dumps(question), {"content-type": "application/json"})
        response = self.getresponse()
        answer = json.load(response)
        if response.status != 200:
            raise http.client.HTTPException(f"{response.status}: {answer}")
        return answer


class Naive:
    """A caller that never retries. Its failures are those that the clients must hide by retries."""

    def __init__(self, address: str) -> None:
        self.address, self.calls, self.failures = address, 0, 0
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self._call, daemon=True)
        self.thread.start()

    def _call(self) -> None:
        connection = Connection(self.address)
        while not self.stop.wait(float(PAUSE)):
            self.calls += 1
            try:
                connection.ask(CHECK, {})
            except (OSError, http.client.HTTPException, ValueError):
                self.failures += 1
                connection.close()

    def end(self) -> None:
        self.stop.set()
        self.thread.join(10)


@dataclass
class Tally:
    """The results of the programs of one language."""

    ledger: Ledger = field(default_factory=Ledger)
    calls: int = 0
    retries: int = 0
    slowest: float = 0.0
    received: int = 0
    #: Failures of calls, as the application sees them, and of whole programs.
    failures: list[str] = field(default_factory=list)

    def line(self) -> str:
        """A line with its figures."""
        jobs = len(self.ledger.jobs())
        leases = sum(map(len, self.ledger.leases.values()))
        return (
            f"{self.calls:4} calls, {self.retries:3} tried again, "
            f"{len(self.failures)} failed, slowest {self.slowest:.2f} s; "
            f"{len(self.ledger.settled)} of {len(self.ledger.submitted)} groups settled, "
            f"{jobs} jobs, {leases} leases"
        )


class Program:
    """A process that reports its events line by line."""

    def __init__(self, load: Load, kind: str, path: Path, *arguments: str) -> None:
        self.load, self.kind, self.name = load, kind, f"{path.name} {arguments[1]}"
        self.tally, self.ready = load.tallies[kind], threading.Event()
        self.errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 (read at the end)
        self.process = subprocess.Popen(
            [*COMMANDS[kind], str(path), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
        )
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self.load.lock:
                try:
                    self._take(line)
                except (AssertionError, KeyError, ValueError) as error:
                    self.tally.failures.append(f"{self.name}: {line.strip()}: {error!r}")

    def _take(self, line: str) -> None:
        if line == "ready\n":
            self.ready.set()
        elif line.startswith('{"calls"'):
            self._count(json.loads(line))
        else:
            self.tally.ledger.note(json.loads(line), time.time() * 1_000)

    def _count(self, said: dict) -> None:
        self.tally.calls += said["calls"]
        self.tally.retries += said["retries"]
        self.tally.slowest = max(self.tally.slowest, said["slowest"])
        self.tally.failures += said["failures"]

    def said(self) -> str:
        """The text that it wrote to standard error."""
        self.errors.seek(0)
        return self.errors.read()

    def wait(self, seconds: float) -> None:
        """Waits for its end, which must be successful."""
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            code = None
            self.process.kill()
            self.process.wait()
        self.reader.join(5)
        said = self.said()
        if code != 0 or said:
            self.tally.failures.append(f"{self.name}: exit code {code}: {said[-1_000:]}")
        self.errors.close()


class Load:
    """Callers, and producers and consumers of named spreads, in each language."""

    def __init__(self, address: str, folder: Path, seconds: float) -> None:
        self.address, self.stop = address, folder / "stop"
        self.lock = threading.Lock()
        self.tallies = {kind: Tally() for kind in COMMANDS}
        self.naive = Naive(address)
        self.callers = [
            Program(self, kind, PROGRAMS / f"caller.{kind}", address, PAUSE, str(self.stop))
            for kind in COMMANDS
        ]
        self.producers = [
            self._faulty(kind, "producer", kind, str(GROUPS), str(JOBS), str(seconds))
            for kind in COMMANDS
        ]
        self.consumers = [
            self._faulty(kind, "consumer", f"{kind}-{mode}", mode)
            for kind in COMMANDS
            for mode in ("pull", "stream")
        ]

    def await_beginning(self) -> None:
        """Waits until every caller has had its first answer."""
        begun = lambda caller: caller.ready.is_set() or caller.process.poll() is not None  # noqa: E731
        assert within(60, lambda: all(map(begun, self.callers))), "not all callers have begun"
        for caller in self.callers:
            assert caller.ready.is_set(), f"{caller.name}: {caller.said()}"

    def _faulty(self, kind: str, what: str, *arguments: str) -> Program:
        path = FAULTS / f"{what}.{kind}"
        return Program(self, kind, path, self.address, f"spread-{kind}", *arguments)

    def note_restart(self) -> None:
        """Records a restart, at which the server's memory is lost."""
        now = time.time() * 1_000
        with self.lock:
            for tally in self.tallies.values():
                tally.ledger.disturbances.append((now, now))

    def end(self) -> None:
        """Ends all programs, and waits for them."""
        for producer in self.producers:
            producer.wait(90)
        self.stop.touch()
        self.naive.end()
        for caller in self.callers:
            caller.wait(60)
        for kind in COMMANDS:
            self._close(f"spread-{kind}")
        for consumer in self.consumers:
            consumer.wait(60)

    def _close(self, spread: str) -> None:
        connection = Connection(self.address)
        # A new server does not know the spread if no producer had anything left to submit.
        connection.ask(NAMED + "OpenSpread", {"spreadName": spread, "spec": SPEC})
        connection.ask(NAMED + "CloseSpread", {"spreadName": spread, "maxWaitDuration": "10s"})
        connection.close()

    def discard(self) -> None:
        """Kills remaining programs if a test has failed."""
        self.naive.stop.set()
        for program in [*self.callers, *self.producers, *self.consumers]:
            with contextlib.suppress(ProcessLookupError):
                program.process.kill()
            program.process.wait()
