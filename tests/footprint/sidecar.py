"""The server with default settings, and the resources that it uses."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import tempfile
import urllib.request
from pathlib import Path

from support.waiting import within

ROOT = Path(__file__).parents[2]
BINARY = Path(os.environ.get("OFFBEAT_BIN", ROOT / "target" / "release" / "offbeat"))
#: The binary of the image, which `deploy/image/prepare.sh` builds.
STATIC = Path(os.environ.get("OFFBEAT_STATIC_BIN", ROOT / "target" / "image" / "offbeat"))
#: The server must not inherit the variables that configure the tests.
ENVIRONMENT = {name: value for name, value in os.environ.items() if "OFFBEAT" not in name}
#: The unit of the budgets: a megabyte, not a mebibyte.
MB = 1_000_000
FIGURES: list[str] = []


def note(what: str, value: float, unit: str, allowed: float | None = None) -> None:
    """Adds a figure to the table."""
    limit = "" if allowed is None else f"  (at most {allowed:,.0f})"
    FIGURES.append(f"{what:58} {value:10,.2f} {unit}{limit}")


class Sidecar:
    """A server on free ports of the loopback, with its admin port."""

    def __init__(self, *flags: str, binary: Path = BINARY) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="offbeat-footprint-")
        self.log = Path(self.folder.name) / "log"
        self.binary = binary
        command = [binary, "serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [*command, "--log-format", "json", *flags],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                env=ENVIRONMENT,
            )
        self.proc = Path("/proc") / str(self.process.pid)
        assert within(10, lambda: len(self.addresses()) == 2 or not self.is_alive())
        assert self.is_alive(), self.lines()
        self.address, self.admin = self.addresses()
        self.port = int(self.address.rsplit(":", 1)[1])

    def __enter__(self) -> Sidecar:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def lines(self) -> list[dict]:
        return [json.loads(line) for line in self.log.read_text().split("\n")[:-1]]

    def addresses(self) -> list[str]:
        """The addresses that it has logged, in the order of its listeners."""
        return [line["address"] for line in self.lines() if "address" in line]

    def is_alive(self) -> bool:
        return self.process.poll() is None

    def status(self, name: str) -> int:
        """A number of bytes from /proc."""
        found = re.search(rf"^{name}:\s+(\d+) kB", (self.proc / "status").read_text(), re.M)
        assert found, f"/proc has no {name}"
        return int(found[1]) << 10

    def memory(self) -> float:
        """Resident memory, its program and libraries included, in MB."""
        return self.status("VmRSS") / MB

    def files(self) -> int:
        """The number of open file descriptors."""
        return len(os.listdir(self.proc / "fd"))

    def look(self, path: str) -> str:
        """The body of the admin port's answer."""
        with urllib.request.urlopen(f"http://{self.admin}{path}", timeout=5) as answer:
            return answer.read().decode()

    def probe(self) -> None:
        """Makes the regular requests of Kubernetes and Prometheus."""
        command = [self.binary, "health", "--address", self.address]
        subprocess.run(command, check=True, env=ENVIRONMENT, timeout=10)
        self.look("/readyz")
        self.look("/metrics")

    def stop(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout=15)
        finally:
            self.process.kill()
            self.folder.cleanup()
