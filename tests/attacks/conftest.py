"""Servers under attack, and the figures of all attacks after the test results.

``OFFBEAT_BIN`` names the binary, ``OFFBEAT_ATTACK_FIGURES`` a file for the figures.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from slow import SlowPeers
from trial import FIGURES, Trial


@pytest.fixture
def start_trial(request: pytest.FixtureRequest) -> Iterator[Callable[..., Trial]]:
    """Starts servers with their callers, and ends them."""
    started: list[Trial] = []

    def start(*flags: str, files: int | None = None, probed: bool = True) -> Trial:
        started.append(Trial(request.node.name, *flags, files=files, probed=probed))
        return started[-1]

    yield start
    for trial in started:
        trial.stop()


@pytest.fixture(scope="session")
def _shared() -> Iterator[Trial]:
    trial = Trial("")
    yield trial
    trial.stop()


@pytest.fixture
def shared(_shared: Trial, request: pytest.FixtureRequest) -> Trial:
    """A server that is shared by attacks without lasting effects."""
    _shared.name = request.node.name
    return _shared


@pytest.fixture
def trial(start_trial: Callable[..., Trial]) -> Trial:
    """A server with default settings, and its caller."""
    return start_trial()


@pytest.fixture(scope="session")
def slow() -> Iterator[SlowPeers]:
    """Slow peers, which take a minute and run beside other tests that wait."""
    peers = SlowPeers()
    peers.start()
    yield peers
    peers.join(300)
    peers.trial.stop()


def pytest_configure(config: pytest.Config) -> None:
    """Raises the limit of open files, for thousands of connections."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints the figures of all attacks."""
    terminalreporter.section("attacks")
    for line in FIGURES:
        terminalreporter.write_line(line)
    target = os.environ.get("OFFBEAT_ATTACK_FIGURES")
    if target:
        Path(target).write_text("\n".join(FIGURES) + "\n")
