"""A sidecar, for what clients do not decide."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BINARY = Path(os.environ.get("OFFBEAT_BIN", ROOT / "target" / "release" / "offbeat"))


@pytest.fixture(scope="session")
def sidecar() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
    process = subprocess.Popen(
        [BINARY, "serve", "--listen", address, "--admin-listen", "off"], stderr=subprocess.PIPE
    )
    assert process.stderr is not None
    assert b"listening" in process.stderr.readline()
    yield address
    process.terminate()
    process.communicate()
