"""The server as a process: its addresses, its resources, its logs and metrics."""

from __future__ import annotations

import contextlib
import json
import os
import re
import resource
import signal
import subprocess
import tempfile
import urllib.request
from pathlib import Path

from .waiting import within

ROOT = Path(__file__).parents[2]
BINARY = Path(os.environ.get("OFFBEAT_BIN", ROOT / "target" / "release" / "offbeat"))
#: The server must not inherit the settings of the person who runs the tests.
ENVIRONMENT = {name: value for name, value in os.environ.items() if "OFFBEAT" not in name}
TICKS = os.sysconf("SC_CLK_TCK")
MIB = 1 << 20
#: Written to `clear_refs`, resets the peak of resident memory.
FORGET_PEAK = "5"


class Server:
    """A server on a free port of the loopback, with its admin port and a folder of its own."""

    #: The flags of its log, which :meth:`addresses` reads.
    log_flags: tuple[str, ...] = ("--log-format", "json")

    def __init__(
        self,
        *flags: str,
        listen: str = "127.0.0.1:0",
        admin: str = "127.0.0.1:0",
        variables: dict[str, str] | None = None,
        binary: Path = BINARY,
        priority: int = -10,
        files: int | None = None,
    ) -> None:
        """Starts it.

        By default it has a higher priority, so that other processes do not affect the
        measurements; ``priority=0`` leaves it as it is. ``files`` limits its file descriptors.
        """
        self.binary = binary
        self._folder = tempfile.TemporaryDirectory(prefix="offbeat-tests-")
        self.folder = Path(self._folder.name)
        self.log = self.folder / "log"
        command = [binary, "serve", "--listen", listen, "--admin-listen", admin]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [*command, *self.log_flags, *flags],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                env={**ENVIRONMENT, **(variables or {})},
            )
        if files is not None:
            resource.prlimit(self.process.pid, resource.RLIMIT_NOFILE, (files, files))
        if priority:
            with contextlib.suppress(PermissionError):
                os.setpriority(os.PRIO_PROCESS, self.process.pid, priority)
        self.proc = Path("/proc") / str(self.process.pid)
        wanted = listen.count(",") + 1 + (admin != "off")
        within(10, lambda: len(self.addresses()) == wanted or not self.is_alive())
        if len(self.addresses()) != wanted or not self.is_alive():
            how = "answers nowhere" if self.is_alive() else "did not start"
            said = self.text()
            self.kill()
            raise AssertionError(f"the server {how}: {said}")
        *self.listening, self.admin = [*self.addresses(), *([""] if admin == "off" else [])]
        self.address = self.listening[0]
        tcp = [address for address in self.listening if not address.startswith("unix:")]
        self.port = int(tcp[0].rsplit(":", 1)[1]) if tcp else 0
        is_tcp = self.admin and not self.admin.startswith("unix:")
        self.admin_port = int(self.admin.rsplit(":", 1)[1]) if is_tcp else 0

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def text(self) -> str:
        return self.log.read_text(errors="replace")

    def lines(self) -> list[dict]:
        """The same, line by line."""
        return [json.loads(line) for line in self.text().split("\n")[:-1] if line[:1] == "{"]

    def addresses(self) -> list[str]:
        """The addresses that it has logged, in the order of its listeners."""
        return [line["address"] for line in self.lines() if "address" in line]

    def is_alive(self) -> bool:
        return self.process.poll() is None

    def memory(self) -> int:
        """Resident memory, in bytes."""
        return self.status("VmRSS")

    def peak_memory(self) -> int:
        """The peak of resident memory since :meth:`forget_peak`, in bytes."""
        return self.status("VmHWM")

    def forget_peak(self) -> None:
        """Resets the peak of resident memory."""
        (self.proc / "clear_refs").write_text(FORGET_PEAK)

    def status(self, name: str) -> int:
        """A number of bytes from /proc."""
        found = re.search(rf"^{name}:\s+(\d+) kB", (self.proc / "status").read_text(), re.M)
        assert found, f"/proc has no {name}"
        return int(found[1]) << 10

    def cpu_seconds(self) -> float:
        """CPU time of all its threads, including those that have ended."""
        fields = (self.proc / "stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def files(self) -> int:
        """The number of open file descriptors."""
        return len(os.listdir(self.proc / "fd"))

    def look(self, path: str, timeout: float = 5) -> str:
        """The body of the admin port's answer."""
        with urllib.request.urlopen(f"http://{self.admin}{path}", timeout=timeout) as answer:
            return answer.read().decode()

    def metric(self, name: str, **labels: str) -> float:
        """The sum of the series of a metric that have these labels; 0 if there are none."""
        total = 0.0
        for line in self.look("/metrics").splitlines():
            found = re.fullmatch(rf"{name}(?:\{{(.*)\}})? (\S+)", line)
            if found and all(
                f'{key}="{value}"' in (found[1] or "") for key, value in labels.items()
            ):
                total += float(found[2])
        return total

    def health(self, address: str | None = None, seconds: float = 10) -> str | None:
        """The error of `offbeat health`, or None if the server is healthy."""
        command = [self.binary, "health", "--address", address or self.address]
        try:
            done = subprocess.run(
                command, env=ENVIRONMENT, timeout=seconds, capture_output=True, text=True
            )
        except subprocess.TimeoutExpired:
            return f"no answer in {seconds} s"
        return None if done.returncode == 0 else done.stderr + done.stdout

    def kill(self) -> None:
        """Kills it with SIGKILL."""
        self.process.kill()
        self.process.wait(timeout=10)
        self._folder.cleanup()

    def stop(self) -> None:
        """Stops it with SIGTERM, as supervisors do."""
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout=12)
        except subprocess.TimeoutExpired:
            pass
        finally:
            self.process.kill()
            self.process.wait(timeout=10)
            self._folder.cleanup()
