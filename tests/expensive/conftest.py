"""A server with a caller beside it, and the figures of all requests at the end of the output."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from measure import FIGURES, HEADING, Beside


@pytest.fixture(scope="session")
def beside() -> Iterator[Beside]:
    """One server for all requests; one that is still busy with a request is replaced."""
    beside = Beside()
    yield beside
    beside.stop()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The figures, whether they are good enough or not."""
    terminalreporter.section("expensive requests")
    lines = [HEADING, *FIGURES]
    for line in lines:
        terminalreporter.write_line(line)
    target = os.environ.get("OFFBEAT_EXPENSIVE_FIGURES")
    if target:
        Path(target).write_text("\n".join(lines) + "\n")
