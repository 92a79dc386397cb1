"""The server as a process that is started and shut down."""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from support.waiting import within

ROOT = Path(__file__).parents[2]
BINARY = Path(os.environ.get("OFFBEAT_BIN", ROOT / "target" / "release" / "offbeat"))
FIGURES: list[str] = []
PANIC = re.compile(r"panick|overflow|RUST_BACKTRACE")


def supported(*flags: str) -> tuple[str, ...]:
    """The flags that the binary supports: older releases have constants instead."""
    shown = subprocess.run([BINARY, "serve", "--help"], capture_output=True, text=True, check=True)
    return tuple(flag for flag in flags if flag.partition("=")[0] in shown.stdout)


class Sidecar:
    """A server on a free port of the loopback, or at a given address."""

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
        """Whether it starts to listen, which fails if its address is taken."""
        return within(20, lambda: self.last_words in self.logs() or not self.is_alive()) and (
            self.is_alive()
        )

    def is_alive(self) -> bool:
        return self.process.poll() is None

    def logs(self) -> str:
        return self.log.read_text(errors="replace")

    @property
    def port(self) -> int:
        """The port of the first TCP listener."""
        return self._port("listening")

    @property
    def admin_port(self) -> int:
        """The port of metrics and probes."""
        return self._port("metrics and probes")

    def _port(self, what: str) -> int:
        found = re.search(rf"{what}.*127\.0\.0\.1:(\d+)", self.logs())
        assert found is not None, self.logs()
        return int(found[1])

    def probe(self, path: str) -> tuple[int, str]:
        """Status and body of the admin port's answer."""
        return probe(self.admin_port, path)

    def gauge(self, name: str) -> int:
        """A metric: the sum of its series."""
        series = rf"^offbeat_{name}(?:\{{.*\}})? (\d+)"
        found = re.findall(series, self.probe("/metrics")[1], re.MULTILINE)
        assert found, f"there is no offbeat_{name}"
        return sum(map(int, found))

    def terminate(self, number: int = signal.SIGTERM) -> None:
        self.told = time.monotonic()
        self.process.send_signal(number)

    def ended(self, seconds: float) -> tuple[int | None, float]:
        """Its exit code, if it ends in time, and the seconds since the signal."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(max(0.0, self.told + seconds - time.monotonic()))
        return self.process.poll(), time.monotonic() - self.told

    def discard(self) -> None:
        """Kills it if it still runs."""
        if self.is_alive():
            self.process.kill()
        self.process.wait(timeout=10)
        self.folder.cleanup()


def probe(port: int, path: str) -> tuple[int, str]:
    """Status and body of an admin port's answer; status 0 without an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        return response.status, response.read().decode()
    except OSError:
        return 0, ""
    finally:
        connection.close()
