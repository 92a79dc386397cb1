"""Shared by the applications: a store in SQLite, rows, and a ledger."""

import json
import os
from datetime import datetime, timedelta, timezone

from offbeat import Schedule
from offbeat.runner import current_run
from offbeat.runner.sqlalchemy import SqlAlchemyStore
from sqlalchemy import create_engine

CYCLE = timedelta(seconds=float(os.environ["CYCLE"]))
SCHEDULE = Schedule(CYCLE, slot_count=20, kinds=["balance", "transactions"])
IDS = list(range(30))
REDIS = os.environ["REDIS_URL"]
QUICKLY = {
    "run_time_limit": timedelta(seconds=8),
    # Not shorter: RQ forks for each message, so repeated messages would fill the queue.
    "republish_after": timedelta(seconds=30),
    "keep": timedelta(hours=1),
}


def store() -> SqlAlchemyStore:
    """Return the store, of a process of its own."""
    return SqlAlchemyStore(create_engine(os.environ["STORE"], connect_args={"timeout": 30}))


def write(account_id: int) -> None:
    """Append the current run to the ledger."""
    run = current_run()
    assert run is not None
    line = {
        "time": datetime.now(timezone.utc).isoformat(),
        "row": account_id,
        "run": run.run_id,
        "kind": run.kind,
        "scheduled": run.scheduled_time.isoformat(),
    }
    ledger = os.open(os.environ["LEDGER"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(ledger, (json.dumps(line) + "\n").encode())
    os.close(ledger)
