"""A server of Redis of a test's own."""

from __future__ import annotations

import socket
import subprocess
import time
from pathlib import Path

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry


class RedisServer:
    """Listens on a free port, and keeps what the options say."""

    def __init__(self, folder: Path, *options: str) -> None:
        folder.mkdir()
        with socket.create_server(("127.0.0.1", 0)) as server:
            self.port = server.getsockname()[1]
        where = ["--bind", "127.0.0.1", "--port", str(self.port), "--dir", str(folder)]
        self._command = ["redis-server", *where, "--save", "", *options]
        self.start()

    def start(self) -> None:
        """Start it, and wait until it has read what it kept."""
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
        """Connect; calls that fail are not tried again."""
        return Redis(port=self.port, retry=Retry(NoBackoff(), 0))

    def kill(self) -> None:
        """End it without a goodbye."""
        self._process.kill()
        self._process.wait()
