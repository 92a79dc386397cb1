"""A Redis server for one test."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry
from support.ports import free_port


class RedisServer:
    """A Redis on a free port, with persistence by the options."""

    def __init__(self, folder: Path, *options: str) -> None:
        folder.mkdir()
        self.port = free_port()
        where = ["--bind", "127.0.0.1", "--port", str(self.port), "--dir", str(folder)]
        self._command = ["redis-server", *where, "--save", "", *options]
        self.start()

    def start(self) -> None:
        """Start it, and wait until it has loaded its data."""
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 30
        while True:
            try:
                self.client().ping()
                return
            except RedisError:
                assert time.monotonic() < deadline
                assert self._process.poll() is None
                time.sleep(0.05)

    def client(self) -> Redis:
        """Connect, without retries."""
        return Redis(port=self.port, retry=Retry(NoBackoff(), 0))

    def kill(self) -> None:
        """Kill it with SIGKILL."""
        self._process.kill()
        self._process.wait()
