"""Kills the server under producers and consumers, and holds what they say against a ledger.

``python3 tests/faults/run.py --kills 200``: several worlds side by side, each with a server of
its own, producers and consumers in three languages, leases of a second. The server is killed
(SIGKILL) at random moments and started again at once; consumers are killed, stopped for longer
than a lease, and ended.

With ``--store redis``, each world has two servers and a Redis that writes each change to disk, and
it is one of the three that is killed. Then nothing is lost with any of them.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

from ledger import Ledger

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(__file__).parent / "programs"
BINARY = Path(os.environ.get("OFFBEAT_BIN", ROOT / "target" / "release" / "offbeat"))
VENV = ROOT / "target" / "venv" / "bin" / "python"
PYTHON = str(VENV if VENV.exists() else sys.executable)
SPREAD = "faults"
#: That of the programs.
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

#: A server lives for so many seconds, at random; a lease is one.
LIFE = (0.05, 2.2)
JOBS_PER_GROUP = 20


def free_port() -> int:
    """A port on which nobody listens, below those that the kernel gives to clients.

    Those connect while the server is away: one would sooner or later be given its port.
    """
    lowest, _ = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()
    while True:  # until one is free
        port = random.randrange(10_000, max(int(lowest), 11_000))
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


class Redis:
    """A Redis that writes each change to disk before it answers."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="offbeat-")
        self.socket = Path(self.folder.name, "redis.sock")
        self.process = self.serve()

    def serve(self) -> subprocess.Popen:
        flags = ["--port", "0", "--unixsocket", self.socket, "--dir", self.folder.name]
        flags += ["--save", "", "--appendonly", "yes", "--appendfsync", "always"]
        return subprocess.Popen(["redis-server", *flags], stdout=subprocess.DEVNULL)

    def flags(self) -> list[str]:
        """What a server is told of it; waits until it answers."""
        for _ in range(1_000):
            ping = ["redis-cli", "-s", self.socket, "ping"]
            if subprocess.run(ping, capture_output=True, check=False).stdout == b"PONG\n":
                return ["--spread-store", f"redis+unix://{self.socket}"]
            time.sleep(0.02)
        raise AssertionError("redis-server does not answer")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def restart(self) -> None:
        self.kill()
        self.process = self.serve()


