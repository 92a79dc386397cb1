"""The recipe of the examples in each language, with an outage and a tick that is killed halfway.

Nothing is enqueued twice, nothing is lost, and import and export of an account keep apart."""

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
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from offbeat import Schedule
from support.databases import MariaDb, PostgreSql, Sqlite

ROOT = Path(__file__).parents[2]
RECIPE = ROOT / "examples" / "recipe"

START = datetime(2026, 3, 1, 8, tzinfo=timezone.utc)
MINUTE = timedelta(minutes=1)
#: The end of the outage: all accounts have missed one run of each kind, some of them two.
BACK = START + timedelta(hours=11, minutes=30)
KINDS = ["import", "export"]
ACCOUNTS = 5_000

# In milliseconds.
PERIOD, TURN, TOLERANCE = 8 * 3_600_000, 3_600_000, 60_000
#: The gap between a late run and a regular run of the other kind.
LEAD = TURN // 4

#: By a run's ID: its account, its kind, and when it starts, in milliseconds since the Unix epoch.
Jobs = dict[str, tuple[str, str, int]]


class Producer:
    """A producer and its database."""

    command: list[str | Path]
    environment: dict[str, str]

    def load(self, ids: list[uuid.UUID]) -> None:
        raise NotImplementedError

    def jobs(self) -> Jobs:
        raise NotImplementedError

    def count(self) -> int:
        raise NotImplementedError

    def start(self, address: str, *arguments: str) -> subprocess.Popen[bytes]:
        environment = {**os.environ, **self.environment, "OFFBEAT_ADDRESS": address}
        # At the lowest priority, so that it can be killed in time even on a busy machine.
        command = ["nice", "-n", "19", *self.command, *arguments]
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
        rows = self.connection.execute("SELECT run_id, account_id, kind, run_at FROM job")
        return {run.hex: (str(account), kind, millis(at)) for run, account, kind, at in rows}


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
        rows = self.database.run("SELECT run_id, account_id, kind, run_at FROM job")
        return {run: (account, kind, at) for run, account, kind, at in rows}


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
        rows = self.database.run("SELECT run_id, account_id, kind, run_at FROM recipe.job")
        return {
            run: (str(unswapped(account)), kind, millis(at.replace(tzinfo=timezone.utc)))
            for run, account, kind, at in rows
        }


def unswapped(raw: bytes) -> uuid.UUID:
    return uuid.UUID(bytes=raw[4:8] + raw[2:4] + raw[:2] + raw[8:])


def millis(instant: datetime) -> int:
    return (instant - datetime(1970, 1, 1, tzinfo=timezone.utc)) // timedelta(milliseconds=1)


