"""System checks, which report what cannot work before it runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core import checks
from django.core.exceptions import ImproperlyConfigured
from django.db import connections

from ..errors import OffbeatError
from ..runner.declarations import check as check_declaration
from ..runner.runner import look_ahead_of
from .conf import get_client, interval, setting
from .indexes import OffbeatIndex, indexes_of
from .targets import hashed_target


def register() -> None:
    """Register the checks."""
    checks.register(check_settings, "offbeat")
    checks.register(check_declarations, "offbeat")
    checks.register(check_tasks, "offbeat")
    checks.register(check_indexes, checks.Tags.database)


def check_settings(**_: Any) -> list[checks.CheckMessage]:
    """Check ``USE_TZ`` and the ``OFFBEAT`` setting."""
    found: list[checks.CheckMessage] = []
    if not settings.USE_TZ:
        hint = "Set USE_TZ = True: runs are instants."
        found.append(checks.Error("Offbeat needs time zones.", hint=hint, id="offbeat.E001"))
    try:
        interval()
        get_client()
        using = setting("USING")
    except ImproperlyConfigured as error:
        return [*found, checks.Error(str(error), id="offbeat.E002")]
    if using not in settings.DATABASES:
        message = f"OFFBEAT: USING is {using!r}, which is not among DATABASES."
        found.append(checks.Error(message, id="offbeat.E002"))
    return found


def check_declarations(**_: Any) -> list[checks.CheckMessage]:
    """Check the declarations: their schedules and kinds, and whether they need a sidecar."""
    from .jobs import declarations

    found: list[checks.CheckMessage] = []
    try:
        client, declared, look_ahead = get_client(), declarations(), look_ahead_of(interval())
    except ImproperlyConfigured as error:
        return [checks.Error(str(error), id="offbeat.E003")]
    for name, declaration in declared.items():
        try:
            refusal = client.local_refusal(declaration.schedule)
            if refusal is None:
                check_declaration(declaration, client, look_ahead)
        except OffbeatError as error:
            found.append(checks.Error(f"{name}: {error}", id="offbeat.E003"))
            continue
        if refusal is not None and setting("MODE") == "local":
            hint = 'Start a sidecar, and set MODE to "auto".'
            found.append(checks.Error(f"{name}: {refusal}", hint=hint, id="offbeat.E004"))
        elif refusal is not None and setting("ADDRESS") is None:
            hint = "Set ADDRESS in OFFBEAT, and start a sidecar there."
            found.append(checks.Warning(f"{name}: {refusal}", hint=hint, id="offbeat.W001"))
    return found


def check_tasks(**_: Any) -> list[checks.CheckMessage]:
    """Check that the tasks of ``django.tasks`` have backends that can run them."""
    from .jobs import recurrences

    found: list[checks.CheckMessage] = []
    for name, recurrence in recurrences().items():
        task = recurrence.task
        if task is not None and not task.get_backend().supports_defer:
            message = f"{name}: the backend {task.backend!r} has no run_after: it does not run."
            hint = "Set a backend in TASKS that has, such as that of django-tasks-db."
            found.append(checks.Warning(message, hint=hint, id="offbeat.W003"))
    return found


def check_indexes(databases: Any = None, **_: Any) -> list[checks.CheckMessage]:
    """Check that the database has the indexes of ``Meta.indexes``, and that there are some."""
    from .jobs import declarations

    found: list[checks.CheckMessage] = []
    for alias in databases or ():
        for model in apps.get_models():
            indexes = [one for one in model._meta.indexes if isinstance(one, OffbeatIndex)]
            for index in indexes:
                made = index.index(model, alias)
                if made is not None and not _has_index(alias, model._meta.db_table, made.name):
                    message = f"{model._meta.label} has no index {made.name} in {alias!r}."
                    hint = "Run makemigrations and migrate."
                    found.append(checks.Error(message, hint=hint, id="offbeat.E005"))
        for name, declaration in declarations().items():
            rows: Any = getattr(declaration.rows, "source", declaration.rows)
            model = getattr(rows, "model", None)
            if model is not None and connections[alias].vendor != "sqlite":
                found.extend(_warnings(name, declaration, rows, alias))
    return found


def _warnings(name: str, declaration: Any, rows: Any, alias: str) -> Iterator[checks.CheckMessage]:
    """Warn if each tick reads all rows, and say how to avoid it."""
    model = rows.model
    hint = "Add an OffbeatIndex to Meta.indexes of the model, and migrate."
    if hashed_target(model, rows.field, alias) is None:
        hint = f"{alias!r} counts the IDs itself, and cannot index them: name another field."
    elif indexes := indexes_of(model, rows.field):
        schedule = declaration.schedule
        if get_client().local_refusal(schedule) is not None:
            return  # only the sidecar knows its salt, and a check does not wait for that
        salt = get_client().describe_schedule(schedule).schedule.salt
        if any(index.salt == salt for index in indexes):
            return
        hint = f"Add an OffbeatIndex with the salt of the schedule, {salt!r}, and migrate."
    message = f"{name}: each tick reads all rows of {model._meta.label}."
    yield checks.Warning(message, hint=hint, id="offbeat.W002")


def _has_index(alias: str, table: str, name: str) -> bool:
    connection = connections[alias]
    if table not in connection.introspection.table_names():
        return True  # not migrated at all, which Django itself reports
    with connection.cursor() as cursor:
        return name in connection.introspection.get_constraints(cursor, table)
