"""The rows of a model, as a source of rows for declarations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Union
from uuid import UUID

from django.core.exceptions import ImproperlyConfigured
from django.db import connections, models

from ..sql import SqlColumnType, SqlDialect, SqlPredicate, SqlTarget
from .conditions import condition
from .hashes import hash_field
from .indexes import indexes_of
from .targets import hashed_target, id_field, target

#: A model, a queryset, or a function that returns one.
ModelRows = Union["type[models.Model]", "models.QuerySet[Any]", Callable[[], Any]]


class QuerySetRows:
    """The rows of a model or queryset, which is queried again each time.

    ``field`` is the column with the IDs that the schedule places: UUIDs, integers or text; by
    default the primary key.
    """

    def __init__(self, rows: ModelRows, field: str = "pk") -> None:
        """Store the rows; nothing is queried yet."""
        self._rows, self.field = rows, field

    def queryset(self) -> models.QuerySet[Any]:
        """Return a new queryset of the rows."""
        rows: Any = self._rows
        if not isinstance(rows, type) and callable(rows):
            rows = rows()
        if isinstance(rows, type) and issubclass(rows, models.Model):
            model: Any = rows
            return model._default_manager.all()
        if hasattr(rows, "all"):
            return rows.all()  # type: ignore[no-any-return]
        raise ImproperlyConfigured(f"rows: {rows!r} is no model and no queryset")

    @property
    def model(self) -> type[models.Model]:
        """The model."""
        return self.queryset().model

    @property
    def column(self) -> models.Field[Any, Any]:
        """The field with the IDs."""
        return id_field(self.model, self.field)

    @property
    def id_type(self) -> type[Any]:
        """The type of the IDs."""
        field = self.column
        if isinstance(field, models.UUIDField):
            return UUID
        return int if isinstance(field, models.IntegerField) else str

    def page(self, after: Any, limit: int) -> Sequence[Any]:
        """See :class:`~offbeat.runner.RowSource`."""
        rows = self.queryset()
        if after is not None:
            rows = rows.filter(**{f"{self.field}__gt": after})
        return list(rows.order_by(self.field).values_list(self.field, flat=True)[:limit])

    def sql_target(self) -> SqlTarget | None:
        """See :class:`~offbeat.runner.RowSource`."""
        rows = self.queryset()
        found = sql_target(rows.model, self.field, rows.db)
        if found is not None and _without_hash(rows.model, self.field, found, rows.db):
            return None
        return found

    def serves_salt(self, salt: str) -> bool:
        """Say whether predicates of schedules with this salt can select rows."""
        rows = self.queryset()
        return serves_salt(rows.model, self.field, rows.db, salt)

    def matching(self, predicate: SqlPredicate) -> Sequence[Any] | None:
        """See :class:`~offbeat.runner.RowSource`."""
        rows = self.queryset()
        if not has_column(rows.model, self.field, rows.db, predicate):
            return None
        rows = rows.filter(condition(predicate, self.field)).order_by()
        return list(rows.values_list(self.field, flat=True))

    def contains(self, row_id: Any) -> bool:
        """See :class:`~offbeat.runner.RowSource`."""
        return bool(self.queryset().filter(**{self.field: row_id}).exists())


def sql_target(model: type[models.Model], name: str, using: str) -> SqlTarget | None:
    """Return the column that predicates use; ``None`` if they cannot select rows.

    PostgreSQL hashes any column of IDs. MySQL and MariaDB need the column that an
    :class:`OffbeatIndex` generates, and SQLite an :class:`OffbeatHashField`.
    """
    vendor = connections[using].vendor
    if vendor == "sqlite":
        field = hash_field(model, name)
        if field is None:
            return None
        return target(SqlDialect.SQLITE, field, SqlColumnType.HASH_DIGITS)
    if vendor == "mysql" and not indexes_of(model, name):
        return None
    return hashed_target(model, name, using)


def serves_salt(model: type[models.Model], name: str, using: str, salt: str) -> bool:
    """Say whether the hashes in the database are those of schedules with this salt."""
    vendor = connections[using].vendor
    if vendor == "sqlite":
        field = hash_field(model, name)
        return field is not None and field.salt == salt
    return vendor != "mysql" or any(index.salt == salt for index in indexes_of(model, name))


def has_column(model: type[models.Model], name: str, using: str, predicate: SqlPredicate) -> bool:
    """Say whether an index of the model creates the column that a predicate names."""
    if connections[using].vendor != "mysql":
        return True
    made = [index.index(model, using) for index in indexes_of(model, name)]
    return predicate.index.name in {index.name for index in made if index is not None}


def _without_hash(model: Any, name: str, found: SqlTarget, using: str) -> bool:
    """Say whether some rows have no hash yet, so that no predicate would select them."""
    if found.column_type is not SqlColumnType.HASH_DIGITS:
        return False
    field: Any = hash_field(model, name)
    rows = model._base_manager.using(using).filter(**{f"{field.name}__isnull": True})
    return bool(rows.exists())
