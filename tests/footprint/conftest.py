"""Prints the figures of all tests after the test results; ``OFFBEAT_BIN`` names the binary."""

from __future__ import annotations

import pytest
from sidecar import FIGURES


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints the figures, whether or not they are within the budgets."""
    terminalreporter.section("footprint")
    for line in FIGURES:
        terminalreporter.write_line(line)
