"""Rows of a task: anything that has IDs, resolved at the first use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Callable, Union

from ..runner import IdList, RowSource
from ..sql import SqlPredicate, SqlTarget

#: A source of rows, IDs, a Django model or queryset, or a function that returns one of these.
Rows = Union[RowSource[Any], Iterable[Any], Callable[[], Any]]


class LazyRows:
    """Rows that are resolved at their first use, when all models are loaded."""

    def __init__(self, rows: Rows, id_type: type[Any] | None) -> None:
        self._rows, self._id_type = rows, id_type
        self._found: RowSource[Any] | None = None

    @property
    def id_type(self) -> type[Any]:
        """The type of the IDs."""
        return self.source.id_type

    def page(self, after: Any, limit: int) -> Sequence[Any]:
        """See :class:`~offbeat.runner.RowSource`."""
        return self.source.page(after, limit)

    def sql_target(self) -> SqlTarget | None:
        """See :class:`~offbeat.runner.RowSource`."""
        return self.source.sql_target()

    def serves_salt(self, salt: str) -> bool:
        """See :class:`~offbeat.runner.RowSource`."""
        serves_salt = getattr(self.source, "serves_salt", None)
        return serves_salt is None or bool(serves_salt(salt))

    def matching(self, predicate: SqlPredicate) -> Sequence[Any] | None:
        """See :class:`~offbeat.runner.RowSource`."""
        return self.source.matching(predicate)

    def contains(self, row_id: Any) -> bool:
        """See :class:`~offbeat.runner.RowSource`."""
        return self.source.contains(row_id)

    @property
    def source(self) -> RowSource[Any]:
        """The source of the rows, which is resolved at the first use."""
        if self._found is None:
            self._found = self._find()
        return self._found

    def _find(self) -> RowSource[Any]:
        rows: Any = self._rows
        example = _example(rows)
        if hasattr(example, "sql_target"):
            return example  # type: ignore[no-any-return]
        if hasattr(example, "_meta") or hasattr(example, "model"):
            from ..django import QuerySetRows

            return QuerySetRows(rows)
        return IdList(rows, self._id_type)


def _example(rows: Any) -> Any:
    """Return the rows, calling ``rows`` if it is a function that returns them."""
    return rows() if callable(rows) and not isinstance(rows, type) else rows
