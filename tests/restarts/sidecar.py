"""The server as a process that is started and told to end."""

from __future__ import annotations

import contextlib
import http.client
import os
import random
import re
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]
BINARY = Path(os.environ.get("OFFBEAT_BIN", ROOT / "target" / "release" / "offbeat"))
FIGURES: list[str] = []
PANIC = re.compile(r"panick|overflow|RUST_BACKTRACE")


def within(seconds: float, true: Callable[[], bool], pause: float = 0.01) -> bool:
    """Whether something becomes true in time."""
    limit = time.monotonic() + seconds
    while not true():
        if time.monotonic() > limit:
            return False
        time.sleep(pause)
    return True


def free_port() -> int:
    """A port on which nobody listens, below those that the kernel gives to clients.

    Out of the kernel's range, a client that connects while no server is there would sooner or later
    be given the port itself, and the next server could not have it.
    """
    lowest, _ = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()
    while True:  # until one is free
        port = random.randrange(10_000, max(int(lowest), 11_000))
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


def supported(*flags: str) -> tuple[str, ...]:
    """Those of the flags that the binary knows: some are constants in others."""
    shown = subprocess.run([BINARY, "serve", "--help"], capture_output=True, text=True, check=True)
    return tuple(flag for flag in flags if flag.partition("=")[0] in shown.stdout)


class Sidecar:
    """A server on a free port of the loopback, or where it is told."""

    def __init__(
        self, *flags: str, listen: str = "127.0.0.1:0", admin: str = "off", wait: bool = True
    ) -> None:
        self.listen, self.flags = listen, flags
        self.folder = tempfile.TemporaryDirectory(prefix="offbeat-restarts-")
        self.log = Path(self.folder.name) / "log"
        command = [BINARY, "serve", "--listen", listen, "--admin-listen", admin, *flags]
        with self.log.open("w") as log:
            self.begun = time.monotonic()
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        self.told = 0.0
        self.last_words = "metrics and probes" if admin != "off" else "listening"
        if wait:
            assert self.begins(), f"the server did not start: {self.logs()}"

    def begins(self) -> bool:
        """Whether it begins to listen; not if its address is taken."""
        return within(20, lambda: self.last_words in self.logs() or not self.is_alive()) and (
            self.is_alive()
        )

    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self.process.poll() is None

    def logs(self) -> str:
        """All it has logged."""
        return self.log.read_text(errors="replace")

    @property
    def port(self) -> int:
        """Of the first TCP listener."""
        return self._port("listening")

    @property
    def admin_port(self) -> int:
        """Of metrics and probes."""
        return self._port("metrics and probes")

    def _port(self, what: str) -> int:
        found = re.search(rf"{what}.*127\.0\.0\.1:(\d+)", self.logs())
        assert found is not None, self.logs()
        return int(found[1])

    def probe(self, path: str) -> tuple[int, str]:
        """What the admin port says."""
        return probe(self.admin_port, path)

    def gauge(self, name: str) -> int:
        """A metric: the sum of its series."""
        series = rf"^offbeat_{name}(?:\{{.*\}})? (\d+)"
        found = re.findall(series, self.probe("/metrics")[1], re.MULTILINE)
        assert found, f"there is no offbeat_{name}"
        return sum(map(int, found))

    def terminate(self, number: int = signal.SIGTERM) -> None:
        """Tells it to end."""
        self.told = time.monotonic()
        self.process.send_signal(number)

    def ended(self, seconds: float) -> tuple[int | None, float]:
        """Its exit code, if it ends in time, and how long that took since it was told."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(max(0.0, self.told + seconds - time.monotonic()))
        return self.process.poll(), time.monotonic() - self.told

    def discard(self) -> None:
        """Ends it, whatever it does."""
        if self.is_alive():
            self.process.kill()
        self.process.wait(timeout=10)
        self.folder.cleanup()


def probe(port: int, path: str) -> tuple[int, str]:
    """What an admin port says; status 0 if nobody answers."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        return response.status, response.read().decode()
    except OSError:
        return 0, ""
    finally:
        connection.close()
