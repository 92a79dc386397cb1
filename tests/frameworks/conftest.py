"""PostgreSQL and Redis for the tests of frameworks."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness import PROJECT, Bank
from support.databases import PostgreSql
from support.redis_server import RedisServer


@pytest.fixture(scope="session")
def folder() -> Iterator[Path]:
    # Not in pytest's folder, which only its user may enter; and socket paths must be short.
    folder = Path(tempfile.mkdtemp(prefix="offbeat-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgresql(folder: Path) -> Iterator[PostgreSql]:
    server = PostgreSql(folder / "pg")
    yield server
    server.stop()


@pytest.fixture(scope="session")
def redis(folder: Path) -> Iterator[RedisServer]:
    server = RedisServer(folder / "redis")
    yield server
    server.kill()


@pytest.fixture
def bank(
    folder: Path, postgresql: PostgreSql, redis: RedisServer, tmp_path: Path
) -> Iterator[Bank]:
    for statement in ("DROP DATABASE IF EXISTS bank WITH (FORCE)", "CREATE DATABASE bank"):
        postgresql.run(statement)
    redis.kill()
    redis.start()
    bank = Bank(tmp_path, str(folder / "pg"), redis.url)
    bank.manage("migrate", "-v0")
    yield bank
    bank.stop()


assert PROJECT.is_dir()
