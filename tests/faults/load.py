"""Producers and consumers in three languages at one address, and their events."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import subprocess
import tempfile
import threading
import time
import urllib.request
from collections import Counter
from pathlib import Path

from ledger import Ledger
from support.ports import free_port
from world import COMMANDS, JOBS_PER_GROUP, PROGRAMS, SPREAD

PRODUCERS = ["py", "rb", "php"]
CONSUMERS = [(language, mode) for language in COMMANDS for mode in ("pull", "stream")]
#: The most seconds between two probes of a starting server.
PROBE = 0.2


class Service:
    """One address for all servers, which forwards each new connection to a ready server."""

    def __init__(self) -> None:
        self.ready: list[str] = []
        self.address = f"127.0.0.1:{free_port()}"
        self.taken: Counter[str] = Counter()
        self.loop = asyncio.new_event_loop()
        listening = threading.Event()
        threading.Thread(target=self.run, args=(listening,), daemon=True).start()
        listening.wait()

    def run(self, listening: threading.Event) -> None:
        asyncio.set_event_loop(self.loop)
        host, port = self.address.split(":")
        self.loop.run_until_complete(asyncio.start_server(self.connect, host, int(port)))
        listening.set()
        self.loop.run_forever()

    async def connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server = random.choice(self.ready)
        self.taken[server] += 1
        with contextlib.suppress(OSError):
            there = await asyncio.open_connection(*server.split(":"))
            copies = [self.copy(reader, there[1]), self.copy(there[0], writer)]
            await asyncio.gather(*copies)
        writer.close()

    async def copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(1 << 16):
                writer.write(data)
                await writer.drain()
        writer.close()


class Server:
    """A server of one release."""

    def __init__(self, binary: Path, *flags: str) -> None:
        self.address = f"127.0.0.1:{free_port()}"
        self.log = tempfile.TemporaryFile("w+")  # noqa: SIM115 (as long as the server)
        command = [binary, "serve", "--listen", self.address, "--admin-listen", "off", *flags]
        self.process = subprocess.Popen(command, stderr=self.log)
        health = [binary, "health", "--address", self.address]
        while subprocess.run(health, capture_output=True, check=False).returncode:
            if self.process.poll() is not None:
                raise AssertionError(f"a server did not start: {self.said()}")
            time.sleep(PROBE)

    def said(self) -> str:
        self.log.seek(0)
        return self.log.read()[-2000:]


class Load:
    """Producers and consumers, and their events."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.ledger, self.lock = Ledger(), threading.Lock()
        self.failures: list[str] = []
        self.processes: list[subprocess.Popen] = []
        self.outcomes: Counter[str] = Counter()
        self.redelivered = 0
        self.seconds = 0.0

    def begin(self, seconds: float, groups_per_second: float) -> None:
        """Start producers that submit groups at this rate for so many seconds."""
        self.begun = time.monotonic()
        groups = str(round(seconds * groups_per_second))
        self.producers = [
            self.start(kind, "producer", f"p{place}", groups, str(JOBS_PER_GROUP), str(seconds))
            for place, kind in enumerate(PRODUCERS)
        ]
        self.consumers = [
            self.start(kind, "consumer", f"{kind}-{mode}", mode) for kind, mode in CONSUMERS
        ]

    def start(self, kind: str, program: str, *arguments: str) -> threading.Thread:
        command = [*COMMANDS[kind], PROGRAMS / f"{program}.{kind}", self.service.address, SPREAD]
        errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 (the reader outlives this)
        process = subprocess.Popen(
            [*command, *arguments], stdout=subprocess.PIPE, stderr=errors, text=True
        )
        self.processes.append(process)
        reader = threading.Thread(target=self.read, args=(arguments[0], process, errors))
        reader.start()
        return reader

    def read(self, name: str, process: subprocess.Popen, errors) -> None:
        for line in process.stdout:
            with self.lock:
                try:
                    event = json.loads(line)
                    self.ledger.note(event, time.time() * 1_000)
                except (AssertionError, KeyError, ValueError) as error:
                    self.failures.append(f"{name}: {line.strip()}: {error!r}")
                    continue
                self.outcomes[event.get("outcome", "")] += 1
                self.redelivered += event["event"] == "begin" and event["attempt"] > 1
        if process.wait() != 0:
            errors.seek(0)
            self.failures.append(f"{name} ended with {process.returncode}: {errors.read()[-2000:]}")

    def call(self, method: str, request: dict) -> dict:
        """A call on a connection of its own, without retries."""
        url = f"http://{self.service.address}/offbeat.v1.NamedSpreadService/{method}"
        headers = {"content-type": "application/json"}
        asked = urllib.request.Request(url, json.dumps(request).encode(), headers)
        with urllib.request.urlopen(asked, timeout=30) as answer:
            return json.load(answer)

    def await_open(self) -> None:
        """Wait until a producer has opened the spread."""
        while not self.call("ListSpreads", {}).get("spreads"):
            time.sleep(PROBE)

    def await_settled(self) -> None:
        """Wait until the producers have seen all of their groups settled."""
        for producer in self.producers:
            producer.join(120)

    def close(self) -> None:
        """Close the spread, and wait until the consumers have ended."""
        closed = self.call("CloseSpread", {"spreadName": SPREAD, "maxWaitDuration": "20s"})
        if closed["description"]["state"] != "SPREAD_STATE_CLOSED":
            raise AssertionError(f"the spread is not closed: {closed}")
        for consumer in self.consumers:
            consumer.join(30)
        self.seconds = time.monotonic() - self.begun

    def kill(self) -> None:
        for process in self.processes:
            process.kill()

    def report(self) -> list[str]:
        """Print the figures, and return the violations."""
        ledger, wrong = self.ledger, list(self.failures)
        for name in ("lost", "overlapping", "settled_twice", "surplus"):
            found = getattr(ledger, name)()
            wrong += [f"{name}: {one}" for one in found[:5]]
            wrong += [f"{name}: {len(found)} in all"] * (len(found) > 5)
        if ledger.dead_letters:
            wrong.append(f"{ledger.dead_letters} dead letters")
        if not self.seconds:
            return [*wrong, "it did not come to its end"]
        jobs, leases = len(ledger.jobs()), sum(map(len, ledger.leases.values()))
        print(
            f"{jobs} jobs, {jobs / self.seconds:.0f} a second for {self.seconds:.0f} s: {leases} "
            f"leases, {self.redelivered} after the first, {self.outcomes['STALE']} settled too "
            f"late, {ledger.duplicates()} settled again of {ledger.outstanding()} outstanding"
        )
        return wrong
