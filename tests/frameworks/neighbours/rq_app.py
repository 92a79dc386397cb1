"""An application on RQ; run it to tick."""

import threading
from datetime import timedelta

from common import IDS, QUICKLY, REDIS, SCHEDULE, store, write
from offbeat.rq import OffbeatQueue
from redis import Redis
from rq import Queue

offbeat = OffbeatQueue(
    Queue(connection=Redis.from_url(REDIS)), store, interval=timedelta(seconds=2)
)


@offbeat.recurring(SCHEDULE, kind="balance", rows=IDS, name="balance", **QUICKLY)
def balance(account_id: int) -> None:
    """Sync the balance."""
    write(account_id)


@offbeat.recurring(SCHEDULE, kind="transactions", rows=IDS, name="transactions", **QUICKLY)
def transactions(account_id: int) -> None:
    """Sync the transactions."""
    write(account_id)


def tick() -> None:
    """Tick forever."""
    offbeat.run(threading.Event())
