"""Jobs that write a ledger: a line for each execution, when it begins."""

import json
import os
import signal
import time
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from uuid import UUID

from celery import current_task, shared_task
from celery.exceptions import SoftTimeLimitExceeded
from offbeat import Lane, LaneSet
from offbeat.celery import OffbeatTask, current_run, recurring_task

from .models import Account

QUICKLY = {
    "run_time_limit": timedelta(seconds=float(os.environ.get("RUN_TIME_LIMIT", "8"))),
    "republish_after": timedelta(seconds=float(os.environ.get("REPUBLISH_AFTER", "8"))),
    "keep": timedelta(days=1),
    "acks_late": os.environ.get("ACKS_LATE") == "1",
}
LANES = LaneSet([Lane("express", 1, timedelta(seconds=1)), Lane("slow", 1, timedelta(seconds=3))])


def write(**fields: object) -> None:
    """Append a whole line atomically."""
    # `monotonic` is correct even if a test has set the clock wrong.
    times = {"time": datetime.now(timezone.utc).isoformat(), "monotonic": time.monotonic()}
    line = json.dumps({**times, **fields}) + "\n"
    ledger = os.open(os.environ["LEDGER"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(ledger, line.encode())
    os.close(ledger)


def write_run(account_id: UUID) -> None:
    """Append a run, and take some time."""
    run = current_run()
    assert run is not None
    assert run.row_id == str(account_id)
    scheduled = run.scheduled_time.isoformat()
    write(run=run.run_id, row=run.row_id, kind=run.kind, scheduled=scheduled, pid=os.getpid())
    time.sleep(float(os.environ.get("JOB_SECONDS", "0.005")))


@recurring_task("bank", kind="balance", rows=lambda: Account.objects.filter(active=True), **QUICKLY)
def balance(account_id: UUID) -> None:
    """Sync the balance."""
    write_run(account_id)


@recurring_task("bank", kind="transactions", rows=Account, **QUICKLY)
def transactions(account_id: UUID) -> None:
    """Sync the transactions."""
    if os.path.exists(os.environ.get("KILL", "")):
        os.remove(os.environ["KILL"])
        os.kill(os.getpid(), signal.SIGKILL)
    write_run(account_id)


if "REPORTS" in os.environ:

    @recurring_task(os.environ["REPORTS"], rows=Account, **QUICKLY)
    def report(account_id: UUID) -> None:
        """Write a report, by a schedule that only the sidecar knows."""
        write_run(account_id)


def write_attempt(name: str) -> None:
    """Append an attempt of a job in a lane."""
    request = current_task.request
    write(
        job=name,
        lane=getattr(request, "offbeat_lane", None),
        task=request.id,
        retries=request.retries,
        queue=request.delivery_info["routing_key"],
    )


@shared_task(base=OffbeatTask, lanes=LANES)
def fast(name: str) -> None:
    """End at once."""
    write_attempt(name)


@shared_task(base=OffbeatTask, lanes=LANES, autoretry_for=(Exception,), max_retries=3)
def long(name: str, seconds: float = 1.8) -> None:
    """Take longer than the express lane allows, and not longer than the slow one."""
    write_attempt(name)
    time.sleep(seconds)
    write(job=name, ended=True)


@shared_task(base=OffbeatTask, lanes=LANES)
def deaf(name: str) -> None:
    """Ignore the soft limit."""
    write_attempt(name)
    end = time.monotonic() + 2.2
    while time.monotonic() < end:
        with suppress(SoftTimeLimitExceeded):
            time.sleep(0.1)
    write(job=name, ended=True)


@shared_task(base=OffbeatTask, lanes=LANES)
def endless(name: str) -> None:
    """Never end."""
    write_attempt(name)
    try:
        time.sleep(3_600)
    except SoftTimeLimitExceeded:
        write(job=name, limit=True)
        raise


@shared_task(base=OffbeatTask, lanes=LANES, bind=True, max_retries=1)
def failing(self: OffbeatTask, name: str) -> None:
    """Fail once, and be retried in the same lane."""
    write_attempt(name)
    if self.request.retries == 0:
        raise self.retry(countdown=0.1)
