"""Compares the runs in the project's database with the lines that its jobs have written."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection
from datetime import datetime, timedelta

from harness import Bank
from support.databases import PostgreSql
from support.waiting import wait_until

RUNS = "SELECT declaration, row_id, scheduled_time, start_time, state, run_id FROM offbeat_run"
START_TIMES = "SELECT run_id, start_time FROM offbeat_run"
#: The runs of a declaration that are planned, and those that are not, as the policy says.
COUNTS = """SELECT planned_count + dropped_count + superseded_count + skipped_count
    FROM offbeat_progress WHERE declaration = %s"""


def settle(postgresql: PostgreSql, before: datetime, seconds: float = 120) -> None:
    """Wait until all runs that start before a time have ended."""
    query = "SELECT count(*) FROM offbeat_run WHERE start_time < %s AND state IN %s"
    query = query.replace("IN %s", "IN ('planned', 'published', 'claimed')")
    with postgresql.connect("bank") as connection:
        wait_until(seconds, lambda: connection.execute(query, [before]).fetchone() == (0,))


def check_nothing_is_lost(
    bank: Bank,
    postgresql: PostgreSql,
    before: datetime,
    cycle: timedelta,
    ends: Collection[str] = ("done",),
) -> int:
    """Check the runs; returns how many executions were too many."""
    scheduled = defaultdict(list)
    with postgresql.connect("bank") as connection:
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        runs = connection.execute(RUNS).fetchall()
        counts = {
            name: connection.execute(COUNTS, [name]).fetchone()[0]
            for name in {declaration for declaration, *_ in runs}
        }
        connection.execute("COMMIT")
    for declaration, row, scheduled_time, start_time, state, _ in runs:
        scheduled[declaration, row].append(scheduled_time)
        assert state in ends or start_time >= before, (declaration, row, state)
    for declaration, count in counts.items():
        # A row has a run in each cycle between its first and its last.
        expected = sum(
            round((max(times) - min(times)) / cycle) + 1
            for (name, _), times in scheduled.items()
            if name == declaration
        )
        assert expected == count, declaration
    executions = Counter(line["run"] for line in bank.ledger())
    done = {run_id for *_, state, run_id in runs if state == "done"}
    assert done <= executions.keys()
    return sum(executions[run_id] - 1 for run_id in done)
