"""The index that serves questions about slots and windows."""

from __future__ import annotations

from datetime import timedelta
from functools import lru_cache
from typing import Any

from django.db import models
from django.db.backends.ddl_references import Statement, Table

from ..client import Client
from ..schedule import Schedule
from ..sql import SqlIndex, SqlTarget
from ..times import EPOCH
from .targets import hashed_target, stored_field


class OffbeatIndex(models.Index):
    """An index over the hash of a model's IDs, for ``Meta.indexes``.

    ``field`` is the name of the field with the IDs, ``salt`` that of the schedules. PostgreSQL gets
    an index over an expression, MySQL and MariaDB a generated column with an index, unless the
    database itself counts the IDs. SQLite has no MD5, and gets nothing: see
    :class:`OffbeatHashField`. Where there is nothing, ticks read all IDs. In the database its name
    is another::

        class Meta:
            indexes = [OffbeatIndex(name="account_offbeat")]
    """

    def __init__(self, *, name: str, field: str = "pk", salt: str = "") -> None:
        """Take a name that the app's migrations know it by."""
        self.field, self.salt = field, salt
        super().__init__(fields=["pk"], name=name)
        self.fields_orders: list[tuple[str, str]] = []

    def deconstruct(self) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
        """Return what a migration writes."""
        return (
            "offbeat.django.OffbeatIndex",
            (),
            {"name": self.name, "field": self.field, "salt": self.salt},
        )

    def index(self, model: type[models.Model], using: str) -> SqlIndex | None:
        """Return the index in the database; ``None`` where there is none."""
        target = hashed_target(model, self.field, using)
        return None if target is None else _index(target, self.salt)

    def create_sql(
        self, model: type[models.Model], schema_editor: Any, using: str = "", **kwargs: Any
    ) -> Any:
        """Return the statement that makes it; of two, the first is executed here."""
        index = self.index(model, schema_editor.connection.alias)
        if index is None:
            return _nothing(model, schema_editor)
        *before, last = index.create_statements
        for statement in before:
            schema_editor.execute(statement, params=None)
        return last

    def remove_sql(self, model: type[models.Model], schema_editor: Any, **kwargs: Any) -> Any:
        """Return the statement that drops it."""
        index = self.index(model, schema_editor.connection.alias)
        if index is None:
            return _nothing(model, schema_editor)
        quote = schema_editor.quote_name
        if schema_editor.connection.vendor == "mysql":  # the index goes with its column
            table = quote(model._meta.db_table)
            return f"ALTER TABLE {table} DROP COLUMN {quote(index.name)}"
        return f"DROP INDEX IF EXISTS {quote(index.name)}"


def indexes_of(model: type[models.Model], name: str) -> list[OffbeatIndex]:
    """Return the indexes over the IDs in a field, which are in the table that has its column."""
    stored = stored_field(model, name)
    return [
        index
        for index in stored.model._meta.indexes
        if isinstance(index, OffbeatIndex) and stored_field(stored.model, index.field) == stored
    ]


@lru_cache(maxsize=256)
def _index(target: SqlTarget, salt: str) -> SqlIndex:
    schedule = Schedule(timedelta(days=1), salt=salt)  # the cycle is not in the index
    with Client(mode="local") as client:
        return client.window_predicate(schedule, target, start_time=EPOCH, end_time=EPOCH).index


def _nothing(model: type[models.Model], schema_editor: Any) -> Statement:
    """Return a statement without effect: Django executes what an index returns."""
    return Statement("SELECT 1", table=Table(model._meta.db_table, schema_editor.quote_name))
