"""Sidecars that are started, stopped and replaced, and the figures after the test results.

``OFFBEAT_BIN`` names the binary; ``OFFBEAT_ROUNDS`` and ``OFFBEAT_RESTARTS`` say how often.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sidecar import FIGURES, Sidecar


@pytest.fixture
def start() -> Iterator[Callable[..., Sidecar]]:
    """Starts sidecars, and ends those that still run."""
    started: list[Sidecar] = []

    def start_one(*flags: str, **how: object) -> Sidecar:
        started.append(Sidecar(*flags, **how))
        return started[-1]

    yield start_one
    for sidecar in started:
        sidecar.discard()


@pytest.fixture
def figures(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Adds a line to the figures."""
    return lambda line: FIGURES.append(f"{request.node.name}: {line}")


def pytest_configure(config: pytest.Config) -> None:
    """Raises the limit of open files, for hundreds of connections."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints the figures of all tests."""
    terminalreporter.section("restarts")
    for line in FIGURES:
        terminalreporter.write_line(line)
    target = os.environ.get("OFFBEAT_RESTART_FIGURES")
    if target:
        Path(target).write_text("\n".join(FIGURES) + "\n")
