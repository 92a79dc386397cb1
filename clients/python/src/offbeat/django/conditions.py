"""Predicates as conditions of querysets."""

from __future__ import annotations

from typing import Any

from django.db.models import F, Lookup

from ..sql import SqlPredicate
from .targets import ALIAS


class _Selected(Lookup):  # type: ignore[type-arg]
    """A predicate over a column.

    The column's own expression knows what the query calls its table, even in a subquery. This is a
    lookup because MySQL's backend compares other conditions to True, which no index serves.
    """

    lookup_name = "offbeat_selected"
    prepare_rhs = False

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, list[Any]]:
        """Return the condition."""
        sql, parameters = self.rhs
        # Django 6.1 quotes aliases too, and warns of the older method.
        quote = getattr(compiler, "quote_name", None) or compiler.quote_name_unless_alias
        table = quote(self.lhs.alias).replace("%", "%%")
        for quoted in (f'"{ALIAS}"', f"`{ALIAS}`"):
            sql = sql.replace(quoted, table)
        return sql, [*parameters]


def condition(predicate: SqlPredicate, field: str) -> Any:
    """Return a predicate over the column of a field as a condition for ``filter``."""
    assert isinstance(predicate.parameters, tuple)
    return _Selected(F(field), (predicate.sql, predicate.parameters))
