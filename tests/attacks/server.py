"""The server as a process: what it takes, and whether it lives."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import resource
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]
BINARY = Path(os.environ.get("OFFBEAT_BIN", ROOT / "target" / "release" / "offbeat"))
TICKS = os.sysconf("SC_CLK_TCK")
#: The kernel's word for "measure the peak anew".
FORGET_PEAK = "5"


def within(seconds: float, true: Callable[[], bool]) -> bool:
    """Whether something becomes true in time."""
    limit = time.monotonic() + seconds
    while not true():
        if time.monotonic() > limit:
            return False
        time.sleep(0.02)
    return True


class Server:
    """A sidecar on a free port of the loopback."""

    def __init__(self, *flags: str, files: int | None = None) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="offbeat-attacks-")
        self.log = Path(self.folder.name) / "log"
        command = [BINARY, "serve", "--listen", "127.0.0.1:0", "--admin-listen", "off", *flags]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        with contextlib.suppress(PermissionError):
            # Like its victim: what else runs on this machine is not what is measured.
            os.setpriority(os.PRIO_PROCESS, self.process.pid, -10)
        if files is not None:
            resource.prlimit(self.process.pid, resource.RLIMIT_NOFILE, (files, files))
        if not within(10, lambda: "listening" in self.logs() or not self.is_alive()):
            raise AssertionError("the server does not start")
        found = re.search(r"127\.0\.0\.1:(\d+)", self.logs())
        if found is None:
            raise AssertionError(f"the server did not start: {self.logs()}")
        self.port = int(found[1])
        self.proc = Path("/proc") / str(self.process.pid)

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self.process.poll() is None

    def logs(self) -> str:
        """All it has logged."""
        return self.log.read_text(errors="replace")

    def memory(self) -> int:
        """Resident bytes."""
        return self._status("VmRSS")

    def peak_memory(self) -> int:
        """The most resident bytes since :meth:`forget_peak`."""
        return self._status("VmHWM")

    def forget_peak(self) -> None:
        """Measures the peak anew."""
        (self.proc / "clear_refs").write_text(FORGET_PEAK)

    def _status(self, name: str) -> int:
        found = re.search(rf"{name}:\s+(\d+) kB", (self.proc / "status").read_text())
        if found is None:
            raise AssertionError(f"/proc tells no {name}")
        return int(found[1]) << 10

    def files(self) -> int:
        """Open file descriptors."""
        return len(os.listdir(self.proc / "fd"))

    def cpu_seconds(self) -> float:
        """CPU time of all its threads."""
        fields = (self.proc / "stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def cpu_share(self, seconds: float) -> float:
        """Of one core, over so long."""
        before, started = self.cpu_seconds(), time.monotonic()
        time.sleep(seconds)
        return (self.cpu_seconds() - before) / (time.monotonic() - started)

    def is_serving(self, seconds: float = 5) -> bool:
        """Whether it answers a health check on a new connection in time."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        try:
            sent = {"content-type": "application/json"}
            connection.request("POST", "/grpc.health.v1.Health/Check", "{}", sent)
            return json.load(connection.getresponse()).get("status") == "SERVING"
        except (OSError, http.client.HTTPException, ValueError):
            return False
        finally:
            connection.close()

    def stop(self) -> None:
        """Ends it, whatever it does."""
        if self.is_alive():
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(timeout=13)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(timeout=10)
        self.folder.cleanup()
