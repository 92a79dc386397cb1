"""A backend of ``django.tasks`` that defers each task to the next run of its ID."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.core import checks
from django.core.exceptions import ImproperlyConfigured

# Django 6 has these; type checkers here know 5.2.
from django.tasks import task_backends  # pyright: ignore[reportMissingImports]
from django.tasks.backends.base import BaseTaskBackend  # pyright: ignore[reportMissingImports]
from django.tasks.exceptions import InvalidTaskBackend  # pyright: ignore[reportMissingImports]

from ...errors import OffbeatError
from ...runner import Declaration, IdList
from ...runner.declarations import check as check_declaration
from .. import conf

_OPTIONS = {"wraps", "schedule", "kind"}


class OffbeatBackend(BaseTaskBackend):
    """Passes tasks to another backend, with the next run of their ID as ``run_after``.

    The ID is the first argument of a task, after the context if it takes one: a UUID, which is
    passed on as text, an integer or text. A task without an ID, or with its own ``run_after``, is
    passed on unchanged. ``OPTIONS`` are:

    wraps: the alias in ``TASKS`` of the other backend, which provides the workers and results. It
        must support ``run_after``.
    schedule: a name in ``SCHEDULES`` of the setting ``OFFBEAT``, or any schedule.
    kind: one of the schedule's kinds, if it declares any. Default: none.

    ``enqueue`` raises what :meth:`~offbeat.Client.assign_slot` does, and what the other backend
    does.
    """

    def __init__(self, alias: str, params: Mapping[str, Any]) -> None:
        """Look up the other backend; raises ``InvalidTaskBackend`` if there is none."""
        super().__init__(alias, params)
        given = set(self.options)
        if not {"wraps", "schedule"} <= given <= _OPTIONS or self.options["wraps"] == alias:
            raise InvalidTaskBackend(
                f"TASKS[{alias!r}]: OPTIONS must have 'wraps', the alias of another backend, and "
                f"'schedule'; it may have 'kind', and has {sorted(given)}"
            )
        self._wrapped = task_backends[self.options["wraps"]]
        self._kind: str = self.options.get("kind", "")
        self.queues = self._wrapped.queues
        self.task_class = self._wrapped.task_class
        self.supports_defer = self._wrapped.supports_defer
        self.supports_async_task = self._wrapped.supports_async_task
        self.supports_get_result = self._wrapped.supports_get_result
        self.supports_priority = self._wrapped.supports_priority

    def validate_task(self, task: Any) -> None:
        """Delegate to the other backend."""
        self._wrapped.validate_task(task)

    def enqueue(self, task: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Pass a task to the other backend, with the time of its next run."""
        args, kwargs = list(args), dict(kwargs)
        holder, key = _first_argument(task, args, kwargs)
        first = None if key is None else holder[key]
        changes: dict[str, Any] = {"backend": self._wrapped.alias}
        if task.run_after is None and _is_id(first):
            changes["run_after"] = self._next_run_time(first)
            holder[key] = str(first) if isinstance(first, UUID) else first  # JSON has no UUIDs
        return self._wrapped.enqueue(task.using(**changes), args, kwargs)

    def _next_run_time(self, row_id: Any) -> Any:
        schedule = conf.get_schedule(self.options["schedule"])
        assignment = conf.get_client().assign_slot(schedule, row_id, kind=self._kind)
        return assignment.next_run.start_time

    def get_result(self, result_id: str) -> Any:
        """Delegate to the other backend."""
        return self._wrapped.get_result(result_id)

    async def aget_result(self, result_id: str) -> Any:
        """Delegate to the other backend."""
        return await self._wrapped.aget_result(result_id)

    def check(self, **kwargs: Any) -> list[checks.CheckMessage]:
        """Report an unknown schedule or kind, or a backend that cannot defer tasks."""
        if not self.supports_defer:
            message = f"TASKS[{self.alias!r}]: {self._wrapped.alias!r} does not support run_after."
            return [checks.Warning(message, id="offbeat.W003")]
        try:
            schedule, client = conf.get_schedule(self.options["schedule"]), conf.get_client()
            if client.local_refusal(schedule) is None:
                declaration = Declaration("task", schedule, IdList([0]), kind=self._kind)
                check_declaration(declaration, client, timedelta(0))
        except (ImproperlyConfigured, OffbeatError) as error:
            return [checks.Error(f"TASKS[{self.alias!r}]: {error}", id="offbeat.E006")]
        return []


def _first_argument(task: Any, args: list[Any], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """Return the list or dictionary of a task's first argument, and its key there, if any."""
    if args:
        return args, 0
    names = list(inspect.signature(task.func).parameters)[1 if task.takes_context else 0 :]
    return kwargs, names[0] if names and names[0] in kwargs else None


def _is_id(value: Any) -> bool:
    return isinstance(value, (UUID, int, str)) and not isinstance(value, bool)
