"""Synchronises bank accounts every 8 hours: a producer over PostgreSQL.

    python producer.py migrate             once: the index for the slots of accounts
    python producer.py bootstrap [START]   once a cycle: a job for each slot to come
    python producer.py work                those that are due: each enqueues its accounts

All may be run twice, at the same time, or be killed: the keys of the jobs see to it
that nothing is enqueued twice. psycopg finds the database by PGHOST and so on, the
client its sidecar by OFFBEAT_ADDRESS.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from uuid import UUID

import offbeat
import psycopg
from offbeat import Schedule, SqlColumn, SqlColumnType, SqlDialect, SqlParameterStyle

PERIOD = timedelta(hours=8)
SCHEDULE = Schedule(PERIOD, slot_count=32)
ACCOUNTS = SqlColumn(
    SqlDialect.POSTGRESQL,
    table="account",
    name="id",
    type=SqlColumnType.UUID,
    parameter_style=SqlParameterStyle.FORMAT,
)
BATCH = 100


def migrate(db: psycopg.Connection, client: offbeat.Client) -> None:
    """Make the index that serves the predicates."""
    (slot, *_) = client.list_slots(SCHEDULE, sql_column=ACCOUNTS)
    assert slot.predicate is not None
    for statement in slot.predicate.index.create_statements:
        db.execute(statement)


def bootstrap(db: psycopg.Connection, client: offbeat.Client, start: datetime) -> None:
    """Plan a job for each slot of two cycles: so a bootstrap may be late, up to a cycle."""
    slots = client.list_slots(SCHEDULE, start_time=start, end_time=start + 2 * PERIOD)
    with db.transaction(), db.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO slot_job (cycle_index, slot_index, start_time, end_time)"
            " VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING",
            [(slot.cycle_index, slot.slot_index, slot.start_time, slot.end_time) for slot in slots],
        )


def work(db: psycopg.Connection, client: offbeat.Client) -> None:
    """Run the slot jobs that are due; one that dies stays, and is run again."""
    due = db.execute(
        "SELECT cycle_index, slot_index, start_time, end_time FROM slot_job"
        " WHERE start_time <= now() AND NOT done ORDER BY start_time"
    ).fetchall()
    for cycle_index, slot_index, start_time, end_time in due:
        run_slot(db, client, start_time, end_time)
        db.execute(
            "UPDATE slot_job SET done = true WHERE cycle_index = %s AND slot_index = %s",
            (cycle_index, slot_index),
        )


def run_slot(
    db: psycopg.Connection, client: offbeat.Client, start_time: datetime, end_time: datetime
) -> None:
    """Enqueue the accounts of one slot, each for its own time."""
    (slot,) = client.list_slots(
        SCHEDULE, start_time=start_time, end_time=end_time, sql_column=ACCOUNTS
    )
    assert slot.predicate is not None
    select = f"SELECT id FROM account WHERE {slot.predicate.sql}"
    ids = [row[0] for row in db.execute(select, slot.predicate.parameters)]
    for batch in batches(ids):
        # An ID that cannot be assigned must not keep the others from their runs.
        assigned = client.assign_slots(
            SCHEDULE, batch, from_time=start_time, kind="bank-sync", return_errors=True
        )
        for error in assigned.errors:
            print(f"{error.field}: {error.value} is refused: {error.allowed}", file=sys.stderr)
        with db.transaction(), db.cursor() as cursor:
            # A queue that takes a unique key does what the conflict does here.
            cursor.executemany(
                "INSERT INTO job (run_key, account_id, run_at) VALUES (%s, %s, %s)"
                " ON CONFLICT DO NOTHING",
                [(row.run_key, row.id, row.next_run_time) for row in assigned.accepted()],
            )


def batches(ids: list[UUID]) -> Iterator[list[UUID]]:
    """Cut IDs into what one transaction takes."""
    for first in range(0, len(ids), BATCH):
        yield ids[first : first + BATCH]


def main(arguments: list[str]) -> int:
    """Do what the command says."""
    with psycopg.connect(autocommit=True) as db, offbeat.Client() as client:
        if arguments == ["migrate"]:
            migrate(db, client)
        elif arguments[:1] == ["bootstrap"] and len(arguments) <= 2:
            start = datetime.fromisoformat(arguments[1]) if arguments[1:] else None
            bootstrap(db, client, (start or datetime.now()).astimezone(timezone.utc))
        elif arguments == ["work"]:
            work(db, client)
        else:
            print(__doc__, file=sys.stderr)
            return 64
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
