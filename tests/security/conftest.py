"""Servers for the tests of a file; ``OFFBEAT_BIN`` names the binary."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.server import Server
from wire import TOKEN


@pytest.fixture
def serve() -> Iterator[Callable[..., Server]]:
    """Starts servers, and ends them."""
    started: list[Server] = []

    def start(*flags: str, **how: object) -> Server:
        started.append(Server(*flags, **how))
        return started[-1]

    yield start
    for server in started:
        server.kill()


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    """A file with a single token, TOKEN."""
    file = tmp_path / "tokens"
    file.write_text(TOKEN + "\n")
    file.chmod(0o600)
    return file


def pytest_configure(config: pytest.Config) -> None:
    """Raises the limit of open files, for thousands of connections."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
