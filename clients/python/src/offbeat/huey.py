"""Huey tasks that run for each row by a schedule, and a predicate for one row."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any, Callable

from huey import crontab

from .client import Client
from .ids import IdValue
from .runner import PutBack, RunMessage, StoredRun
from .runner.jobs import Jobs, Rows
from .runner.store import StoreSource
from .schedule import AnySchedule

_MINUTE = timedelta(minutes=1)


class OffbeatHuey:
    """Plans runs in a periodic task, and enqueues them in a Huey instance.

    ``store`` keeps the runs: a :class:`~offbeat.runner.RunStore`, or a function that creates one in
    each process. Huey polls for periodic tasks once a minute, and for delayed ones once a second::

        offbeat = OffbeatHuey(huey, store)

        @offbeat.recurring("bank/1", kind="balance", rows=account_ids)
        def sync_balance(account_id: int) -> None: ...
    """

    def __init__(self, huey: Any, store: StoreSource, *, client: Client | None = None) -> None:
        """Declare two tasks: the tick, and a run."""
        self.jobs = Jobs(store, self._send, client, _MINUTE)
        self._functions: dict[str, Callable[[Any], object]] = {}
        self._checked = False
        self._task = huey.task(name="offbeat_run")(self._perform)
        huey.periodic_task(crontab(minute="*"), name="offbeat_tick")(self._tick)

    def recurring(
        self,
        schedule: AnySchedule,
        *,
        rows: Rows,
        id_type: type[Any] | None = None,
        name: str | None = None,
        **options: Any,
    ) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
        """Declare a function that runs for each row, once in each cycle of a schedule.

        The function takes the ID of a row. ``options`` are those of
        :class:`~offbeat.runner.Declaration`. A run has failed if the function raises an exception:
        Huey's retries do not apply to runs.
        """

        def declare(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
            chosen = name or function.__name__
            self.jobs.declare(chosen, schedule, rows, id_type, options)
            self._functions[chosen] = function
            return function

        return declare

    def _tick(self) -> None:
        if not self._checked:
            self.jobs.runner.check()
            self._checked = True
        self.jobs.runner.tick()
        self.jobs.runner.prune()

    def _send(self, run: StoredRun) -> None:
        self._schedule(RunMessage.of(run), run.start_time - datetime.now(timezone.utc))

    def _schedule(self, message: RunMessage, delay: timedelta) -> None:
        self._task.schedule((message.to_json(),), delay=max(0.0, delay.total_seconds()))

    def _perform(self, fields: dict[str, Any]) -> None:
        message = RunMessage.from_json(fields)
        try:
            with self.jobs.worker.attempt(message) as attempt:
                if attempt is not None:
                    self._functions[message.declaration](attempt.row_id)
        except PutBack as put_back:
            self._schedule(message, put_back.delay)


def slot(
    schedule: AnySchedule, row_id: IdValue, *, kind: str = "", client: Client | None = None
) -> Callable[[datetime], bool]:
    """Return a predicate for ``huey.periodic_task``: whether a row runs in the given minute.

    Times without a time zone count as UTC, as Huey passes them by default::

        @huey.periodic_task(slot(schedule, "nightly report"))
        def report() -> None: ...
    """
    decider = client or Client(mode="auto", timeout="worker")

    def runs_in_minute(instant: datetime) -> bool:
        aware = instant if instant.tzinfo is not None else instant.replace(tzinfo=timezone.utc)
        start = aware.replace(second=0, microsecond=0)
        assignment = decider.assign_slot(schedule, row_id, from_time=start, kind=kind)
        return assignment.next_run.start_time < start + _MINUTE

    return runs_in_minute
