"""The server as a process: the resources that it uses, and whether it is alive."""

from __future__ import annotations

import http.client
import json
import os
import re
import resource
import subprocess
import tempfile
import time
from pathlib import Path

from support.waiting import within

ROOT = Path(__file__).parents[2]
BINARY = Path(os.environ.get("OFFBEAT_BIN", ROOT / "target" / "release" / "offbeat"))
TICKS = os.sysconf("SC_CLK_TCK")
#: Written to ``clear_refs``, resets the peak of resident memory (proc_pid_clear_refs(5)).
RESET_PEAK = "5"
#: The server must not inherit the variables that configure the tests.
ENVIRONMENT = {name: value for name, value in os.environ.items() if "OFFBEAT" not in name}


class Server:
    """A sidecar on free ports of the loopback."""

    def __init__(self, *flags: str, files: int | None = None) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="offbeat-attacks-")
        self.log = Path(self.folder.name) / "log"
        local = "127.0.0.1:0"
        command = [BINARY, "serve", "--listen", local, "--admin-listen", local, *flags]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=ENVIRONMENT
            )
        if files is not None:
            resource.prlimit(self.process.pid, resource.RLIMIT_NOFILE, (files, files))
        known = lambda: self._port("listening") and self._port("metrics and probes")  # noqa: E731
        if not within(10, lambda: bool(known()) or not self.is_alive()) or not known():
            raise AssertionError(f"the server did not start: {self.logs()}")
        self.port, self.admin_port = self._port("listening"), self._port("metrics and probes")
        self.proc = Path("/proc") / str(self.process.pid)

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def is_alive(self) -> bool:
        return self.process.poll() is None

    def logs(self) -> str:
        return self.log.read_text(errors="replace")

    def _port(self, what: str) -> int:
        found = re.search(rf"{what}.*127\.0\.0\.1:(\d+)", self.logs())
        return int(found[1]) if found else 0

    def memory(self) -> int:
        """Resident memory, in bytes."""
        return self._status("VmRSS")

    def peak_memory(self) -> int:
        """The peak of resident memory since :meth:`forget_peak`, in bytes."""
        return self._status("VmHWM")

    def forget_peak(self) -> None:
        """Resets the peak of resident memory."""
        (self.proc / "clear_refs").write_text(RESET_PEAK)

    def _status(self, name: str) -> int:
        found = re.search(rf"{name}:\s+(\d+) kB", (self.proc / "status").read_text())
        if found is None:
            raise AssertionError(f"/proc tells no {name}")
        return int(found[1]) << 10

    def files(self) -> int:
        """The number of open file descriptors."""
        return len(os.listdir(self.proc / "fd"))

    def cpu_seconds(self) -> float:
        """CPU time of all its threads, in seconds."""
        fields = (self.proc / "stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def cpu_share(self, seconds: float) -> float:
        """The share of one core that it uses, measured over `seconds`."""
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
        """Kills it; ``tests/restarts`` covers the graceful shutdown."""
        self.process.kill()
        self.process.wait(timeout=10)
        self.folder.cleanup()
