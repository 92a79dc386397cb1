"""The answer of ``AssignSlots``, read with its columns as arrays."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import Any

from . import _wire
from .v1 import slots_pb2 as pb

#: Fields of ``SlotAssignments`` that are columns: their numbers, and the codes of their arrays.
_COLUMNS = {
    "slot_indexes": (2, "i"),
    "slot_offset_ticks": (3, "q"),
    "cycle_offset_ticks": (4, "q"),
    "cycle_indexes": (5, "q"),
    "next_run_unix_millis": (6, "q"),
    "id_indexes": (9, "i"),
    "piece_indexes": (10, "i"),
}
_NUMBERS = [number for number, _ in _COLUMNS.values()]
_ASSIGNMENTS = 2  # of AssignSlotsResponse


@dataclass(frozen=True)
class AssignmentColumns:
    """A message ``SlotAssignments``; stands in for the generated class."""

    slot_indexes: array[int]
    slot_offset_ticks: array[int]
    cycle_offset_ticks: array[int]
    cycle_indexes: array[int]
    next_run_unix_millis: array[int]
    id_indexes: array[int]
    piece_indexes: array[int]
    resolution: Any
    run_key_prefix: str
    errors: Any


@dataclass(frozen=True)
class ColumnsResponse:
    """A message ``AssignSlotsResponse``; stands in for the generated class."""

    identity: Any
    assignments: AssignmentColumns


def assign_slots_response(data: bytes) -> ColumnsResponse:
    """Read an ``AssignSlotsResponse``."""
    found, rest = _wire.taken(memoryview(data), [_ASSIGNMENTS])
    response = pb.AssignSlotsResponse.FromString(rest)
    columns, rest = _wire.taken(found[_ASSIGNMENTS], _NUMBERS)
    message = pb.SlotAssignments.FromString(rest)
    arrays = {
        name: _wire.column(code, columns[number]) for name, (number, code) in _COLUMNS.items()
    }
    return ColumnsResponse(
        response.identity,
        AssignmentColumns(
            **arrays,
            resolution=message.resolution,
            run_key_prefix=message.run_key_prefix,
            errors=message.errors,
        ),
    )
