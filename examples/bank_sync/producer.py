"""Schedules the bank accounts of an SQLite table through a sidecar.

Each account has two kinds of job every 8 hours, a sync and a report, and both lock the account.
The sidecar says when each job runs and the table stores it. A worker then only asks for
the rows whose time has come: SELECT id FROM account WHERE next_sync_at <= ?
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import sys
import time
import uuid
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import chart
import offbeat

PERIOD = timedelta(hours=8)
MINUTES = 480
#: Two jobs of one account never meet.
KINDS = ("sync", "report")
#: One slot a minute, so that the sidecar can predict the fullest minute.
EVERY_8_HOURS = offbeat.Schedule(PERIOD, slot_count=MINUTES, kinds=KINDS)


@dataclass(frozen=True)
class Result:
    """The figures of the table after scheduling."""

    rows: int
    #: For each kind, how many of its jobs are due in each minute of the cycle.
    due: dict[str, list[int]]
    #: The shortest time between the two jobs of one account.
    nearest: timedelta
    #: The times of one account's jobs, counted from the start of the cycle.
    one_account: dict[str, timedelta]

    @property
    def due_in_all(self) -> list[int]:
        """How many jobs of all kinds are due in each minute of the cycle."""
        return [sum(kinds) for kinds in zip(*self.due.values())]


def make_table(rows: int) -> sqlite3.Connection:
    """Return a table of accounts without any times; every call makes the same IDs."""
    database = sqlite3.connect(":memory:")
    database.execute(
        "CREATE TABLE account (id TEXT PRIMARY KEY, next_sync_at INTEGER, next_report_at INTEGER)"
    )
    rng = random.Random(2328)
    ids = [(str(uuid.UUID(int=rng.getrandbits(128), version=4)),) for _ in range(rows)]
    database.executemany("INSERT INTO account (id) VALUES (?)", ids)
    return database


def ask(client: offbeat.Client, ids: list[uuid.UUID]) -> dict[str, offbeat.SlotAssignments]:
    """Return the next run of every account, for each kind of job."""
    return {name: client.assign_slots(EVERY_8_HOURS, ids, kind=name) for name in KINDS}


def store(database: sqlite3.Connection, next_runs: dict[str, offbeat.SlotAssignments]) -> None:
    """Write the next sync and the next report of every account into its row, in seconds."""
    sync, report = next_runs["sync"], next_runs["report"]
    database.executemany(
        "UPDATE account SET next_sync_at = ? / 1000, next_report_at = ? / 1000 WHERE id = ?",
        zip(sync.next_run_unix_millis, report.next_run_unix_millis, map(str, sync.ids)),
    )


def examine(database: sqlite3.Connection) -> Result:
    """Query when jobs are due, and how far apart the jobs of an account are."""
    (rows,) = database.execute("SELECT count(*) FROM account").fetchone()
    period = int(PERIOD.total_seconds())
    due = {}
    for name in KINDS:
        due[name] = [0] * MINUTES
        by_minute = f"SELECT next_{name}_at % {period} / 60, count(*) FROM account GROUP BY 1"
        for minute, jobs in database.execute(by_minute):
            due[name][minute] = jobs
    (nearest,) = database.execute(
        f"""SELECT min(min((next_report_at - next_sync_at + {period}) % {period},
            (next_sync_at - next_report_at + {period}) % {period})) FROM account"""
    ).fetchone()
    one = database.execute(
        f"SELECT next_sync_at % {period}, next_report_at % {period} FROM account LIMIT 1"
    ).fetchone()
    one_account = {name: timedelta(seconds=second) for name, second in zip(KINDS, one)}
    return Result(rows, due, timedelta(seconds=nearest), one_account)


def report(result: Result, description: offbeat.Description) -> None:
    """Print when jobs are due, compared with cron on the hour."""
    in_all = result.due_in_all
    jobs = sum(in_all)
    hours = [sum(in_all[minute : minute + 60]) for minute in range(0, MINUTES, 60)]
    print(f"  {'jobs due':24}{'cron, on the hour':>18}{'Offbeat':>12}")
    for hour, load in enumerate(hours):
        bar = "█" * round(20 * load / max(hours))
        print(f"  {f'from {hour}:00':24}{jobs if hour == 0 else 0:18,}{load:12,}  {bar}")
    print(f"  {'in the fullest minute':24}{jobs:18,}{max(in_all):12,}  mean {jobs // MINUTES:,}")
    print(f"  {'two jobs of an account':24}{'same instant':>18}{result.nearest!s:>12}  apart")
    prediction = description.slot_load
    assert prediction is not None  # present because a population was given
    fullest = max(max(loads) for loads in result.due.values())
    print(
        f"\nFullest minute of one kind: {fullest:,} jobs."
        f" Predicted: {prediction.fullest_median:,},"
        f" and with 99 % probability at most {prediction.fullest_p99:,}."
    )


def main() -> int:
    """Schedule the accounts, and print the result."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("accounts", nargs="?", type=int, default=200_000)
    parser.add_argument("--svg", type=Path, metavar="FILE", help="draw the result into this file")
    arguments = parser.parse_args()
    database = make_table(arguments.accounts)
    ids = [uuid.UUID(row[0]) for row in database.execute("SELECT id FROM account")]
    try:
        with offbeat.Client() as client:
            description = client.describe_schedule(EVERY_8_HOURS, population=len(ids))
            started = time.perf_counter()
            next_runs = ask(client, ids)
            asked = time.perf_counter()
    except offbeat.OffbeatError as error:
        print(f"producer.py: {error}", file=sys.stderr)
        return 1
    store(database, next_runs)
    stored = time.perf_counter()
    result = examine(database)
    print(f"{result.rows:,} accounts, one sync and one report each, every 8 hours:")
    print(f"{asked - started:.1f} s to ask the sidecar, {stored - asked:.1f} s to store.\n")
    report(result, description)
    complete = all(sum(loads) == result.rows for loads in result.due.values())
    print(f"Every account has one sync and one report: {'yes' if complete else 'NO'}.")
    if arguments.svg:
        drawing = chart.draw(result.due, result.nearest, result.one_account)
        arguments.svg.write_text(drawing, encoding="utf-8")
    return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(main())
