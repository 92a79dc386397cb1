"""Querysets that know which rows run when."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.db import models

from ..schedule import AnySchedule
from ..sql import SqlTarget
from .conf import get_client, get_schedule
from .rows import condition, sql_target


class OffbeatQuerySet(models.QuerySet[Any]):
    """Rows of a model, by when they run."""

    def due(
        self,
        schedule: AnySchedule,
        *,
        start: datetime,
        end: datetime,
        kind: str = "",
        field: str = "pk",
    ) -> OffbeatQuerySet:
        """Return the rows that run from ``start`` to before ``end``, up to a cycle later.

        ``schedule`` is a name of the setting's ``SCHEDULES``, or any schedule; ``field`` has the
        IDs. It composes with ``filter``, and an :class:`OffbeatIndex` serves it. Not on SQLite.
        """
        predicate = get_client().window_predicate(
            get_schedule(schedule), self._target(field), start_time=start, end_time=end, kind=kind
        )
        return self.filter(condition(predicate))

    def in_slot(
        self, schedule: AnySchedule, slot_index: int, *, kind: str = "", field: str = "pk"
    ) -> OffbeatQuerySet:
        """Return the rows of a slot; see :meth:`due`."""
        slots = get_client().list_slots(
            get_schedule(schedule), sql_target=self._target(field), kind=kind
        )
        for slot in slots:
            if slot.slot_index == slot_index and slot.predicate is not None:
                return self.filter(condition(slot.predicate))
        raise ValueError(f"slot_index: {slot_index} must be one of the {len(slots)} slots")

    def _target(self, field: str) -> SqlTarget:
        target = sql_target(self.model, field, self.db)
        if target is None:
            raise ImproperlyConfigured("SQLite has no MD5, which due() and in_slot() need")
        return target


OffbeatManager = models.Manager.from_queryset(OffbeatQuerySet)
