"""Schedules the bank accounts of an SQLite table through a sidecar.

Every account is to be synchronised every 8 hours. The sidecar says when, the
table remembers it, and a worker has only to ask for the rows whose time has come.
"""

from __future__ import annotations

import random
import sqlite3
import sys
import time
import uuid
from datetime import timedelta

import offbeat

ROWS = 100_000
EVERY_8_HOURS = offbeat.Schedule(timedelta(hours=8), slot_count=32)


def make_table(rows: int) -> sqlite3.Connection:
    """Return a table of accounts that nobody has scheduled yet."""
    database = sqlite3.connect(":memory:")
    database.execute(
        "CREATE TABLE account (id TEXT PRIMARY KEY, slot_index INTEGER, next_sync_at INTEGER)"
    )
    rng = random.Random(2328)
    ids = [(str(uuid.UUID(int=rng.getrandbits(128), version=4)),) for _ in range(rows)]
    database.executemany("INSERT INTO account (id) VALUES (?)", ids)
    return database


def schedule(database: sqlite3.Connection, client: offbeat.Client) -> offbeat.SlotAssignments:
    """Give every account its slot and the time of its next synchronisation."""
    ids = [uuid.UUID(row[0]) for row in database.execute("SELECT id FROM account")]
    assignments = client.assign_slots(EVERY_8_HOURS, ids, kind="bank-sync")
    database.executemany(
        "UPDATE account SET slot_index = ?, next_sync_at = ? WHERE id = ?",
        zip(assignments.slot_indexes, assignments.next_run_unix_millis, map(str, assignments.ids)),
    )
    return assignments


def report(database: sqlite3.Connection, description: offbeat.Description) -> bool:
    """Print the load of each slot, and whether every row has exactly one."""
    loads = dict(database.execute("SELECT slot_index, count(*) FROM account GROUP BY slot_index"))
    slots = description.schedule.slot_count or 0
    fullest = max(loads.values())
    for slot in range(slots):
        load = loads.get(slot, 0)
        start = slot * description.slot_duration
        print(f"  slot {slot:2}  +{start!s:>8}  {load:6,}  {'█' * round(40 * load / fullest)}")
    expected = description.slot_load
    assert expected is not None
    print(f"\nfullest slot: {fullest:,} rows, {fullest / expected.mean:.3f} times the mean", end="")
    print(
        f" (expected: {expected.fullest_median:,}, and in 99 of 100 tables"
        f" at most {expected.fullest_p99:,})"
    )
    (rows,) = database.execute("SELECT count(*) FROM account").fetchone()
    placed = sum(loads.get(slot, 0) for slot in range(slots))
    print(f"rows with exactly one slot: {placed:,} of {rows:,}")
    return placed == rows and set(loads) <= set(range(slots))


def main() -> int:
    """Schedule the rows, and show what came out."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    database = make_table(rows)
    with offbeat.Client() as client:
        description = client.describe_schedule(EVERY_8_HOURS, population=rows)
        started = time.perf_counter()
        schedule(database, client)
        elapsed = time.perf_counter() - started
    print(
        f"{rows:,} rows over a cycle of {description.schedule.period},"
        f" {description.schedule.slot_count} slots of {description.slot_duration},"
        f" scheduled and stored in {elapsed:.2f} s\n"
    )
    return 0 if report(database, description) else 1


if __name__ == "__main__":
    sys.exit(main())
