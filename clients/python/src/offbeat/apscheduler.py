"""A trigger for APScheduler 3: one job for one row.

It suits hundreds of rows. For more, let one interval job call ``tick`` of an
:class:`offbeat.runner.Runner`.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from apscheduler.triggers.base import BaseTrigger

from .client import Client
from .errors import NeedsSidecar
from .ids import IdValue
from .schedule import AnySchedule

_MILLISECOND = timedelta(milliseconds=1)


class OffbeatTrigger(BaseTrigger):  # type: ignore[misc]
    """Fires when a row runs by a schedule.

    It decides without a sidecar. A schedule that needs one is refused, because APScheduler ends a
    job whose trigger has no next time. ``kind`` is one of the schedule's kinds::

        scheduler.add_job(sync, OffbeatTrigger(schedule, account_id), id=str(account_id))
    """

    def __init__(self, schedule: AnySchedule, row_id: IdValue, *, kind: str = "") -> None:
        """Check the schedule."""
        self.schedule, self.row_id, self.kind = schedule, row_id, kind
        reason = _client().local_refusal(schedule)
        if reason is not None:
            raise NeedsSidecar(reason)

    def get_next_fire_time(
        self, previous_fire_time: datetime | None, now: datetime
    ) -> datetime | None:
        """Return the first run after the previous fire time or, if there is none, from ``now``."""
        start = now if previous_fire_time is None else previous_fire_time + _MILLISECOND
        assignment = _client().assign_slot(
            self.schedule, self.row_id, from_time=start, kind=self.kind
        )
        run = assignment.next_run
        return run.start_time.astimezone(now.tzinfo)

    def __getstate__(self) -> dict[str, Any]:
        return {"schedule": self.schedule, "row_id": self.row_id, "kind": self.kind}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def __str__(self) -> str:
        return f"offbeat[{self.row_id}]"


_local: list[Client] = []


def _client() -> Client:
    """Return a client that decides locally; it has no connection."""
    if not _local:
        _local.append(Client(mode="local"))
    return _local[0]
