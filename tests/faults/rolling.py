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
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
from collections import Counter
from pathlib import Path

# A program does not have the path of pytest.ini.
sys.path.insert(0, str(Path(__file__).parents[1]))

from engines import ALWAYS, Redis
from load import PROBE, Load, Server, Service
from world import BINARY, ROOT, SPREAD

MANIFESTS = ROOT / "deploy" / "kubernetes"
#: Seconds from SIGTERM on in which new connections still come: each node has to hear of it.
PROPAGATION = 1.0


def of_manifests(file: str, pattern: str) -> int:
    """A number of the manifests."""
    (found,) = re.findall(pattern, (MANIFESTS / file).read_text())
    return int(found)


REPLICAS = of_manifests("named-spreads-redis/deployment.yaml", r"replicas: (\d+)")
DRAIN_DELAY = of_manifests("standalone/deployment.yaml", r'_DRAIN_DELAY, value: "(\d+)"')
KILLED_AFTER = of_manifests("standalone/deployment.yaml", r"terminationGracePeriodSeconds: (\d+)")


class Rolling:
    """Servers that are replaced under load."""

    def __init__(self, rollouts: int, groups_per_second: float, old: Path | None) -> None:
        self.rollouts, self.old = rollouts, old
        self.groups_per_second = groups_per_second
        self.folder = tempfile.TemporaryDirectory(prefix="offbeat-")
        self.redis = Redis(Path(self.folder.name), ALWAYS)
        self.redis.start()
        self.flags = ["--spread-store", f"redis+unix://{self.redis.socket}"]
        self.flags += ["--drain-delay", str(DRAIN_DELAY)]
        self.load = Load(Service())
        self.servers: list[Server] = []
        self.enders: list[threading.Thread] = []
        self.calls: Counter[str] = Counter()
        self.seconds_to_end: list[float] = []
        self.done = threading.Event()

    def add_server(self, binary: Path) -> None:
        server = Server(binary, *self.flags)
        self.servers.append(server)
        self.load.service.ready.append(server.address)

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
        self.load.service.ready.remove(server.address)
        try:
            status = server.process.wait(KILLED_AFTER - PROPAGATION)
        except subprocess.TimeoutExpired:
            server.process.kill()
            status = f"none {KILLED_AFTER} s after SIGTERM"
        self.seconds_to_end.append(time.monotonic() - begun)
        if status != 0:
            self.load.failures.append(f"a server ended with status {status}: {server.said()}")

    def ask_again_and_again(self) -> None:
        while not self.done.wait(0.02):
            try:
                self.load.call("DescribeSpread", {"spreadName": SPREAD})
                self.calls["answered"] += 1
            except urllib.error.HTTPError as error:
                self.calls["refused"] += 1
                # Servers of an older release leave what a newer one has changed alone.
                if not self.old or error.code != 503:
                    self.load.failures.append(f"DescribeSpread: {error}: {error.read()!r}")
            except OSError as error:
                self.load.failures.append(f"DescribeSpread: {error!r}")

    def run(self) -> None:
        try:
            self.live()
        except Exception as error:  # reported by the main thread
            self.load.failures.append(repr(error))
        finally:
            self.done.set()
            self.load.kill()
            for server in self.servers:
                server.process.kill()
            for ender in self.enders:
                ender.join()
            self.redis.kill()

    def live(self) -> None:
        for _ in range(REPLICAS):
            self.add_server(self.old or BINARY)
        # About as long as it takes.
        self.load.begin(self.rollouts * REPLICAS + DRAIN_DELAY, self.groups_per_second)
        self.load.await_open()
        asking = threading.Thread(target=self.ask_again_and_again)
        asking.start()
        for _ in range(self.rollouts):
            for server in list(self.servers):
                self.replace(server)
                time.sleep(random.uniform(0, 1))
        for ender in self.enders:
            ender.join()
        self.load.await_settled()
        self.done.set()
        asking.join()
        self.load.close()

    def report(self) -> list[str]:
        """Print the figures, and return the violations."""
        wrong, taken = self.load.report(), self.load.service.taken
        unused = [each.address for each in self.servers if not taken[each.address]]
        if unused:
            wrong.append(f"servers that nobody called: {unused}")
        if not self.seconds_to_end:
            return [*wrong, "no server was replaced"]
        print(
            f"{len(self.seconds_to_end)} servers replaced; each ended "
            f"{min(self.seconds_to_end):.1f} to {max(self.seconds_to_end):.1f} s after SIGTERM\n"
            f"{sum(taken.values())} connections; {self.calls['answered']} calls, not tried again, "
            f"were answered, and {self.calls['refused']} refused"
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
