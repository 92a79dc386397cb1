"""What the answers to batches share: rows over columns, and refused IDs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, overload
from uuid import UUID

from .errors import InvalidArgument
from .ids import IdType, IdValue, plain_id
from .v1 import id_pb2 as pb
from .v1.error_reason_pb2 import ErrorReason

R_co = TypeVar("R_co", covariant=True)


class Rows(Sequence[R_co]):
    """A sequence of rows that are created on access."""

    @abstractmethod
    def _row(self, position: int) -> R_co:
        """Make one row."""

    @overload
    def __getitem__(self, index: int) -> R_co: ...

    @overload
    def __getitem__(self, index: slice) -> list[R_co]: ...

    def __getitem__(self, index: int | slice) -> R_co | list[R_co]:
        """Return one row, or a list of them for a slice."""
        if isinstance(index, slice):
            return [self._row(position) for position in range(*index.indices(len(self)))]
        position = index + len(self) if index < 0 else index
        if not 0 <= position < len(self):
            raise IndexError(index)
        return self._row(position)

    def __iter__(self) -> Iterator[R_co]:
        return (self._row(position) for position in range(len(self)))


@dataclass(frozen=True)
class IdError:
    """Why one ID of a batch was refused."""

    #: Index of the ID in the call, or in the whole stream, from 0.
    id_index: int
    #: A name of ``offbeat.v1.ErrorReason``.
    reason: str
    field: str
    value: str
    allowed: str


def id_errors(messages: Iterable[pb.IdError], first: int) -> tuple[IdError, ...]:
    """Convert the errors of a message whose first ID has the index ``first`` in the call."""
    return tuple(
        IdError(
            id_index=first + error.id_index,
            reason=ErrorReason.Name(error.reason),
            field=f"ids[{first + error.id_index}]",
            value=error.value,
            allowed=error.allowed,
        )
        for error in messages
    )


class BadIds(InvalidArgument):
    """Some IDs of a batch were refused; ``answer`` holds the results of the others."""

    def __init__(self, answer: Any, errors: tuple[IdError, ...]) -> None:
        """Describe the first refused ID, and count the others."""
        first = errors[0]
        more = len(errors) - 1
        message = f"{first.field}: {first.value} is refused: {first.allowed}"
        super().__init__(
            message + (f" (and {more} more)" if more else ""),
            reason=first.reason,
            field=first.field,
            value=first.value,
            allowed=first.allowed,
        )
        #: The whole answer, as ``return_errors`` returns it: :class:`~offbeat.SlotAssignments`,
        #: :class:`~offbeat.PackedAssignments`, :class:`~offbeat.DueRuns` or a
        #: :class:`~offbeat.MigrationPlan`.
        self.answer = answer
        #: The refused IDs, by index.
        self.errors = errors

    def __reduce__(self) -> tuple[type[BadIds], tuple[Any, tuple[IdError, ...]]]:
        """Pickle with the answer, so that the exception can pass from a worker to its parent."""
        return (BadIds, (self.answer, self.errors))


def composed_run_key(
    prefix: str, cycle_index: int, piece_index: int, value: IdValue, id_type: IdType | None
) -> str:
    """Return the key of a run; empty for a fraction, which does not identify a row."""
    if isinstance(value, float):
        return ""
    return f"{prefix}/{cycle_index}/{piece_index}/{_canonical(value, id_type)}"


def _canonical(value: IdValue, id_type: IdType | None) -> str:
    """Return the canonical text of an ID, as the sidecar writes it."""
    plain = plain_id("id", value)
    if isinstance(plain, str) and id_type is IdType.UUID:
        return str(UUID(plain))
    return str(plain)
