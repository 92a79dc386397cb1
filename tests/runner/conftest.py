"""A sidecar, for what clients do not decide."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.server import Server


@pytest.fixture(scope="session")
def sidecar() -> Iterator[str]:
    with Server() as server:
        yield server.address
