"""Runs the image with podman as in production: read-only, without capabilities, in 32 MB."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
import uuid
from pathlib import Path
from typing import Any

from support.ports import free_port

ROOT = Path(__file__).parents[2]
MEMORY = 32 << 20
USER = 65532
RESTRICTED = [
    *("--read-only", "--cap-drop", "all", "--security-opt", "no-new-privileges"),
    *("--memory", str(MEMORY), "--memory-swap", str(MEMORY)),
    # podman's default limits are refused on a machine that is itself a container.
    *("--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024"),
    *("--network", "host"),
]

Done = subprocess.CompletedProcess[str]


def run(*command: str | Path, timeout: float = 60, **variables: str) -> Done:
    """Run a command without input, and wait for its end."""
    return subprocess.run(
        [str(word) for word in command],
        cwd=ROOT,
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout,
    )


def checked(*command: str | Path, timeout: float = 60, **variables: str) -> str:
    done = run(*command, timeout=timeout, **variables)
    assert done.returncode == 0, f"{command} exited {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout.strip()


def podman(*arguments: str | Path, timeout: float = 60) -> str:
    return checked("podman", "--runtime", "runc", *arguments, timeout=timeout)


def what_is_missing() -> str | None:
    """Return why no container can run here. Tests then fail, since skipped tests prove nothing."""
    for tool, package in {"podman": "podman", "runc": "runc", "readelf": "binutils"}.items():
        if not shutil.which(tool):
            return f"there is no {tool}: apt-get install {package}"
    if os.geteuid() != 0:
        return "a limit on memory, and clients of other users, need root"
    return None


class Container:
    """A container that serves until the end of the block."""

    def __init__(self, image: str, *options: str, grace: int = 10, command: str = "serve") -> None:
        self.image = image
        self.options = options
        self.command = command
        self.grace = grace
        self.name = f"offbeat-test-{uuid.uuid4().hex[:8]}"
        self.address = f"127.0.0.1:{free_port()}"
        self.admin = f"127.0.0.1:{free_port()}"

    def __enter__(self) -> Container:
        variables = {
            "OFFBEAT_LISTEN": self.address,
            "OFFBEAT_ADMIN_LISTEN": self.admin,
            "OFFBEAT_GRACE_PERIOD": str(self.grace),
        }
        environment = [f"--env={name}={value}" for name, value in variables.items()]
        # The options come last, so that they can override variables.
        podman(
            *("run", "--detach", "--name", self.name, *RESTRICTED, *environment, *self.options),
            *(self.image, self.command),
        )
        deadline = time.monotonic() + 10
        while self.execute("/offbeat", "health").returncode != 0:
            assert time.monotonic() < deadline, f"it does not serve: {self.logs()}"
            time.sleep(0.05)
        return self

    def __exit__(self, *_: object) -> None:
        podman("rm", "--force", "--time", "0", self.name)

    def execute(self, *command: str) -> Done:
        return run("podman", "--runtime", "runc", "exec", self.name, *command)

    def inspect(self) -> dict[str, Any]:
        (answer,) = json.loads(podman("inspect", self.name))
        return answer

    def pid(self) -> int:
        return int(self.inspect()["State"]["Pid"])

    def status(self) -> dict[str, str]:
        """Return what the kernel says about the server's process."""
        lines = Path(f"/proc/{self.pid()}/status").read_text().splitlines()
        return {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}

    def logs(self) -> str:
        done = run("podman", "logs", self.name)
        return done.stdout + done.stderr
