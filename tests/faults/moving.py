"""Moves a spread under load from memory to Redis and back, and keeps a ledger.

``python3 tests/faults/moving.py``: one server, with producers that wait and consumers in three
languages. It is stopped, and started with another store at the same address, as
docs/spread-stores.md says: from memory into Redis, into another Redis by replication, and back.
In between the Redis is emptied by FLUSHALL. Nothing may be lost or leased twice, and no program may
fail; as at a restart, a job is done again if its producer has not heard that it was settled.
"""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Callable

from load import BINARY, Load, Server, Service
from run import Redis, free_port

#: Seconds between two moves: a lease is one, and so is the wait for leases of before.
PAUSE = 2.5


def cli(redis: Redis, *words: str) -> str:
    command = ["redis-cli", "-s", redis.socket, *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def copy(redis: Redis, other: Redis) -> None:
    """Copy all data, while no server runs."""
    port = str(free_port())
    cli(redis, "config", "set", "port", port, "repl-diskless-sync-delay", "0")
    cli(other, "replicaof", "127.0.0.1", port)
    end = time.monotonic() + 20
    while "master_link_status:up" not in cli(other, "info", "replication"):
        if time.monotonic() > end:
            raise AssertionError("the other Redis has no copy")
        time.sleep(0.05)
    cli(other, "replicaof", "no", "one")


class Moving:
    """A server whose store changes, under load."""

    def __init__(self) -> None:
        self.redis, self.other = Redis(), Redis()
        self.load = Load(Service())
        self.server = self.serve([])

    def serve(self, store: list[str]) -> Server:
        server = Server(BINARY, *store)
        self.load.service.ready = [server.address]
        return server

    def stop(self) -> None:
        self.server.process.terminate()
        status = self.server.process.wait(20)
        if status:
            self.load.failures.append(f"the server ended with {status}: {self.server.said()}")

    def note_loss(self) -> None:
        with self.load.lock:
            self.load.ledger.kills.append(time.time() * 1_000)

    def move(self, store: list[str], between: Callable[[], None] = lambda: None) -> None:
        self.stop()
        self.note_loss()
        between()
        self.server = self.serve(store)
        time.sleep(PAUSE)

    def run(self) -> None:
        try:
            self.live()
        except Exception as error:  # it is reported
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
        self.move(self.redis.flags())
        self.note_loss()
        cli(self.redis, "flushall")
        self.note_loss()
        time.sleep(PAUSE)
        self.move(self.other.flags(), lambda: copy(self.redis, self.other))
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
