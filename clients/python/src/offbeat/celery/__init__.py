"""Celery tasks that run for each row by a schedule, and tasks in lanes.

::

    app = Celery("bank")
    offbeat.celery.setup(app, store=store)     # with offbeat.django, without store

    @recurring_task("bank/1", kind="balance", rows=account_ids)
    def sync_balance(account_id: int) -> None: ...

By default, beat sends the runner's tick every minute; any beat scheduler works, and any number of
them. ``docs/frameworks/celery.md`` starts from scratch.
"""

from ..runner import current_run
from .errors import LanesExhausted
from .pumps import TaskPump
from .setup import setup
from .shards import ShardRouter
from .tasks import OffbeatTask, recurring_task

__all__ = [
    "LanesExhausted",
    "OffbeatTask",
    "ShardRouter",
    "TaskPump",
    "current_run",
    "recurring_task",
    "setup",
]
