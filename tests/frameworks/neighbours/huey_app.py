"""An application on Huey."""

from common import IDS, QUICKLY, REDIS, SCHEDULE, store, write
from huey import RedisHuey
from offbeat.huey import OffbeatHuey

huey = RedisHuey("bank", url=REDIS)
offbeat = OffbeatHuey(huey, store)


@offbeat.recurring(SCHEDULE, kind="balance", rows=IDS, name="balance", **QUICKLY)
def balance(account_id: int) -> None:
    """Sync the balance."""
    write(account_id)


@offbeat.recurring(SCHEDULE, kind="transactions", rows=IDS, name="transactions", **QUICKLY)
def transactions(account_id: int) -> None:
    """Sync the transactions."""
    write(account_id)
