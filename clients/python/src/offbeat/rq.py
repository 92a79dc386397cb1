"""RQ jobs that run for each row by a schedule."""

from __future__ import annotations

import functools
import threading
from datetime import datetime, timedelta, timezone
from typing import Any, Callable

from rq import Queue

from .client import Client
from .runner import PutBack, RunMessage, StoredRun
from .runner.jobs import Jobs, Rows
from .runner.rows import parse_row_id
from .runner.store import StoreSource
from .schedule import AnySchedule


class OffbeatQueue:
    """Plans runs, and enqueues them in RQ. Any number of processes may tick, by :meth:`run`.

    ``store`` keeps the runs: a :class:`~offbeat.runner.RunStore`, or a function that creates one in
    each process. Workers need ``--with-scheduler``, which polls for delayed jobs once a second::

        offbeat = OffbeatQueue(Queue(connection=redis), store)

        @offbeat.recurring("bank/1", kind="balance", rows=account_ids)
        def sync_balance(account_id: int) -> None: ...
    """

    def __init__(
        self,
        queue: Queue,
        store: StoreSource,
        *,
        client: Client | None = None,
        interval: timedelta = timedelta(minutes=1),
    ) -> None:
        """Store the settings; the store is created at its first use."""
        self.queue = queue
        self.jobs = Jobs(store, self._send, client, interval)
        self._functions: dict[str, Callable[..., Any]] = {}

    def recurring(
        self,
        schedule: AnySchedule,
        *,
        rows: Rows,
        id_type: type[Any] | None = None,
        name: str | None = None,
        **options: Any,
    ) -> Callable[[Callable[[Any], Any]], Callable[..., Any]]:
        """Declare a function that runs for each row, once in each cycle of a schedule.

        The function takes the ID of a row; RQ must be able to import it. ``options`` are those of
        :class:`~offbeat.runner.Declaration`. A run has failed if the function raises an exception:
        RQ's retries do not apply to runs.
        """

        def declare(function: Callable[[Any], Any]) -> Callable[..., Any]:
            chosen = name or f"{function.__module__}.{function.__qualname__}"
            self.jobs.declare(chosen, schedule, rows, id_type, options)

            @functools.wraps(function)
            def perform(row_id: Any, offbeat_run: dict[str, Any] | None = None) -> Any:
                if offbeat_run is None:  # called, or enqueued, by hand
                    return function(row_id)
                return self._perform(function, RunMessage.from_json(offbeat_run))

            self._functions[chosen] = perform
            return perform

        return declare

    def run(self, stop: threading.Event) -> None:
        """Tick until an event is set."""
        self.jobs.runner.check()
        self.jobs.runner.run(stop)

    def _send(self, run: StoredRun) -> None:
        self._enqueue(RunMessage.of(run), run.start_time)

    def _enqueue(self, message: RunMessage, at: datetime) -> None:
        declaration = self.jobs.declaration(message.declaration)
        row_id = parse_row_id(declaration.rows.id_type, message.row_id)
        arguments: dict[str, Any] = {
            "args": (row_id,),
            "kwargs": {"offbeat_run": message.to_json()},
            "job_timeout": int(declaration.run_time_limit.total_seconds()),
            "result_ttl": 0,
        }
        function = self._functions[message.declaration]
        if at > datetime.now(timezone.utc):
            self.queue.enqueue_at(at, function, **arguments)
        else:
            self.queue.enqueue(function, **arguments)

    def _perform(self, function: Callable[[Any], Any], message: RunMessage) -> Any:
        try:
            with self.jobs.worker.attempt(message) as attempt:
                return None if attempt is None else function(attempt.row_id)
        except PutBack as put_back:
            self._enqueue(message, datetime.now(timezone.utc) + put_back.delay)
            return None
