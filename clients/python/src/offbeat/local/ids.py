"""IDs of messages: their canonical texts, and the numbers that seed a twister."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Callable, NamedTuple

from ..v1 import id_pb2 as pb
from .limits import BATCH_IDS, DETAILED_ERRORS, TEXT_ID, Limit
from .rejections import (
    CONTRADICTORY,
    MALFORMED,
    OUT_OF_RANGE,
    Rejection,
    debug_number_text,
    missing,
    quoted,
)

_UUID = re.compile("[0-9a-fA-F]{32}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_DECIMAL = re.compile("0|-?[1-9][0-9]*")
_PART = re.compile("[A-Za-z0-9._-]*")
_UUID_BYTES = 16

#: The digits of 2^128 - 1.
_MOST_DIGITS = 39


class PlainId(NamedTuple):
    """An ID in the form that is placed."""

    #: The name of its type, for refusals.
    type_name: str
    #: The canonical text.
    text: str
    #: The value of a UUID or an integer.
    number: int = 0
    #: The value of a fraction.
    fraction: float = 0.0

    @property
    def is_identity(self) -> bool:
        """Whether equal IDs are the same ID: two rows may store the same fraction."""
        return self.type_name != "fraction"


def from_uuid(text: str) -> PlainId:
    if not _UUID.fullmatch(text):
        allowed = "must be a UUID: 32 hexadecimal digits, or 8-4-4-4-12 of them with hyphens"
        raise Rejection(MALFORMED, "", quoted(text), allowed)
    return _from_digits(text.replace("-", "").lower())


def from_uuid_bytes(data: bytes) -> PlainId:
    if len(data) != _UUID_BYTES:
        raise Rejection(MALFORMED, "", f"a UUID of {len(data)} bytes", "must be 16 bytes")
    return _from_digits(data.hex())


def from_integer(number: int) -> PlainId:
    return PlainId("integer", str(number), number)


def from_decimal(text: str) -> PlainId:
    if not _DECIMAL.fullmatch(text):
        allowed = "must be an integer in decimal, without plus sign or leading zeros"
        raise Rejection(MALFORMED, "", quoted(text), allowed)
    if len(text.lstrip("-")) > _MOST_DIGITS or abs(int(text)) >> 128:
        raise Rejection(OUT_OF_RANGE, "", text, "must be -(2^128 - 1) to 2^128 - 1")
    return PlainId("integer", text, int(text))


def from_text(text: str) -> PlainId:
    size = len(text.encode())
    if size > TEXT_ID.maximum:
        raise Rejection(OUT_OF_RANGE, "", f"a text of {size} bytes", f"must be {TEXT_ID}")
    return PlainId("text", text)


def from_fraction(fraction: float) -> PlainId:
    if not 0.0 <= fraction < 1.0:
        allowed = "must be a fraction of the cycle in [0, 1)"
        raise Rejection(OUT_OF_RANGE, "", debug_number_text(fraction), allowed)
    fraction += 0.0  # -0.0 is 0.0
    return PlainId("fraction", struct.pack(">d", fraction).hex(), fraction=fraction)


def _from_digits(digits: str) -> PlainId:
    parts = (digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])
    return PlainId("UUID", "-".join(parts), int(digits, 16))


_READERS: dict[str, Callable[[Any], PlainId]] = {
    "uuid": from_uuid,
    "uuid_bytes": from_uuid_bytes,
    "integer": from_integer,
    "decimal": from_decimal,
    "text": from_text,
    "fraction": from_fraction,
}


def read_id(message: pb.Id) -> PlainId:
    """Read the ID of a request."""
    name = message.WhichOneof("id")
    if name is None:
        raise missing("id", "one of its fields must be set")
    try:
        return _READERS[name](getattr(message, name))
    except Rejection as rejection:
        raise rejection.under(f"id.{name}") from None


_COLUMNS: dict[str, Callable[[Any], PlainId]] = {
    "packed_uuids": from_uuid_bytes,
    "uuids": from_uuid,
    "integers": from_integer,
    "decimals": from_decimal,
    "texts": from_text,
    "fractions": from_fraction,
}


@dataclass
class Column:
    """The IDs of a batch, and why some of them are refused."""

    name: str
    values: Sequence[Any]

    def __post_init__(self) -> None:
        self.errors: list[pb.IdError] = []

    def __len__(self) -> int:
        return len(self.values)

    def ids(self) -> Iterator[PlainId | Rejection]:
        """Yield each ID, or its rejection."""
        read = _COLUMNS[self.name]
        for value in self.values:
            try:
                yield read(value)
            except Rejection as rejection:
                yield rejection

    def refuse(self, row: int, rejection: Rejection) -> None:
        """Record why the ID of a row is refused; after 1,000 errors, only the reason."""
        error = pb.IdError(id_index=row, reason=rejection.reason)
        if len(self.errors) < DETAILED_ERRORS.maximum:
            error.field = rejection.under(f"ids.{self.name}[{row}]").field
            error.value, error.allowed = rejection.value, rejection.allowed
        self.errors.append(error)


def read_column(message: pb.IdBatch) -> Column:
    """Read the IDs of a batch: one of its fields must be filled."""
    filled = [name for name in _COLUMNS if getattr(message, name)]
    if len(filled) > 1:
        allowed = "must be IDs of one type: send one batch for each"
        raise Rejection(CONTRADICTORY, "ids", " and ".join(filled), allowed)
    if not filled:
        raise missing("ids", "must be 1 to 65536 IDs in one of its fields")
    (name,) = filled
    values: Any = getattr(message, name)
    if name == "packed_uuids":
        if len(values) % _UUID_BYTES:
            allowed = "must be a multiple of 16 bytes, UUIDs end to end"
            raise Rejection(MALFORMED, f"ids.{name}", f"{len(values)} bytes", allowed)
        values = [values[at : at + _UUID_BYTES] for at in range(0, len(values), _UUID_BYTES)]
    if len(values) > BATCH_IDS.maximum:
        allowed = f"must be {BATCH_IDS}: split the batch, or use StreamSlotAssignments"
        raise Rejection(OUT_OF_RANGE, f"ids.{name}", f"{len(values)} IDs", allowed)
    return Column(name, values)


def count_ids(message: pb.IdBatch) -> int:
    """Return how many IDs a batch holds, valid or not."""
    counts = (len(getattr(message, name)) for name in _COLUMNS if name != "packed_uuids")
    return sum(counts, len(message.packed_uuids) // _UUID_BYTES)


def check_count(field: str, count: int, id_count: int) -> None:
    """Refuse a column that does not have one element for each ID."""
    if count != id_count:
        value = f"{count} for {id_count} IDs"
        raise Rejection(CONTRADICTORY, field, value, "must be none, or one for each ID")


def check_part(field: str, name: str, limit: Limit) -> None:
    """Refuse a name that cannot be part of a run key."""
    if not limit.allows(len(name.encode())) or not _PART.fullmatch(name):
        raise Rejection(OUT_OF_RANGE, field, quoted(name), f"must be {limit}")
