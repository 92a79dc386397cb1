"""The rows of a model, as declarations take them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Union
from uuid import UUID

from django.core.exceptions import ImproperlyConfigured
from django.db import connections, models
from django.db.models.expressions import RawSQL

from ..sql import SqlColumnType, SqlDialect, SqlParameterStyle, SqlPredicate, SqlTarget

#: A model, a queryset, or a function that returns one.
ModelRows = Union["type[models.Model]", "models.QuerySet[Any]", Callable[[], Any]]


class QuerySetRows:
    """The rows of a model or queryset, which is read again each time.

    ``field`` is the column with the IDs that the schedule places: UUIDs, integers or text; by
    default the primary key.
    """

    def __init__(self, rows: ModelRows, field: str = "pk") -> None:
        """Read nothing yet."""
        self._rows, self.field = rows, field

    def queryset(self) -> models.QuerySet[Any]:
        """Return the rows of now."""
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
        return sql_target(self.model, self.field, self.queryset().db)

    def matching(self, predicate: SqlPredicate) -> Sequence[Any]:
        """See :class:`~offbeat.runner.RowSource`."""
        rows = self.queryset().filter(condition(predicate)).order_by()
        return list(rows.values_list(self.field, flat=True))

    def contains(self, row_id: Any) -> bool:
        """See :class:`~offbeat.runner.RowSource`."""
        return bool(self.queryset().filter(**{self.field: row_id}).exists())


def id_field(model: type[models.Model], name: str) -> models.Field[Any, Any]:
    """Return the field that holds the IDs; of a key to another model, what it holds."""
    field: Any = model._meta.pk if name == "pk" else model._meta.get_field(name)
    while field.remote_field is not None:
        field = field.target_field
    return field  # type: ignore[no-any-return]


def sql_target(model: type[models.Model], name: str, using: str) -> SqlTarget | None:
    """Return the column of the IDs, as predicates name it; ``None`` of SQLite, which has no MD5."""
    connection: Any = connections[using]
    if connection.vendor == "postgresql":
        dialect = SqlDialect.POSTGRESQL
    elif connection.vendor == "mysql":
        dialect = SqlDialect.MARIADB if connection.mysql_is_mariadb else SqlDialect.MYSQL
    else:
        return None
    field = id_field(model, name)
    stored: Any = model._meta.pk if name == "pk" else model._meta.get_field(name)
    table = model._meta.db_table
    return SqlTarget(
        dialect,
        table=table,
        column=stored.column,
        column_type=_column_type(field, connection),
        table_alias=table,
        parameter_style=SqlParameterStyle.FORMAT,
    )


def _column_type(field: models.Field[Any, Any], connection: Any) -> SqlColumnType:
    if isinstance(field, models.UUIDField):
        native = connection.features.has_native_uuid_field
        return SqlColumnType.UUID if native else SqlColumnType.UUID_DIGITS
    if isinstance(field, models.IntegerField):
        return SqlColumnType.INTEGER
    return SqlColumnType.TEXT


def condition(predicate: SqlPredicate) -> Any:
    """Return a predicate as what ``filter`` takes."""
    parameters = predicate.parameters
    assert isinstance(parameters, tuple)
    return RawSQL(predicate.sql, parameters, output_field=models.BooleanField())
