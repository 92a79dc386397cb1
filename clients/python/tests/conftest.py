"""A real sidecar for the tests and for the examples of the documentation."""

from __future__ import annotations

import itertools
import os
import random
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, timedelta
from pathlib import Path

import pytest

import offbeat

ROOT = Path(__file__).parents[3]
VECTORS = ROOT / "tests" / "vectors"
SCHEDULES = Path(__file__).with_name("schedules.toml")
_numbers = itertools.count()
#: The seed of random tests: another one each day.
SALT = os.environ.get("OFFBEAT_SALT") or date.today().isoformat()
BINARY = Path(os.environ.get("OFFBEAT_BIN", ROOT / "target" / "debug" / "offbeat"))


def pytest_report_header() -> str:
    return f"OFFBEAT_SALT={SALT}"


def free_port() -> int:
    """Return a free port below the ephemeral range, so that no outgoing connection takes it.

    Independent of the random seed: suites that run at the same time may have set the same one.
    """
    while True:
        port = random.SystemRandom().randrange(10_000, 32_000)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


def state(stat: Path) -> str:
    """Return the letter of a thread's state, which follows a name that may contain anything."""
    return stat.read_text().rpartition(")")[2].split()[0]


def run_python(code: str, *arguments: str, timeout: float = 60) -> str:
    """Run code in a new interpreter, and return its output."""
    done = subprocess.run(
        [sys.executable, "-W", "error::ResourceWarning", "-c", textwrap.dedent(code), *arguments],
        env={name: value for name, value in os.environ.items() if not name.startswith("GRPC_")},
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


class Sidecar:
    """A server process that answers health checks."""

    def __init__(self, listen: str, *flags: str | Path, admin: str = "off") -> None:
        self.address = listen.split(",")[0]
        self.process = subprocess.Popen(
            [BINARY, "serve", "--listen", listen, "--admin-listen", admin, *flags],
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stderr is not None
        line = self.process.stderr.readline()
        assert "listening" in line, line

    def freeze(self) -> None:
        """Stop it, and wait until each thread has stopped: one could still answer a call."""
        self.process.send_signal(signal.SIGSTOP)
        deadline = time.monotonic() + 10
        threads = Path(f"/proc/{self.process.pid}/task")
        while {state(thread) for thread in threads.glob("*/stat")} != {"T"}:
            assert time.monotonic() < deadline, "it still runs"
            time.sleep(0.001)

    def stop(self) -> int:
        self.process.terminate()
        _, logs = self.process.communicate(timeout=20)
        assert "panic" not in logs, logs
        return self.process.returncode


@pytest.fixture(scope="session")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sidecar]:
    running = Sidecar(f"127.0.0.1:{free_port()}", "--schedules", SCHEDULES)
    yield running
    assert running.stop() == 0


@pytest.fixture(scope="session", autouse=True)
def _address(sidecar: Sidecar) -> Iterator[None]:
    before = os.environ.get("OFFBEAT_ADDRESS")
    os.environ["OFFBEAT_ADDRESS"] = sidecar.address
    yield
    if before is None:
        del os.environ["OFFBEAT_ADDRESS"]
    else:
        os.environ["OFFBEAT_ADDRESS"] = before


@pytest.fixture(autouse=True)
def _patience(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the README's examples time: plans of lanes are simulated, which can take seconds."""
    if request.path.name == "README.md":
        monkeypatch.setenv("OFFBEAT_TIMEOUT", "60")


@pytest.fixture(scope="module")
def client() -> Iterator[offbeat.Client]:
    with offbeat.Client() as client:
        yield client


@pytest.fixture
def spread(client: offbeat.Client) -> Iterator[offbeat.NamedSpread]:
    """Return a named spread with leases of a second, for one test alone."""
    name = f"test-{next(_numbers)}"
    spread = client.named_spread(name, 3, lease_duration=timedelta(seconds=1))
    yield spread
    spread.discard()
