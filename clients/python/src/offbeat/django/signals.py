"""New rows: their first run is planned in the transaction that saves them."""

from __future__ import annotations

import logging
from typing import Any

from django.db import transaction
from django.db.models.signals import post_save

from ..errors import OffbeatError
from .conf import setting

_log = logging.getLogger("offbeat.django")


def connect() -> None:
    """Listen to all models: which have jobs is known later."""
    post_save.connect(_plan_first_run, dispatch_uid="offbeat.first_run")


def _plan_first_run(
    sender: Any, instance: Any, created: bool, raw: bool = False, using: str = "", **_: Any
) -> None:
    if not created or raw or sender._meta.app_label == "offbeat" or not setting("PLAN_NEW_ROWS"):
        return
    from . import jobs

    for declaration in jobs.declarations().values():
        rows: Any = declaration.rows
        rows = getattr(rows, "source", rows)
        if getattr(rows, "model", None) is not sender:
            continue
        try:
            with transaction.atomic(using=using):  # what fails is undone, and the row is saved
                row_id = getattr(instance, rows.field)
                if rows.contains(row_id):
                    jobs.runner().add_row(declaration, row_id)
        except OffbeatError as error:
            _log.warning(
                "%s: the first run of %s is not planned: %s", declaration.name, row_id, error
            )
