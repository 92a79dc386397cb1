"""Querysets that know which rows run when."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.db import models

from ..schedule import AnySchedule
from ..sql import SqlPredicate, SqlTarget
from .conditions import condition
from .conf import get_client, get_schedule
from .rows import has_column, serves_salt, sql_target


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

        ``schedule`` is a name in the setting's ``SCHEDULES``, or any schedule; ``field`` has the
        IDs. The result composes with ``filter``. An :class:`OffbeatIndex` serves the query; it is
        required in MySQL and MariaDB. SQLite requires an :class:`OffbeatHashField`.
        """
        schedule = get_schedule(schedule)
        predicate = get_client().window_predicate(
            schedule, self._target(schedule, field), start_time=start, end_time=end, kind=kind
        )
        return self._selected(predicate, field)

    def in_slot(
        self, schedule: AnySchedule, slot_index: int, *, kind: str = "", field: str = "pk"
    ) -> OffbeatQuerySet:
        """Return the rows of a slot; see :meth:`due`."""
        schedule = get_schedule(schedule)
        target = self._target(schedule, field)
        slots = get_client().list_slots(schedule, sql_target=target, kind=kind)
        for slot in slots:
            if slot.slot_index == slot_index and slot.predicate is not None:
                return self._selected(slot.predicate, field)
        raise ValueError(f"slot_index: {slot_index} must be one of the {len(slots)} slots")

    def _target(self, schedule: AnySchedule, field: str) -> SqlTarget:
        target = sql_target(self.model, field, self.db)
        if target is None:
            raise ImproperlyConfigured(
                f"due() and in_slot() need an OffbeatIndex over {field!r} of "
                f"{self.model._meta.label}, or on SQLite, which has no MD5, an OffbeatHashField"
            )
        salt = get_client().describe_schedule(schedule).schedule.salt
        if not serves_salt(self.model, field, self.db, salt):
            raise ImproperlyConfigured(
                f"{self.model._meta.label} holds hashes with another salt than {salt!r}, that of "
                "the schedule"
            )
        return target

    def _selected(self, predicate: SqlPredicate, field: str) -> OffbeatQuerySet:
        if not has_column(self.model, field, self.db, predicate):
            raise ImproperlyConfigured(
                f"no OffbeatIndex of {self.model._meta.label} makes the column "
                f"{predicate.index.name}, which this placement needs"
            )
        return self.filter(condition(predicate, field))


OffbeatManager = models.Manager.from_queryset(OffbeatQuerySet)
