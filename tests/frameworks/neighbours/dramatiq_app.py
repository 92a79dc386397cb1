"""An application on Dramatiq."""

from datetime import timedelta

import dramatiq
from common import IDS, QUICKLY, REDIS, SCHEDULE, store, write
from dramatiq.brokers.redis import RedisBroker
from offbeat.dramatiq import OffbeatMiddleware

broker = RedisBroker(url=REDIS)
dramatiq.set_broker(broker)
offbeat = OffbeatMiddleware(broker, store, interval=timedelta(seconds=2))
failed: set[int] = set()


@offbeat.actor(SCHEDULE, kind="balance", rows=IDS, name="balance", **QUICKLY)
def balance(account_id: int) -> None:
    """Sync the balance."""
    write(account_id)


@offbeat.actor(
    SCHEDULE,
    kind="transactions",
    rows=IDS,
    name="transactions",
    actor_options={"min_backoff": 100, "max_backoff": 200},
    **QUICKLY,
)
def transactions(account_id: int) -> None:
    """Fail at first for some, and sync the transactions."""
    if account_id % 10 == 0 and account_id not in failed:
        failed.add(account_id)
        raise ValueError("at first")
    write(account_id)
