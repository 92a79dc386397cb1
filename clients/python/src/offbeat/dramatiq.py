"""Dramatiq actors that run for each row by a schedule."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager
from datetime import datetime, timedelta, timezone
from typing import Any, Callable

import dramatiq
from dramatiq.middleware import Middleware, Retries, SkipMessage

from .client import Client
from .runner import PutBack, Retry, RunMessage, StoredRun
from .runner.jobs import Jobs, Rows
from .runner.rows import parse_row_id
from .runner.store import StoreSource
from .schedule import AnySchedule

_RUN = "offbeat_run"


class OffbeatMiddleware(Middleware):  # type: ignore[misc]
    """Plans and claims runs. A thread in each worker process ticks; any number of them may.

    ``store`` keeps the runs: a :class:`~offbeat.runner.RunStore`, or a function that creates one in
    each process. Create the middleware before actors are declared::

        offbeat = OffbeatMiddleware(broker, store)

        @offbeat.actor("bank/1", kind="balance", rows=account_ids)
        def sync_balance(account_id: int) -> None: ...
    """

    def __init__(
        self,
        broker: dramatiq.Broker,
        store: StoreSource,
        *,
        client: Client | None = None,
        interval: timedelta = timedelta(minutes=1),
    ) -> None:
        """Add the middleware to a broker, before ``Retries``."""
        self._broker = broker
        self.jobs = Jobs(store, self._send, client, interval)
        self._stop = threading.Event()
        self._attempts: dict[str, AbstractContextManager[Any]] = {}
        broker.add_middleware(self, before=Retries)

    def actor(
        self,
        schedule: AnySchedule,
        *,
        rows: Rows,
        id_type: type[Any] | None = None,
        name: str | None = None,
        actor_options: dict[str, Any] | None = None,
        **options: Any,
    ) -> Callable[[Callable[[Any], Any]], Any]:
        """Declare an actor that runs for each row, once in each cycle of a schedule.

        The function takes the ID of a row. ``options`` are those of
        :class:`~offbeat.runner.Declaration`, ``actor_options`` those of ``dramatiq.actor``.
        """

        def declare(function: Callable[[Any], Any]) -> Any:
            chosen = name or function.__name__
            self.jobs.declare(chosen, schedule, rows, id_type, options)
            more = actor_options or {}
            actor: Any = dramatiq.actor  # its overloads take no dictionary of options
            return actor(function, actor_name=chosen, broker=self._broker, **more)

        return declare

    def _send(self, run: StoredRun) -> None:
        actor = self._broker.get_actor(run.declaration)
        row_id = parse_row_id(self.jobs.declaration(run.declaration).rows.id_type, run.row_id)
        message = actor.message_with_options(args=(row_id,), **{_RUN: RunMessage.of(run).to_json()})
        self._enqueue(message, run.start_time - datetime.now(timezone.utc))

    def _enqueue(self, message: Any, delay: timedelta) -> None:
        millis = int(delay.total_seconds() * 1_000)
        self._broker.enqueue(message, delay=millis if millis > 0 else None)

    def after_worker_boot(self, broker: Any, worker: Any) -> None:
        """Check the declarations, and start the thread that ticks."""
        runner = self.jobs.runner
        runner.check()
        thread = threading.Thread(target=runner.run, args=(self._stop,), name="offbeat-runner")
        thread.daemon = True
        thread.start()

    def before_worker_shutdown(self, broker: Any, worker: Any) -> None:
        """Stop ticking."""
        self._stop.set()

    def before_process_message(self, broker: Any, message: Any) -> None:
        """Claim the run of a message, or skip the message."""
        fields = message.options.get(_RUN)
        if fields is None:
            return
        attempt = self.jobs.worker.attempt(RunMessage.from_json(fields))
        try:
            claimed = attempt.__enter__()
        except PutBack as put_back:
            self._enqueue(message.copy(), put_back.delay)
            raise SkipMessage from None
        if claimed is None:
            attempt.__exit__(None, None, None)
            raise SkipMessage
        self._attempts[message.message_id] = attempt

    def after_process_message(
        self,
        broker: Any,
        message: Any,
        *,
        result: Any = None,
        exception: BaseException | None = None,
    ) -> None:
        """End the run; ``Retries`` has already decided whether to retry the message."""
        attempt = self._attempts.pop(message.message_id, None)
        if attempt is None:
            return
        if exception is not None and not message.failed:
            exception = Retry()
        if exception is None:
            attempt.__exit__(None, None, None)
            return
        try:
            attempt.__exit__(type(exception), exception, exception.__traceback__)
        except BaseException as raised:  # usually what the actor raised
            if raised is not exception:
                raise
