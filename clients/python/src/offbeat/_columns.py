"""The columns of ``SlotAssignments``: their names, and a response whose columns are arrays."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from google.protobuf.field_mask_pb2 import FieldMask

from . import _wire
from ._fields import add_names
from .v1 import slots_pb2 as pb

#: The columns of an answer if the request names none.
DEFAULT_COLUMNS = (
    "slot_indexes",
    "slot_offset_ticks",
    "cycle_offset_ticks",
    "cycle_indexes",
    "next_run_unix_millis",
)

#: All columns that a request can name: the default ones and the last runs.
COLUMNS = (*DEFAULT_COLUMNS, "last_run_unix_millis")

#: The array type codes of the fields that are columns, and their field numbers.
_CODES = {name: "i" if name == "slot_indexes" else "q" for name in COLUMNS}
_CODES.update(id_indexes="i", piece_indexes="i")
_NUMBERS = {name: pb.SlotAssignments.DESCRIPTOR.fields_by_name[name].number for name in _CODES}
_ASSIGNMENTS = pb.AssignSlotsResponse.DESCRIPTOR.fields_by_name["assignments"].number


@dataclass(frozen=True)
class AssignmentColumns:
    """A ``SlotAssignments`` message; replaces the generated class."""

    slot_indexes: array[int]
    slot_offset_ticks: array[int]
    cycle_offset_ticks: array[int]
    cycle_indexes: array[int]
    next_run_unix_millis: array[int]
    last_run_unix_millis: array[int]
    id_indexes: array[int]
    piece_indexes: array[int]
    resolution: Any
    run_key_prefix: str
    errors: Any


@dataclass(frozen=True)
class ColumnsResponse:
    """An ``AssignSlotsResponse`` message; replaces the generated class."""

    identity: Any
    assignments: AssignmentColumns


def assign_slots_response(data: bytes) -> ColumnsResponse:
    """Parse an ``AssignSlotsResponse``."""
    found, rest = _wire.taken(memoryview(data), [_ASSIGNMENTS])
    response = pb.AssignSlotsResponse.FromString(rest)
    columns, rest = _wire.taken(found[_ASSIGNMENTS], _NUMBERS.values())
    message = pb.SlotAssignments.FromString(rest)
    arrays = {name: _wire.column(code, columns[_NUMBERS[name]]) for name, code in _CODES.items()}
    return ColumnsResponse(
        response.identity,
        AssignmentColumns(
            **arrays,
            resolution=message.resolution,
            run_key_prefix=message.run_key_prefix,
            errors=message.errors,
        ),
    )


def read_mask(columns: Iterable[str]) -> FieldMask | None:
    """Return the field mask for ``columns``; ``None``, for the default columns, if it is empty."""
    mask = FieldMask()
    add_names(mask, "read_mask", "paths", columns)
    return mask if mask.paths else None
