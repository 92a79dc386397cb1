"""Databases that hold the accounts, and a sidecar."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import offbeat
import pytest
from population import Account, accounts
from support.databases import Database, MariaDb, PostgreSql, Sqlite
from support.ports import free_port

ROOT = Path(__file__).parents[2]
BINARY = Path(os.environ.get("OFFBEAT_BIN", ROOT / "target" / "release" / "offbeat"))


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    address = f"127.0.0.1:{free_port()}"
    sidecar = subprocess.Popen(
        [BINARY, "serve", "--listen", address, "--admin-listen", "off"], stderr=subprocess.PIPE
    )
    assert sidecar.stderr is not None
    assert b"listening" in sidecar.stderr.readline()
    yield address
    sidecar.terminate()
    sidecar.communicate()
    assert sidecar.returncode == 0


@pytest.fixture(scope="session")
def client(address: str) -> Iterator[offbeat.Client]:
    with offbeat.Client(address) as client:
        yield client


@pytest.fixture(scope="session")
def population() -> list[Account]:
    return list(accounts())


@pytest.fixture(scope="session")
def databases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Database]]:
    # Not in pytest's folder, which only its user may enter; and socket paths must be short.
    folder = Path(tempfile.mkdtemp(prefix="offbeat-"))
    folder.chmod(0o755)
    started: dict[str, Database] = {}
    try:
        started["postgresql"] = PostgreSql(folder / "pg")
        started["mariadb"] = MariaDb(folder / "maria")
        started["sqlite"] = Sqlite()
        yield started
    finally:
        for database in started.values():
            database.stop()
        shutil.rmtree(folder, ignore_errors=True)
