"""Moves a spread under load from memory to Redis and back, and keeps a ledger.

``python3 tests/faults/moving.py``: one server, with producers that wait and consumers in three
languages. The server is stopped, and started with another store at the same address, as
docs/spread-stores.md says: from memory into Redis, into another Redis by replication, and back.
In between FLUSHALL empties the Redis. Nothing may be lost or leased twice, and no program may
fail. As after a restart, a job runs again if its producer has not seen its settlement.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

# A program does not have the path of pytest.ini.
sys.path.insert(0, str(Path(__file__).parents[1]))

from engines import ALWAYS, Redis
from load import Load, Server, Service
from support.ports import free_port
from support.waiting import wait_until
from world import BINARY

#: Seconds between two moves: a lease takes one, and so does the wait for earlier leases.
PAUSE = 2.5


def copy(redis: Redis, other: Redis) -> None:
    """Copy all data, while no server runs."""
    other.command("REPLICAOF", "127.0.0.1", str(redis.port))
    has_copy = lambda: "master_link_status:up" in other.command("INFO", "replication")  # noqa: E731
    wait_until(60, has_copy, "the other Redis has a copy")
    other.command("REPLICAOF", "NO", "ONE")


def store(redis: Redis) -> list[str]:
    return ["--spread-store", f"redis+unix://{redis.socket}"]


class Moving:
    """A server whose store changes, under load."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="offbeat-")
        at_once = (*ALWAYS, "--repl-diskless-sync-delay", "0")
        first, second = Path(self.folder.name, "first"), Path(self.folder.name, "second")
        self.redis = Redis(first, at_once, port=free_port())
        self.other = Redis(second, at_once, port=free_port())
        self.redis.start()
        self.other.start()
        self.load = Load(Service())
        self.server = self.serve([])

    def serve(self, flags: list[str]) -> Server:
        server = Server(BINARY, *flags)
        self.load.service.ready = [server.address]
        return server

    def stop(self) -> None:
        self.server.process.terminate()
        status = self.server.process.wait(20)
        if status:
            self.load.failures.append(f"the server ended with {status}: {self.server.said()}")

    @contextlib.contextmanager
    def disturbance(self) -> Iterator[None]:
        begin = time.time() * 1_000
        yield
        with self.load.lock:
            self.load.ledger.disturbances.append((begin, time.time() * 1_000))

    def move(self, flags: list[str], between: Callable[[], None] = lambda: None) -> None:
        with self.disturbance():
            self.stop()
            between()
            self.server = self.serve(flags)
        time.sleep(PAUSE)

    def run(self) -> None:
        try:
            self.live()
        except Exception as error:  # reported by the main thread
            self.load.failures.append(repr(error))
        finally:
            self.load.kill()
            self.server.process.kill()
            self.redis.kill()
            self.other.kill()

    def live(self) -> None:
        self.load.begin(4 * PAUSE, groups_per_second=4)
        self.load.await_open()
        time.sleep(PAUSE)
        self.move(store(self.redis))
        with self.disturbance():
            self.redis.command("FLUSHALL")
        time.sleep(PAUSE)
        self.move(store(self.other), lambda: copy(self.redis, self.other))
        self.move([])
        self.load.await_settled()
        self.load.close()


def main() -> int:
    moving = Moving()
    moving.run()
    wrong = moving.load.report()
    print("\n".join(wrong) or "moved: nothing lost, nothing leased twice, no call failed for good")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
