"""The recipe of the examples, in each language: killed halfway, retried, and nothing twice."""

from __future__ import annotations

import hashlib
import os
import random
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from offbeat import Schedule
from servers import MariaDb, PostgreSql, Sqlite

ROOT = Path(__file__).parents[2]
RECIPE = ROOT / "examples" / "recipe"

START = datetime(2026, 3, 1, 8, tzinfo=timezone.utc)
SLOTS, PERIOD = 32, 8 * 3_600
ACCOUNTS = 10_000


class Producer:
    """A producer, and the database it works on. Its rows are (run key, account, Unix time)."""

    command: list[str | Path]
    environment: dict[str, str]

    def load(self, ids: list[uuid.UUID]) -> None:
        raise NotImplementedError

    def jobs(self) -> list[tuple[str, str, int]]:
        raise NotImplementedError

    def count(self) -> int:
        raise NotImplementedError

    def start(self, address: str, *arguments: str) -> subprocess.Popen[bytes]:
        environment = {**os.environ, **self.environment, "OFFBEAT_ADDRESS": address}
        command = [*self.command, *arguments]
        return subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL)

    def run(self, address: str, *arguments: str) -> None:
        assert self.start(address, *arguments).wait(timeout=120) == 0


class Python(Producer):
    def __init__(self, database: PostgreSql) -> None:
        self.database = database
        self.command = [sys.executable, RECIPE / "producer.py"]
        self.environment = database.environment("recipe")

    def load(self, ids):
        self.database.run("CREATE DATABASE recipe")
        self.connection = self.database.connect("recipe")
        self.connection.execute((RECIPE / "postgresql.sql").read_text())
        with self.connection.cursor() as cursor, cursor.copy("COPY account FROM STDIN") as copy:
            for value in ids:
                copy.write_row([value])

    def count(self):
        return self.connection.execute("SELECT count(*) FROM job").fetchone()[0]

    def jobs(self):
        rows = self.connection.execute("SELECT run_key, account_id, run_at FROM job")
        return [(key, str(account), int(at.timestamp())) for key, account, at in rows]


class Ruby(Producer):
    def __init__(self, path: Path) -> None:
        self.path = path
        self.command = ["ruby", "-w", "-I", ROOT / "clients/ruby/lib", RECIPE / "producer.rb"]
        self.environment = {"DATABASE": str(path)}

    def load(self, ids):
        self.database = Sqlite(self.path)
        self.database.script((RECIPE / "sqlite.sql").read_text())
        digits = (hashlib.md5(str(value).encode()).hexdigest()[:16] for value in ids)
        self.database.insert("account", zip(map(str, ids), digits))

    def count(self):
        return self.database.run("SELECT count(*) FROM job")[0][0]

    def jobs(self):
        return [
            tuple(row) for row in self.database.run("SELECT run_key, account_id, run_at FROM job")
        ]


class Php(Producer):
    def __init__(self, database: MariaDb) -> None:
        self.database = database
        self.command = ["php", RECIPE / "producer.php"]
        self.environment = {
            "DATABASE": f"mysql:unix_socket={database.socket};dbname=recipe",
            "DATABASE_USER": "root",
        }

    def load(self, ids):
        self.database.run("CREATE DATABASE recipe")
        connection = self.database.connect("recipe")
        for statement in (RECIPE / "mariadb.sql").read_text().split(";"):
            if statement.strip():
                connection.cursor().execute(statement)
        swapped = [(raw[6:8] + raw[4:6] + raw[:4] + raw[8:],) for raw in (v.bytes for v in ids)]
        connection.cursor().executemany("INSERT INTO account (id) VALUES (%s)", swapped)

    def count(self):
        return self.database.run("SELECT count(*) FROM recipe.job")[0][0]

    def jobs(self):
        rows = self.database.run("SELECT run_key, account_id, run_at FROM recipe.job")
        return [
            (key, str(unswapped(account)), int(at.replace(tzinfo=timezone.utc).timestamp()))
            for key, account, at in rows
        ]


def unswapped(raw: bytes) -> uuid.UUID:
    return uuid.UUID(bytes=raw[4:8] + raw[2:4] + raw[:2] + raw[8:])


def offset(account: uuid.UUID) -> int:
    """Where the account stands in the cycle, in seconds; by hashlib, not by the service."""
    digest = hashlib.md5(str(account).encode()).digest()
    return int.from_bytes(digest[:8], "big") * PERIOD >> 64


@pytest.fixture(params=["python", "ruby", "php"])
def producer(request: Any, databases: Any, tmp_path: Path) -> Iterator[Producer]:
    if request.param == "python":
        yield Python(databases["postgresql"])
    elif request.param == "ruby":
        yield Ruby(tmp_path / "accounts.db")
    else:
        yield Php(databases["mariadb"])


def test_every_account_is_enqueued_once_and_at_its_time(producer, client):
    rng = random.Random(8)
    ids = [uuid.UUID(int=rng.getrandbits(128), version=4) for _ in range(ACCOUNTS)]
    producer.load(ids)
    producer.run(client.address, "migrate")
    producer.run(client.address, "bootstrap", START.isoformat())

    # Kill it in the middle of a slot: some of its accounts are enqueued, and some are not.
    slot_of = {str(value): offset(value) * SLOTS // PERIOD for value in ids}
    size = [list(slot_of.values()).count(slot) for slot in range(SLOTS)]
    for _ in range(10):
        worker = producer.start(client.address, "work")
        enough, deadline = producer.count() + rng.randrange(200, 500), time.monotonic() + 60
        while producer.count() < enough:
            assert worker.poll() is None, "it was done before it could be killed"
            assert time.monotonic() < deadline
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        enqueued = [slot_of[account] for _, account, _ in producer.jobs()]
        if any(0 < enqueued.count(slot) < size[slot] for slot in range(SLOTS)):
            break
    else:
        pytest.fail("no slot job died halfway")

    # The retry; and the next bootstrap, which is late and plans what is not planned yet.
    schedule = Schedule(timedelta(seconds=PERIOD), slot_count=SLOTS)
    fingerprint = client.describe_schedule(schedule).fingerprint
    start = int(START.timestamp())
    for late in (0, PERIOD + 20 * 60):
        bootstrap = START + timedelta(seconds=late)
        producer.run(client.address, "bootstrap", bootstrap.isoformat())
        producer.run(client.address, "work")
        runs = [
            (number * PERIOD, value)
            for number in range(4)
            for value in ids
            # The slots that start within two cycles of the bootstrap, and all before it.
            if number * PERIOD + slot_of[str(value)] * PERIOD // SLOTS < late + 2 * PERIOD
        ]
        jobs = producer.jobs()
        assert len(jobs) == len(runs)
        assert set(jobs) == {
            (
                f"{fingerprint}/bank-sync/{(start + cycle) // PERIOD}/0/{value}",
                str(value),
                start + cycle + offset(value),
            )
            for cycle, value in runs
        }
