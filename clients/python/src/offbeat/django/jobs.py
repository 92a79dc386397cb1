"""Declared jobs, which ``manage.py offbeat_run`` runs or hands to the workers of a queue."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Callable, TypeVar

from django.utils.module_loading import autodiscover_modules

from ..client import Client
from ..runner import Declaration, Runner, StoredRun
from ..runner.registry import add_source, all_declarations
from ..schedule import AnySchedule
from .conf import get_client, get_schedule, interval
from .rows import ModelRows, QuerySetRows
from .store import get_store

Job = TypeVar("Job", bound=Callable[[Any], object])


@dataclass(frozen=True)
class Recurrence:
    """What a job declares; the declaration itself is created when it is used."""

    schedule: AnySchedule
    rows: QuerySetRows
    options: dict[str, Any]
    #: The function that ``offbeat_run`` calls with the ID of a row; ``None`` for a task.
    job: Callable[[Any], object] | None = None
    #: The task of ``django.tasks`` that ``offbeat_run`` enqueues; ``None`` for a function.
    task: Any = None

    def declaration(self, name: str) -> Declaration[Any]:
        """Return the declaration."""
        return Declaration(name, get_schedule(self.schedule), self.rows, **self.options)


#: All recurrences, by the name of the declaration.
_recurring: dict[str, Recurrence] = {}


def recurring(
    schedule: AnySchedule,
    *,
    rows: ModelRows,
    field: str = "pk",
    name: str | None = None,
    **options: Any,
) -> Callable[[Job], Job]:
    """Declare a function that runs for each row, once in each cycle of a schedule.

    The function takes the ID of a row. ``schedule`` is a name in the setting's ``SCHEDULES``, or
    any schedule; ``rows`` are a model, a queryset, or a function that returns one. ``name`` is by
    default the module and name of the function; ``options`` are those of
    :class:`~offbeat.runner.Declaration`. Functions in an app's ``tasks.py`` are discovered::

        @recurring("bank", kind="balance", rows=Account)
        def sync_balance(account_id): ...

    With Celery, use :func:`offbeat.celery.recurring_task` instead, and with ``django.tasks``
    :func:`offbeat.django.tasks.recurring`.
    """

    def declare(job: Job) -> Job:
        chosen = name or f"{job.__module__}.{job.__qualname__}"
        register(chosen, Recurrence(schedule, QuerySetRows(rows, field), options, job))
        return job

    return declare


def register(name: str, recurrence: Recurrence) -> None:
    """Store a recurrence under its name."""
    _recurring[name] = recurrence


def _declarations() -> list[Declaration[Any]]:
    return [declared.declaration(name) for name, declared in _recurring.items()]


add_source(_declarations)


def recurrences() -> dict[str, Recurrence]:
    """Return what ``manage.py offbeat_run`` runs, by name."""
    discover()
    return dict(_recurring)


def declarations() -> dict[str, Declaration[Any]]:
    """Return all declarations by name, including those of Celery tasks."""
    discover()
    return all_declarations()


@lru_cache(maxsize=1)
def discover() -> None:
    """Import the modules of apps that declare jobs."""
    autodiscover_modules("tasks")


class NoPublisher:
    """The publisher of a runner that only plans and answers questions."""

    def publish(self, runs: Any) -> None:
        """Raise an error: there is no queue."""
        raise RuntimeError("this runner publishes nothing")


def runner(client: Client | None = None) -> Runner:
    """Return a runner of all declarations, which plans but does not publish."""
    found, client = declarations().values(), client or get_client()
    return Runner(found, get_store(), NoPublisher(), client=client, interval=interval())


def run_now(name: str, row_id: Any) -> StoredRun:
    """Plan an extra run of a row, which the next tick publishes."""
    chosen = runner()
    return chosen.run_now(chosen.declarations[name], row_id)
