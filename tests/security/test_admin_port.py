"""The admin port answers while others occupy it, and answers only permitted callers."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from support.server import Server
from wire import all_of, ask, beside, connect, ended, took

SILENT = 300


@pytest.mark.parametrize("said", [b"", b"GET /metrics HTTP/1.1\r\nHost: local"])
def test_silent_connections_keep_nobody_out(serve: Callable[..., Server], said: bytes) -> None:
    server = serve()
    silent = [connect(server.admin_port) for _ in range(SILENT)]
    for one in silent:
        one.sendall(said)
    time.sleep(0.2)
    try:
        for path in ["/readyz", "/healthz", "/metrics", "/readyz", "/healthz"]:
            get = lambda path=path: ask(server.admin_port, path, None, seconds=3)  # noqa: E731
            assert took(get) < 1
    finally:
        all_of(silent)


def test_liveness_is_told(serve: Callable[..., Server]) -> None:
    server = serve()
    silent = [connect(server.admin_port) for _ in range(SILENT)]
    time.sleep(0.2)
    try:
        assert ask(server.admin_port, "/livez", None, seconds=1).status == 200
    finally:
        all_of(silent)


#: Prints the admin socket's answer to another user.
NOBODY = """
import os, socket, sys
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
print("ready", flush=True)
wire = socket.socket(socket.AF_UNIX)
wire.settimeout(5)
try:
    wire.connect(sys.argv[1])
    wire.sendall(b"GET /metrics HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")
    print(wire.recv(65536)[:200])
except OSError as error:
    print(repr(error))
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be another user")
def test_the_admin_socket_is_for_the_same_users(serve: Callable[..., Server]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        admin = Path(folder) / "admin.sock"
        flags = "--socket-uids", "0", "--socket-mode", "0666"
        server = serve(*flags, listen=f"unix:{folder}/s.sock", admin=f"unix:{admin}")
        assert ask(server.admin, "/metrics", None).status == 200
        nobody = beside(NOBODY, admin)
        assert nobody.stdout
        said = nobody.stdout.read()
        ended(nobody)
        assert "200" not in said, said
