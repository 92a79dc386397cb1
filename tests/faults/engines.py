"""Processes of Redis and Sentinel, or of Valkey if ``OFFBEAT_REDIS_SERVER`` names it."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

from support.ports import free_port
from support.waiting import wait_until

PROGRAM = os.environ.get("OFFBEAT_REDIS_SERVER", "redis-server")
#: Each change is on disk before it is answered.
ALWAYS = ("--appendonly", "yes", "--appendfsync", "always")


class Redis:
    """A Redis with a folder of its own, on a Unix socket, and on a port if it has one."""

    def __init__(
        self,
        folder: Path,
        flags: tuple[str, ...] = (),
        port: int = 0,
        environment: dict[str, str] | None = None,
    ) -> None:
        folder.mkdir(exist_ok=True)
        self.folder, self.flags, self.port = folder, flags, port
        self.environment = environment or {}
        self.socket = folder / "redis.sock"
        self.process: subprocess.Popen | None = None

    def store(self) -> list[str]:
        """The servers' flags for this store."""
        return ["--spread-store", f"redis+unix://{self.socket}"]

    def start(self, *more: str) -> None:
        """Start it, with what it wrote, and wait until it answers."""
        flags = ["--bind", "127.0.0.1", "--port", str(self.port), "--dir", str(self.folder)]
        flags += ["--unixsocket", str(self.socket), "--logfile", str(self.folder / "log")]
        command = [PROGRAM, *flags, "--save", "", *self.flags, *more]
        self.process = subprocess.Popen(
            command, env=os.environ | self.environment, stdout=subprocess.DEVNULL
        )
        answers = lambda: self.command("PING") == "PONG"  # noqa: E731
        wait_until(60, answers, "redis-server answers", pause=0.02)

    def command(self, *words: str) -> str:
        """The answer to a command, as redis-cli prints it."""
        return ask(["-s", str(self.socket)], *words)

    def kill(self) -> None:
        if self.process:
            self.process.kill()
            self.process.wait()

    def restart(self, *more: str) -> None:
        self.kill()
        self.start(*more)

    def pause(self, seconds: float) -> None:
        self.process.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        self.process.send_signal(signal.SIGCONT)

    def append_only_file(self) -> Path | None:
        """The file to which changes are written."""
        files = (self.folder / "appendonlydir").glob("*.incr.aof")
        return max(files, key=lambda file: int(file.name.split(".")[-3]), default=None)


class Sentinel:
    """A Sentinel that watches a primary under the name ``offbeat``."""

    def __init__(self, folder: Path, primary: int) -> None:
        folder.mkdir()
        self.port = free_port()
        configuration = folder / "sentinel.conf"
        configuration.write_text(
            f"bind 127.0.0.1\nport {self.port}\ndir {folder}\nlogfile {folder}/log\n"
            f"sentinel monitor offbeat 127.0.0.1 {primary} 2\n"
            "sentinel down-after-milliseconds offbeat 1500\n"
            "sentinel failover-timeout offbeat 5000\n"
        )
        command = [PROGRAM, str(configuration), "--sentinel"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        answers = lambda: ask(["-p", str(self.port)], "PING") == "PONG"  # noqa: E731
        wait_until(60, answers, "the Sentinel answers")

    def command(self, *words: str) -> str:
        """The answer to a command, as redis-cli prints it."""
        return ask(["-p", str(self.port)], "SENTINEL", *words)

    def primary(self) -> int:
        """The port of the primary that this Sentinel knows."""
        return int(self.command("GET-MASTER-ADDR-BY-NAME", "offbeat").split()[-1])

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def ask(where: list[str], *words: str) -> str:
    done = subprocess.run(
        ["redis-cli", *where, *words], capture_output=True, text=True, check=False
    )
    return done.stdout.strip()
