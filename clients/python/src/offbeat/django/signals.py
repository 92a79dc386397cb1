"""New rows: their first run is planned in the transaction that saves them."""

from __future__ import annotations

import logging
from functools import lru_cache
from typing import Any

from django.core.signals import setting_changed
from django.db import transaction
from django.db.models.signals import post_save

from .conf import setting

_log = logging.getLogger("offbeat.django")


def connect() -> None:
    """Listen to all models: which have jobs is known later."""
    post_save.connect(_plan_first_run, dispatch_uid="offbeat.first_run")
    setting_changed.connect(_forget, dispatch_uid="offbeat.first_run")


@lru_cache(maxsize=1)
def _jobs_by_model() -> dict[Any, list[str]]:
    """Return the names of declarations by the model of their rows: all saves of a site ask."""
    from . import jobs

    names: dict[Any, list[str]] = {}
    for name, declaration in jobs.declarations().items():
        rows: Any = getattr(declaration.rows, "source", declaration.rows)
        names.setdefault(getattr(rows, "model", None), []).append(name)
    return names


def _forget(**_: Any) -> None:
    _jobs_by_model.cache_clear()


def _plan_first_run(
    sender: Any, instance: Any, created: bool, raw: bool = False, using: str = "", **_: Any
) -> None:
    if not created or raw or sender._meta.app_label == "offbeat" or not setting("PLAN_NEW_ROWS"):
        return
    names = _jobs_by_model().get(sender)
    if not names:
        return
    from . import jobs

    runner = jobs.runner()
    for name in names:
        declaration = runner.declarations[name]
        rows: Any = getattr(declaration.rows, "source", declaration.rows)
        row_id = getattr(instance, rows.field)
        try:
            with transaction.atomic(using=using):  # what fails is undone, and the row is saved
                if rows.contains(row_id):
                    runner.add_row(declaration, row_id)
        except Exception:  # nothing of ours keeps a row from being saved
            _log.exception("%s: the first run of %s is not planned", name, row_id)