class World:
    """A server or two, producers and consumers, and what they say."""

    def __init__(
        self, number: int, kills: int, seed: int, languages: list[str], with_redis: bool
    ) -> None:
        self.random = random.Random(f"{seed}/{number}")
        self.kills = kills
        producers, consumers = WORLDS[number % len(WORLDS)]
        known = lambda kind: kind if kind in languages else languages[0]  # noqa: E731
        self.producers = [known(kind) for kind in producers]
        self.consumers = [(known(kind), mode) for kind, mode in consumers]
        self.ledger, self.lock = Ledger(), threading.Lock()
        self.failures: list[str] = []
        self.number = number
        self.redis = Redis() if with_redis else None
        addresses = [f"127.0.0.1:{free_port()}" for _ in range(2 if with_redis else 1)]
        self.servers = {address: self.serve(address) for address in addresses}
        self.processes: dict[str, tuple[subprocess.Popen, threading.Thread]] = {}
        self.lives = 0

    def serve(self, address: str) -> subprocess.Popen:
        command = [BINARY, "serve", "--listen", address, "--admin-listen", "off"]
        command += self.redis.flags() if self.redis else []
        server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        said = []
        for line in server.stderr:
            if "listening" in line:
                return server
            said.append(line)
        raise AssertionError(f"the server did not start: {said}")

    def start(self, name: str, kind: str, program: str, *arguments: str) -> None:
        address = self.random.choice(list(self.servers))
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
                break  # it was killed in the middle
            with self.lock:
                try:
                    self.ledger.note(json.loads(line), time.time() * 1_000)
                except (AssertionError, KeyError, ValueError) as error:
                    self.failures.append(f"{name}: {line.strip()}: {error!r}")
        if process.wait() > 0:
            errors.seek(0)
            self.failures.append(f"{name} ended with {process.returncode}: {errors.read()[-2000:]}")

    def start_consumer(self, place: int) -> None:
        kind, mode = self.consumers[place]
        self.lives += 1
        # A consumer that is started again is another one.
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
            if self.redis:
                self.redis.kill()

    def live(self) -> None:
        # Groups come for as long as there are kills.
        seconds = self.kills * sum(LIFE) / 2
        groups = max(4, round(seconds * 4))
        for place, kind in enumerate(self.producers):
            name = f"p{place}"
            self.start(name, kind, "producer", name, str(groups), str(JOBS_PER_GROUP), str(seconds))
        for place in range(len(self.consumers)):
            self.start_consumer(place)
        for _ in range(self.kills):
            if self.failures:
                return
            time.sleep(self.random.uniform(*LIFE))
            self.disturb_consumer()
            with self.lock:
                self.ledger.kills.append(time.time() * 1_000)
            self.kill()
        end = time.monotonic() + 120 + seconds
        for place in range(len(self.producers)):
            process, reader = self.processes[f"p{place}"]
            process.wait(max(1, end - time.monotonic()))
            reader.join()
        self.close()
        for place in range(len(self.consumers)):
            process, reader = self.processes[f"consumer-{place}"]
            process.wait(90)
            reader.join()

    def kill(self) -> None:
        if self.redis and self.random.randrange(3) == 0:
            self.redis.restart()
            return
        address = self.random.choice(list(self.servers))
        self.servers[address].kill()
        self.servers[address].communicate()
        self.servers[address] = self.serve(address)

    def close(self) -> None:
        # A server that was killed last knows of no spread if nothing was left to submit.
        self.call("OpenSpread", {"spreadName": SPREAD, "spec": SPEC})
        closed = self.call("CloseSpread", {"spreadName": SPREAD, "maxWaitDuration": "20s"})
        if closed["description"]["state"] != "SPREAD_STATE_CLOSED":
            raise AssertionError(f"the spread is not closed: {closed}")

    def call(self, method: str, request: dict) -> dict:
        url = f"http://{next(iter(self.servers))}/offbeat.v1.NamedSpreadService/{method}"
        headers = {"content-type": "application/json"}
        body = json.dumps(request).encode()
        with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as answer:
            return json.load(answer)

    def report(self) -> list[str]:
        """Print the figures; return what is wrong."""
        ledger = self.ledger
        wrong = list(self.failures)
        for name in ("lost", "overlapping", "settled_twice"):
            found = getattr(ledger, name)()
            wrong += [f"{name}: {one}" for one in found[:5]]
            if len(found) > 5:
                wrong.append(f"{name}: {len(found)} in all")
        duplicates, outstanding = ledger.duplicates(), ledger.outstanding()
        if duplicates > outstanding:
            wrong.append(f"{duplicates} duplicates, and only {outstanding} jobs were outstanding")
        if ledger.dead_letters:
            wrong.append(f"{ledger.dead_letters} dead letters")
        jobs, leases = len(ledger.jobs()), sum(map(len, ledger.leases.values()))
        kinds = "+".join(self.producers), "+".join(kind for kind, _ in self.consumers)
        print(
            f"world {self.number} ({kinds[0]} to {kinds[1]}): {len(ledger.kills)} kills, "
            f"{jobs} jobs, {leases} leases, {self.lives} lives of consumers, "
            f"{duplicates} settled again of {outstanding} outstanding: "
            f"{'ok' if not wrong else 'FAILED'}",
            flush=True,
        )
        return [f"world {self.number}: {one}" for one in wrong]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--worlds", type=int, default=4)
    parser.add_argument("--languages", nargs="+", choices=COMMANDS, default=list(COMMANDS))
    parser.add_argument("--store", choices=["memory", "redis"], default="memory")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}", flush=True)
    share = -(-arguments.kills // arguments.worlds)
    worlds = [
        World(number, share, arguments.seed, arguments.languages, arguments.store == "redis")
        for number in range(arguments.worlds)
    ]
    threads = [threading.Thread(target=world.run) for world in worlds]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wrong = [one for world in worlds for one in world.report()]
    print("\n".join(wrong) or f"{share * len(worlds)} kills: nothing lost, nothing leased twice")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
