"""What Offbeat adds to a Celery app: a store, a client, a runner and a worker."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from .._forks import PerProcess
from ..client import Client
from ..lateness import LatenessRecorder
from ..runner import Declaration, RunMessage, Runner, StoredRun, Worker
from ..runner.rows import parse_row_id
from ..runner.runner import look_ahead_of
from ..runner.store import StoreSource, store_of

if TYPE_CHECKING:
    from celery import Celery


class Integration:
    """What Offbeat adds to one app; see :func:`offbeat.celery.setup`."""

    def __init__(
        self,
        app: Celery,
        store: StoreSource,
        client: Client,
        tick_client: Client,
        interval: timedelta,
        lateness: LatenessRecorder | None,
    ) -> None:
        """Create no runner yet: tasks are declared later, and each forked process has its own."""
        self.app, self.client, self.interval, self.lateness = app, client, interval, lateness
        self._source, self._tick_client = store, tick_client
        self._imported = False
        self._process_runner = PerProcess(self._make_runner)

    @property
    def look_ahead(self) -> timedelta:
        """How far ahead ticks plan and publish."""
        return look_ahead_of(self.interval)

    @property
    def runner(self) -> Runner:
        """The runner of this process, with the declarations of all tasks."""
        return self._process_runner()

    def _make_runner(self) -> Runner:
        return Runner(
            self.declarations(),
            store_of(self._source),
            TaskPublisher(self.app),
            client=self._tick_client,
            interval=self.interval,
        )

    @property
    def worker(self) -> Worker:
        """The worker that claims the runs of messages."""
        runner = self.runner
        return Worker(runner.declarations, runner.store)

    def record_start(self, run: StoredRun) -> None:
        """Record how late a run starts."""
        if self.lateness is not None:
            self.lateness.record(run.declaration, run.scheduled_time, kind=run.kind)

    def declarations(self) -> list[Declaration[Any]]:
        """Return the declarations of the app's tasks."""
        if not self._imported:
            self._imported = True  # first: Django's checks call this during the import, too
            self.app.loader.import_default_modules()
        return [
            task.recurrence.declaration(name)
            for name, task in sorted(self.app.tasks.items())
            if getattr(task, "recurrence", None) is not None
        ]


class TaskPublisher:
    """Sends a message for each run: the task, with the ID of the row."""

    def __init__(self, app: Celery) -> None:
        self._app = app

    def publish(self, runs: Sequence[StoredRun]) -> None:
        """Send the messages over one connection."""
        with self._app.producer_or_acquire() as producer:
            for run in runs:
                task = self._app.tasks[run.declaration]
                row_id = parse_row_id(task.recurrence.rows.id_type, run.row_id)
                task.apply_async(
                    (row_id,),
                    task_id=f"{run.run_id}-{run.publication}",
                    eta=_eta(run.start_time),
                    headers={"offbeat_run": RunMessage.of(run).to_json()},
                    producer=producer,
                )


def _eta(start_time: datetime) -> datetime | None:
    """Return the ETA of a later start, or ``None``: workers hold messages with an ETA in memory."""
    return start_time if start_time > datetime.now(start_time.tzinfo) else None


_integrations: WeakKeyDictionary[Any, Integration] = WeakKeyDictionary()


def register(app: Celery, integration: Integration) -> None:
    """Store the integration of an app."""
    _integrations[app] = integration


def integration_of(app: Celery) -> Integration:
    """Return the integration of an app; raises ``RuntimeError`` if it has none."""
    app = getattr(app, "_get_current_object", lambda: app)()
    if app not in _integrations:
        raise RuntimeError(f"offbeat.celery.setup was not called with the app {app.main!r}")
    return _integrations[app]
