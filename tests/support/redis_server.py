"""A Redis server for tests."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from .ports import free_port
from .waiting import wait_until

if TYPE_CHECKING:
    from redis import Redis


class RedisServer:
    """A Redis on a free port, with persistence by the options."""

    def __init__(self, folder: Path, *options: str) -> None:
        folder.mkdir()
        self.port = free_port()
        where = ["--bind", "127.0.0.1", "--port", str(self.port), "--dir", str(folder)]
        self._command = ["redis-server", *where, "--save", "", *options]
        self.start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        """Start it, and wait until it has loaded its data."""
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL)
        wait_until(30, self._answers, "Redis answers", pause=0.05)

    def _answers(self) -> bool:
        assert self._process.poll() is None
        try:
            with socket.create_connection(("127.0.0.1", self.port), 1) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(64) == b"+PONG\r\n"
        except OSError:
            return False

    def client(self) -> Redis:
        """Connect, without retries."""
        # Imported late: some environments have the server alone.
        from redis import Redis
        from redis.backoff import NoBackoff
        from redis.retry import Retry

        return Redis(port=self.port, retry=Retry(NoBackoff(), 0))

    def kill(self) -> None:
        """Kill it with SIGKILL."""
        self._process.kill()
        self._process.wait()
