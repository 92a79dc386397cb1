"""The server with default settings, and the resources that it uses."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from pathlib import Path

from support.server import BINARY, ENVIRONMENT, ROOT, Server

#: The binary of the image, which `deploy/image/prepare.sh` builds.
STATIC = Path(os.environ.get("OFFBEAT_STATIC_BIN", ROOT / "target" / "image" / "offbeat"))
#: The unit of the budgets: a megabyte, not a mebibyte.
MB = 1_000_000
FIGURES: list[str] = []


def note(what: str, value: float, unit: str, allowed: float | None = None) -> None:
    """Adds a figure to the table."""
    limit = "" if allowed is None else f"  (at most {allowed:,.0f})"
    FIGURES.append(f"{what:58} {value:10,.2f} {unit}{limit}")


class Sidecar(Server):
    """A server whose figures are measured without a raised priority."""

    def __init__(self, *flags: str, binary: Path = BINARY) -> None:
        super().__init__(*flags, binary=binary, priority=0)

    def megabytes(self) -> float:
        """Resident memory, its program and libraries included, in MB."""
        return self.memory() / MB

    def probe(self) -> None:
        """Makes the regular requests of Kubernetes and Prometheus."""
        command = [self.binary, "health", "--address", self.address]
        subprocess.run(command, check=True, env=ENVIRONMENT, timeout=10)
        self.look("/readyz")
        self.look("/metrics")

    def stop(self) -> None:
        """Stops it with SIGTERM, and fails if that is not enough."""
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout=15)
        finally:
            self.process.kill()
            self._folder.cleanup()
