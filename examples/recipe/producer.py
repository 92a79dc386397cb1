"""Imports and exports bank accounts every 8 hours: a producer over PostgreSQL.

    python producer.py begin [START]   once: creates the index, and sets the first watermarks
    python producer.py tick [NOW]      every minute: enqueues what starts until the next minute

Both can run twice, run concurrently, or be killed: each job has the ID of its run, so
nothing is enqueued twice. psycopg finds the database by PGHOST and so on, the client finds its
sidecar by OFFBEAT_ADDRESS.
"""

from __future__ import annotations

import sys
from datetime import datetime, timedelta, timezone

import offbeat
import psycopg
from offbeat import Schedule, SqlColumnType, SqlDialect, SqlParameterStyle, SqlTarget

PERIOD = timedelta(hours=8)
#: Both lock the account, so they must not meet on one account.
KINDS = ["import", "export"]
SCHEDULE = Schedule(PERIOD, kinds=KINDS)
#: The time between two ticks: a job is in the queue before it is due.
LOOK_AHEAD = timedelta(minutes=1)
ACCOUNTS = SqlTarget(
    SqlDialect.POSTGRESQL,
    table="account",
    column="id",
    column_type=SqlColumnType.UUID,
    parameter_style=SqlParameterStyle.FORMAT,
)
BATCH = 100


def begin(db: psycopg.Connection, client: offbeat.Client, start: datetime) -> None:
    """Make the index that serves the predicates, and the watermarks."""
    predicate = client.window_predicate(
        SCHEDULE, ACCOUNTS, start_time=start, end_time=start, kind=KINDS[0]
    )
    for statement in predicate.index.create_statements:
        db.execute(statement)
    for kind in KINDS:
        db.execute(
            "INSERT INTO watermark (kind, enqueued_until) VALUES (%s, %s) ON CONFLICT DO NOTHING",
            (kind, start),
        )


def tick(db: psycopg.Connection, client: offbeat.Client, now: datetime) -> None:
    """Enqueue the runs of each kind that start until the next tick, and those that were missed."""
    for kind in KINDS:
        row = db.execute("SELECT enqueued_until FROM watermark WHERE kind = %s", (kind,)).fetchone()
        assert row is not None, "begin first"
        enqueue(db, client, kind, row[0], now)


def enqueue(
    db: psycopg.Connection, client: offbeat.Client, kind: str, watermark: datetime, now: datetime
) -> None:
    """Enqueue one kind, batch by batch. If this process dies, the next tick repeats it."""
    end = now + LOOK_AHEAD
    if watermark >= end:
        return
    predicate = client.window_predicate(
        SCHEDULE,
        ACCOUNTS,
        start_time=max(watermark, end - PERIOD),  # all accounts, after a whole cycle
        end_time=end,
        kind=kind,
    )
    select = f"SELECT id FROM account WHERE {predicate.sql}"
    ids = [row[0] for row in db.execute(select, predicate.parameters)]
    # An ID that cannot be assigned must not block the runs of the others.
    due = client.list_due_runs(
        SCHEDULE,
        ids,
        watermark=watermark,
        now_time=now,
        look_ahead=LOOK_AHEAD,
        kind=kind,
        return_errors=True,
    )
    for error in due.errors:
        print(f"{error.field}: {error.value} is refused: {error.allowed}", file=sys.stderr)
    for first in range(0, len(due), BATCH):
        with db.transaction(), db.cursor() as cursor:
            # A queue with unique job IDs does what ON CONFLICT does here.
            cursor.executemany(
                "INSERT INTO job (run_id, kind, account_id, run_at) VALUES (%s, %s, %s, %s)"
                " ON CONFLICT DO NOTHING",
                [(run.run_id, kind, run.id, run.start_time) for run in due[first : first + BATCH]],
            )
    # Only after all are enqueued; and another tick may have got further.
    db.execute(
        "UPDATE watermark SET enqueued_until = greatest(enqueued_until, %s) WHERE kind = %s",
        (due.next_watermark_time, kind),
    )
    print(
        f"{kind}: {len(due)} jobs, {due.late_run_count} of them late;"
        f" {due.superseded_run_count} superseded"
    )


def main(arguments: list[str]) -> int:
    """Run the command."""
    with psycopg.connect(autocommit=True) as db, offbeat.Client() as client:
        if len(arguments) not in (1, 2) or arguments[0] not in ("begin", "tick"):
            print(__doc__, file=sys.stderr)
            return 64
        text = arguments[1] if arguments[1:] else None
        instant = datetime.fromisoformat(text) if text else datetime.now(timezone.utc)
        (begin if arguments[0] == "begin" else tick)(db, client, instant)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
