"""Weights: one for each ID; they limit how many IDs fit into a batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Generic, TypeVar

from ._fields import OUT_OF_RANGE
from .errors import refused

#: The sidecar's limit on the pieces of one batch.
_BATCH_PIECES = 65_536

CONTRADICTORY = "ERROR_REASON_CONTRADICTORY"
ONE_FOR_EACH = "must be as many as the IDs: one for each"

T = TypeVar("T")


@dataclass(frozen=True)
class PieceLimits:
    """The figures of a schedule that say how many pieces a weight is cut into."""

    #: ``None`` if the schedule has no weights; the sidecar then refuses them.
    weight_quantum: int | None = None
    slot_count: int = 1

    def piece_count(self, weight: int) -> int:
        """Return the number of pieces of a weight, by the formula of the protocol."""
        if self.weight_quantum is None:
            return 1
        return max(1, min(self.slot_count, -(-weight // self.weight_quantum)))


class InStep(Generic[T]):
    """One value for each ID of a call, read batch by batch after the IDs."""

    def __init__(self, name: str, values: Iterable[T] | None) -> None:
        """Store the values; none is read yet."""
        self.given = values is not None
        self._name = name
        self._iterator = iter(() if values is None else values)
        self._next = 0

    def take(self, count: int) -> list[tuple[str, T]]:
        """Return the next values, each with its path; an empty list if none were given."""
        if not self.given:
            return []
        first = self._next
        values = list(islice(self._iterator, count))
        self._next += len(values)
        if len(values) < count:
            shown = f"{self._next} {self._name}"
            raise refused(self._name, shown, ONE_FOR_EACH, CONTRADICTORY)
        return [(f"{self._name}[{first + offset}]", value) for offset, value in enumerate(values)]

    def end(self) -> None:
        """Refuse values for which there is no ID."""
        for value in self._iterator:
            raise refused(f"{self._name}[{self._next}]", value, ONE_FOR_EACH, CONTRADICTORY)


class Weights:
    """The weights of one call."""

    def __init__(self, weights: Iterable[int] | None, limits: PieceLimits) -> None:
        """Store the values; none is read yet."""
        self._weights = InStep("weights", weights)
        self._limits = limits
        self.end = self._weights.end

    def cut(self, count: int) -> Iterator[tuple[slice, list[int]]]:
        """Cut the next IDs so that the pieces of each part fit into a batch.

        Yields each part with its weights. Without weights, all IDs are one part.
        """
        if not self._weights.given:
            yield slice(count), []
            return
        weights = [checked_weight(at, weight) for at, weight in self._weights.take(count)]
        start = piece_count = 0
        for position, weight in enumerate(weights):
            more = self._limits.piece_count(weight)
            if position > start and piece_count + more > _BATCH_PIECES:
                yield slice(start, position), weights[start:position]
                start, piece_count = position, 0
            piece_count += more
        yield slice(start, count), weights[start:]


def checked_weight(path: str, weight: int) -> int:
    """Refuse a weight that the field cannot hold; the sidecar checks its range."""
    if not isinstance(weight, int) or not -(2**63) <= weight < 2**63:
        raise refused(path, weight, "must be an integer, 0 to 2^53", OUT_OF_RANGE)
    return weight
