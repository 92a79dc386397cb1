"""Figures of all tests at the end of the output; ``OFFBEAT_BIN`` names the binary."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

# Raw frames, and requests that are right, are those of the attacks.
sys.path.insert(0, str(Path(__file__).parents[1] / "attacks"))

from sidecar import FIGURES


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The figures, whether they are good enough or not."""
    terminalreporter.section("footprint")
    for line in FIGURES:
        terminalreporter.write_line(line)
