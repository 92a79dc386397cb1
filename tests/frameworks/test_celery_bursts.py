"""A burst of quick and slow tasks: in lanes the quick ones wait less than in one queue."""

from __future__ import annotations

from datetime import datetime

from harness import Bank
from support.waiting import wait_until

#: In a burst: each slow task, and behind it so many quick ones.
SLOW, QUICK = 8, 6

BURST = f"""
import app, time
from datetime import datetime, timezone
from bank import tasks
sent = datetime.now(timezone.utc).isoformat()
for slow in range({SLOW}):
    tasks.long.apply_async(("slow", 2.8), **options)
    for quick in range({QUICK}):
        tasks.fast.apply_async(("quick",), **options)
print(json.dumps(sent))
"""


def mean_sojourn(bank: Bank, options: str) -> float:
    """Send a burst; return the mean time until a quick task has run, in seconds."""
    before = len(bank.ledger())
    sent = datetime.fromisoformat(bank.shell(f"options = {options}\n{BURST}"))

    def quick() -> list[datetime]:
        lines = bank.ledger()[before:]
        return [datetime.fromisoformat(str(one["time"])) for one in lines if one["job"] == "quick"]

    wait_until(90, lambda: len(quick()) == SLOW * QUICK)
    return sum((time - sent).total_seconds() for time in quick()) / (SLOW * QUICK)


def ready_workers(bank: Bank) -> int:
    """Return how many workers have said that they are ready; also those that were killed."""
    return sum("ready." in log.read_text() for log in bank.folder.glob("worker-*.log"))


def test_quick_tasks_wait_less_in_lanes(bank: Bank) -> None:
    workers = [
        bank.worker("-c", "2", "-O", "fair", "-Q", "express"),
        bank.worker("-c", "1", "-O", "fair", "-Q", "slow"),
    ]
    wait_until(60, lambda: ready_workers(bank) == 2)
    in_lanes = mean_sojourn(bank, "{}")
    for worker in workers:
        bank.kill(worker)
    # The same number of processes on one queue: a queue that the caller names is not a lane.
    bank.worker("-c", "3", "-O", "fair", "-Q", "one")
    wait_until(60, lambda: ready_workers(bank) == 3)
    in_one_queue = mean_sojourn(bank, '{"queue": "one"}')
    print(
        f"mean sojourn of quick tasks: {in_lanes:.2f} s in lanes, {in_one_queue:.2f} s in one queue"
    )
    assert in_lanes < 0.9 * in_one_queue
