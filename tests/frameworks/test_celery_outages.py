"""A stopped sidecar and a lost database, under real beats and workers."""

from __future__ import annotations

import signal
from datetime import datetime, timedelta, timezone
from statistics import median

from harness import Bank, rows_done
from runs import check_nothing_is_lost, settle
from support.databases import PostgreSql
from support.server import Server
from support.waiting import wait_until

ROWS = 40
CYCLE = timedelta(seconds=12)
COMPRESSED = {"INTERVAL": "3s", "CYCLE": "12s", "SLOT_COUNT": "12"}


def start(bank: Bank) -> None:
    bank.shell(f"Account.objects.bulk_create([Account() for _ in range({ROWS})]); print(1)")
    bank.worker("-c", "2")
    bank.beat()


def now() -> datetime:
    return datetime.now(timezone.utc)


def test_a_frozen_sidecar_holds_up_only_what_needs_it(bank: Bank, postgresql: PostgreSql) -> None:
    schedules = bank.folder / "schedules.toml"
    schedules.write_text(
        '[[schedule]]\nname = "reports"\nversion = 1\nperiod = "12s"\nslot_count = 12\n'
    )
    bank.environment |= COMPRESSED
    bank.environment |= {"REPUBLISH_AFTER": "600", "RUN_TIME_LIMIT": "600"}
    with Server("--schedules", str(schedules)) as sidecar:
        bank.environment |= {"MODE": "auto", "OFFBEAT_ADDRESS": sidecar.address}
        bank.environment["REPORTS"] = "reports/1"
        start(bank)
        wait_until(120, lambda: rows_done(bank) == 3 * ROWS)

        sidecar.process.send_signal(signal.SIGSTOP)
        try:
            # Runs that were planned before are still published.
            frozen = now() + timedelta(seconds=4)
            wait_until(120, lambda: rows_done(bank, frozen + CYCLE) == 2 * ROWS)
            lines = [line for line in bank.ledger() if line["scheduled"] > frozen.isoformat()]
            assert {line["kind"] for line in lines} == {"balance", "transactions"}
        finally:
            sidecar.process.send_signal(signal.SIGCONT)
        continued = now()
        late = [
            datetime.fromisoformat(line["time"]) - datetime.fromisoformat(line["scheduled"])
            for line in lines
        ]
        # The median: other processes compete for the CPUs.
        assert median(late) < timedelta(seconds=2), sorted(late)

        wait_until(120, lambda: rows_done(bank, continued) == 3 * ROWS)
        settle(postgresql, continued)
    assert check_nothing_is_lost(bank, postgresql, continued, CYCLE) == 0


def test_a_database_that_goes_away(bank: Bank, postgresql: PostgreSql) -> None:
    kill = bank.folder / "kill"
    bank.environment |= {**COMPRESSED, "KILL": str(kill)}
    start(bank)
    wait_until(120, lambda: rows_done(bank) == 2 * ROWS)
    # The process of a job dies: the worker itself opens a connection, to have its run done again.
    kill.touch()
    wait_until(60, lambda: lost_processes(bank) == 1)

    postgresql.crash()
    try:
        wait_until(60, lambda: failures(bank, "offbeat.tick") >= 2)
        wait_until(60, lambda: failures(bank, "bank.tasks.") >= 1)
    finally:
        postgresql.start()
    started = now()
    kill.touch()
    wait_until(60, lambda: lost_processes(bank) == 2)
    wait_until(120, lambda: rows_done(bank, started + CYCLE) == 2 * ROWS)
    settle(postgresql, started + CYCLE)
    # A process may have had one job in hand whose end it could not write.
    assert check_nothing_is_lost(bank, postgresql, started + CYCLE, CYCLE) <= 2


def failures(bank: Bank, task: str) -> int:
    """Return how often a task has failed."""
    return sum(f"Task {task}" in line and " raised " in line for line in worker_log(bank))


def lost_processes(bank: Bank) -> int:
    """Return how often Celery has handled the death of a process to its end."""
    return sum("Task handler raised error: WorkerLostError" in line for line in worker_log(bank))


def worker_log(bank: Bank) -> list[str]:
    return [line for log in bank.folder.glob("worker-*.log") for line in log.open()]
