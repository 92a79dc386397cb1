"""Servers under attack, and the figures of all attacks at the end of the output.

``OFFBEAT_BIN`` names the binary; ``OFFBEAT_ATTACK_TIMES=off`` leaves out the victim's times, which
say nothing on a machine that is busy with something else.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from siege import FIGURES, Siege
from slow import Slowloris


@pytest.fixture
def besiege(request: pytest.FixtureRequest) -> Iterator[Callable[..., Siege]]:
    """Starts servers with their victims, and ends them."""
    started: list[Siege] = []

    def start(*flags: str, files: int | None = None) -> Siege:
        started.append(Siege(request.node.name, *flags, files=files))
        return started[-1]

    yield start
    for siege in started:
        siege.stop()


@pytest.fixture(scope="session")
def _shared() -> Iterator[Siege]:
    siege = Siege("")
    yield siege
    siege.stop()


@pytest.fixture
def shared(_shared: Siege, request: pytest.FixtureRequest) -> Siege:
    """One server for the attacks that leave nothing behind."""
    _shared.name = request.node.name
    return _shared


@pytest.fixture
def siege(besiege: Callable[..., Siege]) -> Siege:
    """A server as users start it, and its victim."""
    return besiege()


@pytest.fixture(scope="session")
def slow() -> Iterator[Slowloris]:
    """Peers that take a minute, while other tests wait too."""
    slowloris = Slowloris()
    slowloris.start()
    yield slowloris
    slowloris.join(300)
    slowloris.siege.stop()


def pytest_configure(config: pytest.Config) -> None:
    """Files for thousands of connections."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The figures of all attacks."""
    terminalreporter.section("attacks")
    for line in FIGURES:
        terminalreporter.write_line(line)
    target = os.environ.get("OFFBEAT_ATTACK_FIGURES")
    if target:
        Path(target).write_text("\n".join(FIGURES) + "\n")
