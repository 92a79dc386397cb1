"""Plans the first run of a new row in the transaction that saves it."""

from __future__ import annotations

import logging
from functools import lru_cache
from typing import Any

from django.core.signals import setting_changed
from django.db import transaction
from django.db.models.signals import post_save

from ..errors import NeedsSidecar
from ..new_ids import FirstRunPolicy
from .conf import get_local_client, setting
from .targets import stored_field

_log = logging.getLogger("offbeat.django")


def connect() -> None:
    """Listen to all models: it is not known yet which of them have jobs."""
    post_save.connect(_plan_first_run, dispatch_uid="offbeat.first_run")
    setting_changed.connect(_forget, dispatch_uid="offbeat.first_run")


@lru_cache(maxsize=1)
def _jobs_by_model() -> dict[Any, list[str]]:
    """Return the names of declarations by the model of their rows; cached for every save."""
    from . import jobs

    names: dict[Any, list[str]] = {}
    for name, declaration in jobs.declarations().items():
        rows: Any = getattr(declaration.rows, "source", declaration.rows)
        names.setdefault(getattr(rows, "model", None), []).append(name)
    return names


def _forget(**_: Any) -> None:
    _jobs_by_model.cache_clear()


def _names(model: Any) -> list[str]:
    """Return the declarations of a new row: of its model, concrete model and parent models."""
    by_model = _jobs_by_model()
    models = {model, model._meta.concrete_model, *model._meta.get_parent_list()}
    return sorted(name for one in models for name in by_model.get(one, ()))


def _plan_first_run(
    sender: Any, instance: Any, created: bool, raw: bool = False, using: str = "", **_: Any
) -> None:
    if not created or raw or sender._meta.app_label == "offbeat" or not setting("PLAN_NEW_ROWS"):
        return
    for name in _names(sender):
        try:
            _add(name, instance, using)
        except NeedsSidecar:  # a save does not wait for a sidecar: the ticks plan its runs
            _log.debug("%s: the first run of %s is left to the ticks", name, instance.pk)
        except Exception:  # an error of Offbeat must not prevent the save
            _log.exception("%s: the first run of %s is not planned", name, instance.pk)


def _add(name: str, instance: Any, using: str) -> None:
    from . import jobs

    declaration = jobs.declarations()[name]
    # A run soon after the save needs a sidecar; the declaration asks for that.
    smeared = declaration.first_run is FirstRunPolicy.NOW_SMEARED
    runner = jobs.runner(None if smeared else get_local_client())
    rows: Any = getattr(declaration.rows, "source", declaration.rows)
    # The ID as the database returns it: a UUID may have been given as text.
    row_id = rows.column.to_python(getattr(instance, stored_field(rows.model, rows.field).attname))
    with transaction.atomic(using=using):  # a failure is rolled back, and the row is still saved
        # Read from the database that has the row: a replica may not have it yet.
        if rows.queryset().using(using).filter(**{rows.field: row_id}).exists():
            runner.add_row(declaration, row_id)
