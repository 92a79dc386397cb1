"""Sources of the IDs of a declaration."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Sequence
from typing import Callable, Generic, Protocol, TypeVar
from uuid import UUID

from ..errors import refused
from ..sql import SqlPredicate, SqlTarget

#: An ID of a row.
RowId = TypeVar("RowId", UUID, int, str)


class RowSource(Protocol[RowId]):
    """The rows of a declaration: those that are in its scope now.

    A source whose column holds hashes may have a method ``serves_salt(salt)``: if it returns
    ``False``, predicates of schedules with that salt cannot select rows, and all IDs are read.
    """

    @property
    def id_type(self) -> type[RowId]:
        """The type of the IDs."""
        ...

    def page(self, after: RowId | None, limit: int) -> Sequence[RowId]:
        """Return the first IDs after ``after``, in any order that does not change."""
        ...

    def sql_target(self) -> SqlTarget | None:
        """Return the column that holds the IDs; ``None`` if predicates cannot select rows."""
        ...

    def matching(self, predicate: SqlPredicate) -> Sequence[RowId] | None:
        """Return the IDs of the rows that a predicate over the column selects.

        ``None`` if the database lacks the column that the predicate names; all IDs are then read.
        """
        ...

    def contains(self, row_id: RowId) -> bool:
        """Say whether a row still exists and is in the scope."""
        ...


class IdList(Generic[RowId]):
    """IDs from a function or an iterable; for up to some thousands.

    >>> accounts = IdList(lambda: [3, 1, 2])
    >>> accounts.page(1, 10)
    [2, 3]
    """

    def __init__(
        self,
        ids: Iterable[RowId] | Callable[[], Iterable[RowId]],
        id_type: type[RowId] | None = None,
    ) -> None:
        """Store the IDs; without ``id_type``, they have the type of the first ID."""
        kept: Iterable[RowId] = () if callable(ids) else tuple(ids)
        self._ids: Callable[[], Iterable[RowId]] = ids if callable(ids) else lambda: kept
        if id_type is None:
            first = next(iter(self._ids()), None)
            if first is None:
                raise refused("id_type", None, "must be given where there are no IDs yet")
            id_type = type(first)
        self._id_type: type[RowId] = id_type

    @property
    def id_type(self) -> type[RowId]:
        """The type of the IDs."""
        return self._id_type

    def page(self, after: RowId | None, limit: int) -> Sequence[RowId]:
        """Return the first IDs after ``after``, sorted."""
        ids = sorted(self._ids())
        first = 0 if after is None else bisect.bisect_right(ids, after)
        return ids[first : first + limit]

    def sql_target(self) -> SqlTarget | None:
        """Return ``None``: a list has no column."""
        return None

    def matching(self, predicate: SqlPredicate) -> None:
        """Return ``None``: a list has no column."""

    def contains(self, row_id: RowId) -> bool:
        """Say whether an ID is in the list."""
        return row_id in self._ids()


def parse_row_id(id_type: type[RowId], text: str) -> RowId:
    """Parse an ID from its text in a store or a message.

    >>> parse_row_id(int, "42")
    42
    """
    return id_type(text)
