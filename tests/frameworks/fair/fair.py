"""A Celery app whose tenants take turns: a spread orders jobs, a pump keeps the queue short."""

import os
import signal
import time
from contextlib import suppress
from datetime import timedelta

import offbeat
from celery import Celery
from offbeat.celery import OffbeatTask, TaskPump

app = Celery("fair", broker=os.environ["BROKER"])
app.conf.worker_prefetch_multiplier = 1
app.conf.broker_connection_retry_on_startup = True

client = offbeat.Client(os.environ["OFFBEAT_ADDRESS"], mode="remote")
exports = TaskPump(
    app,
    client.named_spread(
        "exports",
        4,
        lease_duration=timedelta(seconds=3),
        max_consumer_lease_count=8,
        max_attempt_count=2,
    ),
    queue="exports",
)


def write(*words: object) -> None:
    """Append a whole line atomically."""
    ledger = os.open(os.environ["LEDGER"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(ledger, (" ".join(map(str, words)) + "\n").encode())
    os.close(ledger)


@app.task(base=OffbeatTask)
def export(tenant: str, number: int) -> None:
    """Export."""
    write(tenant, number)


@app.task(base=OffbeatTask, bind=True, max_retries=1)
def again(self: OffbeatTask) -> None:
    """Fail once, and be tried again by Celery."""
    write("again", self.request.retries)
    if self.request.retries == 0:
        raise self.retry(countdown=0.2)


@app.task(base=OffbeatTask)
def failing() -> None:
    """Fail."""
    write("failing")
    raise ValueError("it never works")


@app.task(base=OffbeatTask)
def deadly() -> None:
    """Kill the worker process."""
    write("deadly")
    os.kill(os.getpid(), signal.SIGKILL)


@app.task(base=OffbeatTask)
def slow() -> None:
    """Take longer than a lease."""
    write("slow")
    time.sleep(5)
    write("slow", "ended")


@app.task
def plain() -> None:
    """Settle no lease, because the task lacks the base class."""


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        exports.run("pump")
