"""Workers and a beat whose clocks are wrong: the database's clock decides."""

from __future__ import annotations

import time
from collections import Counter
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from harness import PROJECT, Bank, rows_done
from runs import START_TIMES, check_nothing_is_lost, settle
from support.databases import PostgreSql
from support.waiting import wait_until

ROWS = 60
CYCLE = timedelta(seconds=12)
AHEAD, BEHIND = timedelta(minutes=5), timedelta(minutes=-1)


def wrong_clock(offset: timedelta) -> dict[str, str]:
    """Return the environment of a process whose clock is wrong."""
    path = f"{Path(__file__).parent / 'wrong_clock'}:{PROJECT}"
    return {"PYTHONPATH": path, "CLOCK_OFFSET": str(offset.total_seconds())}


def true_time(line: dict[str, Any]) -> datetime:
    """Return when a line was written, by the clock of this process."""
    return datetime.now(timezone.utc) - timedelta(seconds=time.monotonic() - line["monotonic"])


def minutes_wrong(line: dict[str, Any]) -> float:
    """Return how wrong the clock of the worker was that wrote a line, to half a minute."""
    return round((datetime.fromisoformat(line["time"]) - true_time(line)).total_seconds() / 30) / 2


def test_no_run_is_early_twice_or_lost(bank: Bank, postgresql: PostgreSql) -> None:
    bank.environment |= {"INTERVAL": "2s", "CYCLE": "12s", "SLOT_COUNT": "12"}
    bank.shell(f"Account.objects.bulk_create([Account() for _ in range({ROWS})]); print(1)")
    bank.worker("-c", "1")
    ahead = bank.worker("-c", "1", **wrong_clock(AHEAD))
    behind = bank.worker("-c", "1", **wrong_clock(BEHIND))
    bank.beat(**wrong_clock(BEHIND))

    wait_until(120, lambda: rows_done(bank) == 2 * ROWS)
    # By then the slow worker starts the runs that it has held from the beginning.
    last = datetime.now(timezone.utc) - BEHIND
    wait_until(180, lambda: rows_done(bank, last) == 2 * ROWS)
    settle(postgresql, last)

    assert check_nothing_is_lost(bank, postgresql, last, CYCLE) == 0
    lines = bank.ledger()
    with postgresql.connect("bank") as connection:
        start_times = dict(connection.execute(START_TIMES).fetchall())
    assert [line for line in lines if true_time(line) < start_times[line["run"]]] == []
    # All three workers have worked, and the wrong clocks have had their effects.
    done = Counter(minutes_wrong(line) for line in lines)
    assert done.keys() == {0, AHEAD / timedelta(minutes=1), BEHIND / timedelta(minutes=1)}
    assert "is obsolete" in bank.log(behind)
    assert "Discarding revoked task" not in bank.log(ahead)
