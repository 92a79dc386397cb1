"""Columns of IDs, as targets of predicates."""

from __future__ import annotations

from typing import Any

from django.db import connections, models

from ..sql import SqlColumnType, SqlDialect, SqlParameterStyle, SqlTarget

#: Placeholder for the table in predicates, because a query may use another alias.
ALIAS = "offbeat_rows"


def stored_field(model: type[models.Model], name: str) -> models.Field[Any, Any]:
    """Return the field of a model whose column stores the IDs."""
    found: Any = model._meta.pk if name == "pk" else model._meta.get_field(name)
    return found  # type: ignore[no-any-return]


def id_field(model: type[models.Model], name: str) -> models.Field[Any, Any]:
    """Return the field that defines the IDs: for a foreign key, the field that it refers to."""
    field: Any = stored_field(model, name)
    while field.remote_field is not None:
        field = field.target_field
    return field  # type: ignore[no-any-return]


def hashed_target(model: type[models.Model], name: str, using: str) -> SqlTarget | None:
    """Return the column of the IDs if the database can hash it and index the hash.

    SQLite has no MD5. MySQL and MariaDB cannot index an expression over an auto-increment key.
    """
    connection: Any = connections[using]
    stored: Any = stored_field(model, name)
    if connection.vendor == "postgresql":
        dialect = SqlDialect.POSTGRESQL
    elif connection.vendor == "mysql" and not isinstance(stored, models.AutoField):
        dialect = SqlDialect.MARIADB if connection.mysql_is_mariadb else SqlDialect.MYSQL
    else:
        return None
    column_type = _column_type(id_field(model, name), connection)
    return target(dialect, stored, column_type)


def target(dialect: SqlDialect, field: Any, column_type: SqlColumnType) -> SqlTarget:
    """Return the column of a field as the target of predicates."""
    return SqlTarget(
        dialect,
        table=field.model._meta.db_table,
        column=field.column,
        column_type=column_type,
        table_alias=ALIAS,
        parameter_style=SqlParameterStyle.FORMAT,
    )


def _column_type(field: models.Field[Any, Any], connection: Any) -> SqlColumnType:
    if isinstance(field, models.UUIDField):
        native = connection.features.has_native_uuid_field
        return SqlColumnType.UUID if native else SqlColumnType.UUID_DIGITS
    if isinstance(field, models.IntegerField):
        return SqlColumnType.INTEGER
    return SqlColumnType.TEXT
