"""Replaces servers with one store under load, as Kubernetes does, and keeps a ledger.

``python3 tests/faults/rolling.py --rollouts 3``: as many servers with one Redis as the manifests of
``deploy/kubernetes/named-spreads-redis`` have replicas, behind one address, with producers and
consumers in three languages. In a rollout each server is replaced: another one starts; when it is
ready, the old one gets SIGTERM, and a second later no new connections. It has the drain delay and
the grace period of the manifests, and the next one is replaced meanwhile. Nothing may be lost or
leased twice, no program may fail, each server must end by itself with status 0, and calls on new
connections must succeed without being tried again.

``--old-binary FILE``: the servers that are replaced first are of this release.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from pathlib import Path

from ledger import Ledger
from run import COMMANDS, PROGRAMS, SPREAD, Redis, free_port

ROOT = Path(__file__).parents[2]
BINARY = Path(os.environ.get("OFFBEAT_BIN", ROOT / "target" / "release" / "offbeat"))
MANIFESTS = ROOT / "deploy" / "kubernetes"
PRODUCERS = ["py", "rb", "php"]
CONSUMERS = [(language, mode) for language in COMMANDS for mode in ("pull", "stream")]
JOBS_PER_GROUP = 20
#: Seconds from SIGTERM on in which new connections still come: each node has to hear of it.
PROPAGATION = 1.0
#: The most time between two looks at a server that starts, and after it is ready.
PROBE = 0.2


def of_manifests(file: str, pattern: str) -> int:
    """A number of the manifests."""
    (found,) = re.findall(pattern, (MANIFESTS / file).read_text())
    return int(found)


REPLICAS = of_manifests("named-spreads-redis/deployment.yaml", r"replicas: (\d+)")
DRAIN_DELAY = of_manifests("standalone/deployment.yaml", r'_DRAIN_DELAY, value: "(\d+)"')
KILLED_AFTER = of_manifests("standalone/deployment.yaml", r"terminationGracePeriodSeconds: (\d+)")


class Service:
    """One address for the servers: each new connection leads to one of those that are ready."""

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
    """A server of a release."""

    def __init__(self, binary: Path, store: list[str]) -> None:
        self.address = f"127.0.0.1:{free_port()}"
        self.log = tempfile.TemporaryFile("w+")  # noqa: SIM115 (as long as the server)
        flags = ["--listen", self.address, "--admin-listen", "off"]
        flags += ["--drain-delay", str(DRAIN_DELAY), *store]
        self.process = subprocess.Popen([binary, "serve", *flags], stderr=self.log)
        health = [binary, "health", "--address", self.address]
        while subprocess.run(health, capture_output=True, check=False).returncode:
            if self.process.poll() is not None:
                raise AssertionError(f"a server did not start: {self.said()}")
            time.sleep(PROBE)

    def said(self) -> str:
        self.log.seek(0)
        return self.log.read()[-2000:]


class Rolling:
    """Servers that are replaced, producers and consumers, and what they say."""

    def __init__(self, rollouts: int, groups_per_second: float, old: Path | None) -> None:
        self.rollouts, self.old = rollouts, old
        self.groups_per_second = groups_per_second
        self.ledger, self.lock = Ledger(), threading.Lock()
        self.failures: list[str] = []
        self.redis, self.service = Redis(), Service()
        self.store = self.redis.flags()
        self.servers: list[Server] = []
        self.processes: list[subprocess.Popen] = []
        self.enders: list[threading.Thread] = []
        self.calls: Counter[str] = Counter()
        self.outcomes: Counter[str] = Counter()
        self.redelivered = 0
        self.seconds_to_end: list[float] = []
        self.seconds = 0.0
        self.done = threading.Event()

    def add_server(self, binary: Path) -> None:
        server = Server(binary, self.store)
        self.servers.append(server)
        self.service.ready.append(server.address)

    def replace(self, server: Server) -> None:
        """Start another one first, then end this one, beside what follows."""
        self.add_server(BINARY)
        time.sleep(PROBE)
        self.servers.remove(server)
        server.process.terminate()
        ender = threading.Thread(target=self.end, args=(server,))
        ender.start()
        self.enders.append(ender)

    def end(self, server: Server) -> None:
        begun = time.monotonic()
        time.sleep(PROPAGATION)
        self.service.ready.remove(server.address)
        try:
            status = server.process.wait(KILLED_AFTER - PROPAGATION)
        except subprocess.TimeoutExpired:
            server.process.kill()
            status = f"none {KILLED_AFTER} s after SIGTERM"
        self.seconds_to_end.append(time.monotonic() - begun)
        if status != 0:
            self.failures.append(f"a server ended with status {status}: {server.said()}")

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
                self.redelivered += event.get("attempt", 1) > 1
        if process.wait() != 0:
            errors.seek(0)
            self.failures.append(f"{name} ended with {process.returncode}: {errors.read()[-2000:]}")

    def call(self, method: str, request: dict) -> dict:
        """A call on a connection of its own, which is not tried again."""
        url = f"http://{self.service.address}/offbeat.v1.NamedSpreadService/{method}"
        headers = {"content-type": "application/json"}
        asked = urllib.request.Request(url, json.dumps(request).encode(), headers)
        with urllib.request.urlopen(asked, timeout=30) as answer:
            return json.load(answer)

    def ask_again_and_again(self) -> None:
        while not self.done.wait(0.02):
            try:
                self.call("DescribeSpread", {"spreadName": SPREAD})
                self.calls["answered"] += 1
            except urllib.error.HTTPError as error:
                self.calls["refused"] += 1
                # Servers of an older release leave what a newer one has changed alone.
                if not self.old or error.code != 503:
                    self.failures.append(f"DescribeSpread: {error}: {error.read()!r}")
            except OSError as error:
                self.failures.append(f"DescribeSpread: {error!r}")

    def run(self) -> None:
        try:
            self.live()
        except Exception as error:  # it is reported
            self.failures.append(repr(error))
        finally:
            self.done.set()
            for process in [*self.processes, *(server.process for server in self.servers)]:
                process.kill()
            for ender in self.enders:
                ender.join()
            self.redis.kill()

    def live(self) -> None:
        for _ in range(REPLICAS):
            self.add_server(self.old or BINARY)
        seconds = self.rollouts * REPLICAS + DRAIN_DELAY  # about as long as it takes
        groups = str(round(seconds * self.groups_per_second))
        started = time.monotonic()
        producers = [
            self.start(kind, "producer", f"p{place}", groups, str(JOBS_PER_GROUP), str(seconds))
            for place, kind in enumerate(PRODUCERS)
        ]
        consumers = [
            self.start(kind, "consumer", f"{kind}-{mode}", mode) for kind, mode in CONSUMERS
        ]
        time.sleep(1)  # until the spread is open
        asking = threading.Thread(target=self.ask_again_and_again)
        asking.start()
        for _ in range(self.rollouts):
            for server in list(self.servers):
                self.replace(server)
                time.sleep(random.uniform(0, 1))
        for ender in self.enders:
            ender.join()
        for producer in producers:
            producer.join(120)
        self.done.set()
        asking.join()
        closed = self.call("CloseSpread", {"spreadName": SPREAD, "maxWaitDuration": "20s"})
        if closed["description"]["state"] != "SPREAD_STATE_CLOSED":
            raise AssertionError(f"the spread is not closed: {closed}")
        for consumer in consumers:
            consumer.join(30)
        self.seconds = time.monotonic() - started

    def report(self) -> list[str]:
        """Print the figures; return what is wrong."""
        ledger, wrong = self.ledger, list(self.failures)
        for name in ("lost", "overlapping", "settled_twice"):
            found = getattr(ledger, name)()
            wrong += [f"{name}: {one}" for one in found[:5]]
            wrong += [f"{name}: {len(found)} in all"] * (len(found) > 5)
        if ledger.dead_letters or ledger.duplicates():
            wrong.append(f"{ledger.dead_letters} dead letters, {ledger.duplicates()} duplicates")
        jobs, leases = len(ledger.jobs()), sum(map(len, ledger.leases.values()))
        unused = [
            server.address for server in self.servers if not self.service.taken[server.address]
        ]
        if unused or not self.seconds_to_end:
            wrong.append(f"servers that nobody called: {unused}")
            return wrong
        fastest, slowest = min(self.seconds_to_end), max(self.seconds_to_end)
        print(
            f"{len(self.seconds_to_end)} servers replaced in {self.seconds:.0f} s; each ended "
            f"{fastest:.1f} to {slowest:.1f} s after SIGTERM\n"
            f"{jobs} jobs, {jobs / self.seconds:.0f} a second: {leases} leases, "
            f"{self.redelivered} after the first, {self.outcomes['STALE']} settled too late\n"
            f"{sum(self.service.taken.values())} connections; {self.calls['answered']} calls, not "
            f"tried again, were answered, and {self.calls['refused']} refused"
        )
        return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--rollouts", type=int, default=2)
    parser.add_argument("--groups-per-second", type=float, default=4, help="of each producer")
    parser.add_argument("--old-binary", type=Path, help="of the servers that are replaced first")
    arguments = parser.parse_args()
    rolling = Rolling(arguments.rollouts, arguments.groups_per_second, arguments.old_binary)
    rolling.run()
    wrong = rolling.report()
    print("\n".join(wrong) or "nothing lost, nothing leased twice, no call failed for good")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
