"""The index that serves predicates of slots and windows."""

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

    ``field`` is the name of the field with the IDs, and ``salt`` the salt of the schedules. In
    PostgreSQL, this is an index over an expression; in MySQL and MariaDB, a generated column with
    an index, unless the database generates the IDs. In SQLite, which has no MD5, it creates
    nothing: see :class:`OffbeatHashField`. Without an index, ticks read all IDs. The index has
    another name in the database than in Django::

        class Meta:
            indexes = [OffbeatIndex(name="account_offbeat")]
    """

    def __init__(self, *, name: str, field: str = "pk", salt: str = "") -> None:
        """Set the name that the app's migrations use."""
        self.field, self.salt = field, salt
        super().__init__(fields=["pk"], name=name)
        self.fields_orders: list[tuple[str, str]] = []

    def deconstruct(self) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
        """Return what a migration stores."""
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
        """Return the statement that creates it; if there are several, execute the others first."""
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
    """Return the indexes over the IDs of a field, from the model whose table has its column."""
    stored = stored_field(model, name)
    return [
        index
        for index in stored.model._meta.indexes
        if isinstance(index, OffbeatIndex) and stored_field(stored.model, index.field) == stored
    ]


@lru_cache(maxsize=256)
def _index(target: SqlTarget, salt: str) -> SqlIndex:
    schedule = Schedule(timedelta(days=1), salt=salt)  # the index does not depend on the cycle
    with Client(mode="local") as client:
        return client.window_predicate(schedule, target, start_time=EPOCH, end_time=EPOCH).index


def _nothing(model: type[models.Model], schema_editor: Any) -> Statement:
    """Return a statement without effect, because Django executes what an index returns."""
    return Statement("SELECT 1", table=Table(model._meta.db_table, schema_editor.quote_name))
