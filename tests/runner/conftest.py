"""A sidecar, for what clients do not decide."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.server import Server


@pytest.fixture(scope="session")
def sidecar() -> Iterator[str]:
    with Server() as server:
        yield server.address
