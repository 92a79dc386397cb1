"""A server with a second caller, and the figures of all requests after the test results."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from measure import FIGURES, HEADING, Beside


@pytest.fixture(scope="session")
def beside() -> Iterator[Beside]:
    """One server for all requests, which is replaced if it is still busy with a request."""
    beside = Beside()
    yield beside
    beside.stop()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints the figures, whether or not they are within the budgets."""
    terminalreporter.section("expensive requests")
    lines = [HEADING, *FIGURES]
    for line in lines:
        terminalreporter.write_line(line)
    target = os.environ.get("OFFBEAT_EXPENSIVE_FIGURES")
    if target:
        Path(target).write_text("\n".join(lines) + "\n")
