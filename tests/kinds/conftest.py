"""A sidecar that can be restarted, and is called in JSON."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
BINARY = os.environ.get("OFFBEAT_BIN", str(ROOT / "target/release/offbeat"))


class Sidecar:
    """A process without state, whose callers need not notice a restart."""

    def __init__(self) -> None:
        self.start()

    def start(self) -> None:
        self.port = free_port()
        address = f"127.0.0.1:{self.port}"
        command = [BINARY, "serve", "--listen", address, "--admin-listen", "off"]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE)
        assert self.process.stderr is not None
        assert b"listening" in self.process.stderr.readline()
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=25)

    def stop(self) -> None:
        self.connection.close()
        self.process.terminate()
        self.process.communicate(timeout=30)
        assert self.process.returncode == 0

    def ask(self, method: str, request: dict) -> dict:
        path = f"/offbeat.v1.SlotService/{method}"
        headers = {"content-type": "application/json"}
        self.connection.request("POST", path, json.dumps(request), headers)
        answer = self.connection.getresponse()
        body = answer.read()
        assert answer.status == 200, f"{method} {json.dumps(request)}: {body.decode()}"
        return json.loads(body)


@pytest.fixture(scope="session")
def sidecar() -> Iterator[Sidecar]:
    one = Sidecar()
    yield one
    one.stop()