@dataclass(frozen=True)
class Account:
    """The runs of an account by hashlib and the page on kinds, independent of the service."""

    id: str
    #: The hashes that place it in a cycle and in a turn.
    hashes: tuple[int, int]

    @classmethod
    def of(cls, value: uuid.UUID) -> Account:
        digest = hashlib.md5(str(value).encode()).digest()
        return cls(
            str(value), (int.from_bytes(digest[:8], "big"), int.from_bytes(digest[8:], "big"))
        )

    def next_run(self, kind: int, at: int) -> int:
        """The first regular run at or after an instant: kinds stand half a cycle apart."""
        offset = (self.hashes[0] * (PERIOD // 1_000) >> 64) * 1_000 + kind * PERIOD // 2
        return at + (offset - at) % PERIOD

    def runs(self, kind: int, start: int, end: int) -> range:
        return range(self.next_run(kind, start), end, PERIOD)

    def late_start(self, kind: int, now: int) -> int:
        """The start of a late run that is listed now."""
        place = (self.hashes[1] * TURN >> 64) + kind * TURN // 2
        start = now + (place - now) % TURN
        while True:
            other = self.next_run(1 - kind, start)
            if other - start >= LEAD and start - (other - PERIOD) >= LEAD:
                return start
            start += TURN

    def due(self, kind: int, watermark: int, now: int) -> dict[int, int]:
        """The runs that a tick enqueues: start times by scheduled time."""
        on_time = self.runs(kind, max(watermark, now - TOLERANCE), now + millis_of(MINUTE))
        jobs = {run: run for run in on_time}
        missed = self.runs(kind, max(watermark, now - PERIOD), now - TOLERANCE)
        if missed and not any(run < now for run in on_time):
            start = self.late_start(kind, now)
            if start < self.next_run(kind, now):  # or else that run supersedes it
                jobs[missed[-1]] = start
        return jobs


def millis_of(span: timedelta) -> int:
    return span // timedelta(milliseconds=1)


@pytest.fixture(params=["python", "ruby", "php"])
def producer(request: Any, databases: Any, tmp_path: Path) -> Iterator[Producer]:
    if request.param == "python":
        yield Python(databases["postgresql"])
    elif request.param == "ruby":
        yield Ruby(tmp_path / "accounts.db")
    else:
        yield Php(databases["mariadb"])


def test_kinds_keep_apart_through_an_outage_and_nothing_is_lost(producer, client):
    rng = random.Random(8)
    ids = [uuid.UUID(int=rng.getrandbits(128), version=4) for _ in range(ACCOUNTS)]
    accounts = [Account.of(value) for value in ids]
    schedule = Schedule(timedelta(milliseconds=PERIOD), kinds=KINDS)
    fingerprint = client.describe_schedule(schedule).fingerprint

    def enqueued_by(watermark: datetime, now: datetime) -> Jobs:
        jobs = {}
        for account, (index, kind) in product(accounts, enumerate(KINDS)):
            for run, start in account.due(index, millis(watermark), millis(now)).items():
                key = f"{fingerprint}/{kind}/{run // PERIOD}/0/{account.id}"
                run_id = hashlib.sha256(key.encode()).hexdigest()[:32]
                jobs[run_id] = (account.id, kind, start)
        return jobs

    producer.load(ids)
    producer.run(client.address, "begin", START.isoformat())
    expected: Jobs = {}
    watermark = START
    for now in (START, START + MINUTE, START + 2 * MINUTE):
        producer.run(client.address, "tick", now.isoformat())
        expected |= enqueued_by(watermark, now)
        watermark = now + MINUTE
    assert expected
    assert producer.jobs() == expected

    # After the outage, kill a tick in the middle: some imports are enqueued, and some are not.
    first_try = enqueued_by(watermark, BACK)
    for _ in range(10):
        worker = producer.start(client.address, "tick", BACK.isoformat())
        enough, deadline = producer.count() + rng.randrange(200, 2_000), time.monotonic() + 60
        while producer.count() < enough:
            assert worker.poll() is None, "it was done before it could be killed"
            assert time.monotonic() < deadline
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        jobs = producer.jobs()
        if 100 < len(jobs) - len(expected) < ACCOUNTS * 3 // 4:
            break
    else:
        pytest.fail("no tick died halfway")
    assert jobs.items() <= (expected | first_try).items()

    # The next tick, a minute later: what was enqueued keeps its time, and the rest follows.
    expected |= enqueued_by(watermark, BACK + MINUTE) | jobs
    for _ in range(2):
        producer.run(client.address, "tick", (BACK + MINUTE).isoformat())
        assert producer.jobs() == expected

    # Every pair of an import and an export, including their next regular runs.
    starts: dict[str, dict[str, list[tuple[int, bool]]]] = {
        account.id: {
            kind: [(account.next_run(index, millis(BACK + 2 * MINUTE)), False)]
            for index, kind in enumerate(KINDS)
        }
        for account in accounts
    }
    places = {account.id: account for account in accounts}
    for account_id, kind, start in expected.values():
        is_late = start != places[account_id].next_run(KINDS.index(kind), start)
        starts[account_id][kind].append((start, is_late))
    late_pairs = 0
    for kinds in starts.values():
        for (imports, is_late), (exports, is_late_too) in product(kinds["import"], kinds["export"]):
            both_late = is_late and is_late_too
            late_pairs += both_late
            assert abs(imports - exports) >= (TURN // 2 - 1 if both_late else LEAD)
    assert late_pairs > ACCOUNTS // 2
