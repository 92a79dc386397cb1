"""A world of servers, producers and consumers, with disturbances."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

from disturbances import Disturbance
from ledger import Ledger
from support.ports import free_port
from support.waiting import wait_until
from witness import Witness

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(__file__).parent / "programs"
BINARY = Path(os.environ.get("OFFBEAT_BIN", ROOT / "target" / "release" / "offbeat"))
VENV = ROOT / "target" / "venv" / "bin" / "python"
PYTHON = str(VENV if VENV.exists() else sys.executable)
SPREAD = "faults"
#: The same specification as in the programs.
SPEC = {
    "order": {"feederCount": 4},
    "leaseDuration": "1s",
    "limits": {"maxAttemptCount": 1000},
}

#: Producers, and consumers with their modes, of each world.
WORLDS = [
    (["py", "py"], [("py", "pull"), ("rb", "stream"), ("php", "pull")]),
    (["rb", "py"], [("rb", "pull"), ("py", "stream"), ("php", "stream")]),
    (["php", "rb"], [("php", "pull"), ("py", "pull"), ("rb", "pull")]),
    (["py", "php"], [("py", "stream"), ("rb", "stream"), ("php", "stream")]),
]
COMMANDS = {
    "py": [PYTHON],
    "rb": ["ruby", "-I", str(ROOT / "clients/ruby/lib")],
    "php": ["php"],
}

#: The range of a server's lifetime in seconds, where a lease takes one second.
LIFE = (0.05, 2.2)
JOBS_PER_GROUP = 20


class World:
    """Servers and their store, producers and consumers, and their events."""

    def __init__(
        self, number: int, kills: int, seed: int, languages: list[str], kind: type[Disturbance]
    ) -> None:
        self.random = random.Random(f"{seed}/{number}")
        self.kills = kills
        producers, consumers = WORLDS[number % len(WORLDS)]
        known = lambda kind: kind if kind in languages else languages[0]  # noqa: E731
        self.producers = [known(kind) for kind in producers]
        self.consumers = [(known(kind), mode) for kind, mode in consumers]
        self.ledger, self.lock = Ledger(), threading.Lock()
        self.failures: list[str] = []
        #: Set by the first event, when there is work to disturb.
        self.said = threading.Event()
        self.number = number
        #: Logs, and what the store writes.
        self.folder = Path(tempfile.mkdtemp(prefix="offbeat-"))
        self.events = (self.folder / "events").open("w", buffering=1)
        self.disturbance = kind(self.random, self.folder)
        self.addresses = [f"127.0.0.1:{free_port()}" for _ in range(kind.servers)]
        self.servers: dict[str, subprocess.Popen] = {}
        self.witness = Witness(self) if kind.keeps_groups else None
        self.processes: dict[str, tuple[subprocess.Popen, threading.Thread]] = {}
        self.lives = 0

    def serve(self, address: str) -> None:
        command = [BINARY, "serve", "--listen", address, "--admin-listen", "off"]
        place = self.addresses.index(address)
        environment = os.environ | self.disturbance.environment(place)
        path = self.folder / f"server-{place}.log"
        with path.open("a") as log, path.open() as said:
            said.seek(0, os.SEEK_END)
            server = subprocess.Popen(
                [*command, *self.disturbance.store()], stderr=log, env=environment
            )
            self.servers[address] = server
            wait_until(
                60,
                lambda: "listening" in said.read() or server.poll() is not None,
                "the server listens",
                pause=0.02,
            )
        if server.poll() is not None:
            raise AssertionError(f"the server did not start: {path.read_text()[-2000:]}")

    def start(self, name: str, kind: str, program: str, *arguments: str) -> None:
        address = self.random.choice(self.addresses)
        command = [*COMMANDS[kind], str(PROGRAMS / f"{program}.{kind}"), address, SPREAD]
        errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 (the reader outlives this)
        process = subprocess.Popen(
            [*command, *arguments], stdout=subprocess.PIPE, stderr=errors, text=True
        )
        reader = threading.Thread(target=self.read, args=(name, process, errors), daemon=True)
        reader.start()
        self.processes[name] = process, reader

    def read(self, name: str, process: subprocess.Popen, errors) -> None:
        for line in process.stdout:
            if not line.endswith("\n"):
                break  # killed while it wrote the line
            with self.lock:
                self.events.write(line)
                try:
                    self.ledger.note(json.loads(line), time.time() * 1_000)
                except (AssertionError, KeyError, ValueError) as error:
                    self.failures.append(f"{name}: {line.strip()}: {error!r}")
            self.said.set()
        if process.wait() > 0:
            errors.seek(0)
            self.failures.append(f"{name} ended with {process.returncode}: {errors.read()[-2000:]}")

    def start_consumer(self, place: int) -> None:
        kind, mode = self.consumers[place]
        self.lives += 1
        # A restarted consumer has a new ID.
        self.start(f"consumer-{place}", kind, "consumer", f"{kind}-{place}-{self.lives}", mode)

    def disturb_consumer(self) -> None:
        place = self.random.randrange(len(self.consumers))
        process, _ = self.processes[f"consumer-{place}"]
        what = self.random.choice(["kill", "end", "stall", "nothing", "nothing"])
        if what == "stall":
            process.send_signal(signal.SIGSTOP)
            threading.Timer(
                self.random.uniform(0.5, 2.0), process.send_signal, [signal.SIGCONT]
            ).start()
        elif what != "nothing":
            process.send_signal(signal.SIGKILL if what == "kill" else signal.SIGTERM)
            process.wait()
            self.start_consumer(place)

    def run(self) -> None:
        try:
            self.live()
        except Exception as error:  # the main thread reports it
            self.failures.append(repr(error))
        finally:
            for process, _ in self.processes.values():
                process.kill()
            for server in self.servers.values():
                server.kill()
                server.wait()
            self.disturbance.stop()

    def live(self) -> None:
        self.disturbance.start()
        for address in self.addresses:
            self.serve(address)
        # Producers submit groups for as long as there are disturbances.
        seconds = self.kills * (sum(LIFE) / 2 + self.disturbance.mean_seconds)
        groups = max(4, round(seconds * 4))
        for place, kind in enumerate(self.producers):
            name = f"p{place}"
            self.start(name, kind, "producer", name, str(groups), str(JOBS_PER_GROUP), str(seconds))
        for place in range(len(self.consumers)):
            self.start_consumer(place)
        if self.witness:
            self.witness.start()
        wait_until(120, self.has_begun, "work has begun")
        for _ in range(self.kills):
            if self.failures:
                return
            time.sleep(self.random.uniform(*LIFE))
            self.said.clear()
            self.said.wait(1)
            time.sleep(self.random.uniform(0, 0.03))
            self.disturb_consumer()
            self.disturb()
        self.disturbance.calm()
        end = time.monotonic() + 120 + seconds
        for place in range(len(self.producers)):
            process, reader = self.processes[f"p{place}"]
            process.wait(max(1, end - time.monotonic()))
            reader.join()
        if self.witness:
            self.witness.await_done()
        self.close()
        for place in range(len(self.consumers)):
            process, reader = self.processes[f"consumer-{place}"]
            process.wait(90)
            reader.join()

    def has_begun(self) -> bool:
        first = {f"p{place}-0" for place in range(len(self.producers))}
        with self.lock:
            return first <= self.ledger.submitted.keys() and bool(self.ledger.leases)

    def disturb(self) -> None:
        begin = time.time() * 1_000
        try:
            self.disturbance.disturb(self)
        finally:
            with self.lock:
                self.ledger.disturbances.append((begin, time.time() * 1_000))
                self.events.write(f"{json.dumps(self.ledger.disturbances[-1])}\n")

    def kill_server(self) -> None:
        address = self.random.choice(self.addresses)
        self.servers[address].kill()
        self.servers[address].wait()
        self.serve(address)

    def close(self) -> None:
        # A restarted server does not know the spread if no producer had anything left to submit.
        self.call_patiently("OpenSpread", {"spreadName": SPREAD, "spec": SPEC})
        closed = self.call_patiently(
            "CloseSpread", {"spreadName": SPREAD, "maxWaitDuration": "20s"}
        )
        if closed["description"]["state"] != "SPREAD_STATE_CLOSED":
            raise AssertionError(f"the spread is not closed: {closed}")

    def call_patiently(self, method: str, message: dict) -> dict:
        """Calls again while the service is unavailable, as the clients do.

        On a busy machine, Sentinel may take a primary for dead and replace it once more.
        """
        end = time.monotonic() + 60
        while True:
            try:
                return self.call(method, message)
            except urllib.error.HTTPError as error:
                if error.code != 503 or time.monotonic() > end:
                    raise AssertionError(f"{method}: {error.code}: {error.read()!r}") from error
            time.sleep(0.1)

    def call(self, method: str, message: dict, address: str = "") -> dict:
        url = f"http://{address or self.addresses[0]}/offbeat.v1.NamedSpreadService/{method}"
        headers = {"content-type": "application/json"}
        body = json.dumps(message).encode()
        request = urllib.request.Request(url, body, headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)
