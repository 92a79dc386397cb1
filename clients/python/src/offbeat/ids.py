"""IDs: converts Python's types to messages, one by one and in columns."""

from __future__ import annotations

import enum
import uuid
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Union

from . import _wire
from .errors import refused
from .v1 import id_pb2 as pb

#: What an ID may be: ``str`` is text unless :class:`IdType` says otherwise.
IdValue = Union[uuid.UUID, int, str, float]

# The type of the IDs of a call, and so of the IDs in its answer. An annotation without it means
# any ID: `Run` is `Run[IdValue]`.
if TYPE_CHECKING:
    from typing_extensions import TypeVar  # typing's has defaults from Python 3.13 on

    IdT = TypeVar("IdT", bound=IdValue, default=IdValue)
    IdT_co = TypeVar("IdT_co", bound=IdValue, default=IdValue, covariant=True)
else:
    from typing import TypeVar

    IdT = TypeVar("IdT", bound=IdValue)
    IdT_co = TypeVar("IdT_co", bound=IdValue, covariant=True)

#: The limits of one batch: the number of IDs, and their bytes, which leave room in a message of
#: 4 MiB for a weight, a watermark and a time zone of each ID.
BATCH_IDS = 65_536
BATCH_BYTES = 5 << 19

#: The field number of ``IdBatch.integers``.
_INTEGERS = 3

#: Longer integers are refused before they are sent: Python does not even print very long ones.
_DECIMAL_BITS = 1_024


class IdType(enum.Enum):
    """What an ID that is a ``str`` stands for."""

    #: Text, taken as it is. The default.
    TEXT = "texts"
    #: UUIDs, hyphenated or not, in any case.
    UUID = "uuids"
    #: Integers in decimal.
    INTEGER = "decimals"


class IdEncoder:
    """Turns the IDs of one call into messages; all must be of one type."""

    def __init__(self, id_type: IdType | None) -> None:
        """Set what strings stand for."""
        if id_type is not None and not isinstance(id_type, IdType):
            raise refused("id_type", id_type, "must be an IdType, such as IdType.UUID")
        self._id_type = id_type
        self._kind: type | None = None
        self._next = 0

    def one(self, value: IdValue) -> pb.Id:
        """Turn the only ID of a call into its message."""
        plain = self._plain("id", value)
        if isinstance(plain, uuid.UUID):
            return pb.Id(uuid_bytes=plain.bytes)
        if isinstance(plain, int):
            return pb.Id(integer=plain) if _fits(plain) else pb.Id(decimal=str(plain))
        if isinstance(plain, float):
            return pb.Id(fraction=plain)
        if self._id_type is IdType.UUID:
            return pb.Id(uuid=plain)
        if self._id_type is IdType.INTEGER:
            return pb.Id(decimal=plain)
        return pb.Id(text=plain)

    def take(self, ids: Sequence[IdValue]) -> Sequence[IdValue]:
        """Check the next IDs of a call; return them as plain types, as they are sent."""
        first = self._next
        self._next += len(ids)
        types = set(map(type, ids))  # faster than to check the IDs one by one
        if len(types) == 1 and self._id_type is None and self._kind in (None, *types):
            (kind,) = types
            if kind in (uuid.UUID, float) or (kind is int and _int64s(ids) is not None):
                self._kind = kind
                return ids
        return [self._plain(f"ids[{first + offset}]", value) for offset, value in enumerate(ids)]

    def column(self, ids: Sequence[IdValue]) -> pb.IdBatch:
        """Turn IDs that :meth:`take` returned into a column."""
        column = pb.IdBatch()
        if self._kind is uuid.UUID:
            numbers = [value.int for value in ids]  # type: ignore[union-attr]
            column.packed_uuids = b"".join([number.to_bytes(16, "big") for number in numbers])
        elif self._kind is float:
            column.fractions.extend(ids)  # type: ignore[arg-type]
        elif self._kind is str:
            getattr(column, (self._id_type or IdType.TEXT).value).extend(ids)
        elif (integers := _int64s(ids)) is not None:
            data = _wire.to_bytes(integers)
            column.MergeFromString(_wire.head(_INTEGERS, len(data)) + data)
        else:
            column.decimals.extend(map(str, ids))
        return column

    def _plain(self, field: str, value: object) -> IdValue:
        """Return an ID as its plain type, which must be the type of the IDs before it."""
        plain = plain_id(field, value)
        kind = type(plain)
        if self._kind not in (None, kind):
            raise refused(field, value, f"must be {self._kind.__name__}, as the IDs before it")
        if self._id_type is not None and kind is not str:
            allowed = f"must be a str with {self._id_type}, which says what strings stand for"
            raise refused(field, value, allowed)
        self._kind = kind
        return plain


def batches(ids: Iterable[IdT], size: int) -> Iterator[list[IdT]]:
    """Cut IDs lazily into batches of at most ``size``, each small enough for one message."""
    iterator = iter(checked_ids(ids))
    for head in iterator:
        batch = list(islice(chain([head], iterator), size))
        yield from _within_bytes(batch)


def checked_ids(ids: Iterable[IdT]) -> Iterable[IdT]:
    """Refuse a single ID that would be taken for several."""
    if isinstance(ids, (str, bytes)):  # iterable, letter by letter
        raise refused("ids", ids, "must be an iterable of IDs: [id], or assign_slot for one")
    return ids


def _within_bytes(batch: list[IdT]) -> Iterator[list[IdT]]:
    """Cut a batch whose texts are too long for one message."""
    if not any(issubclass(kind, str) for kind in set(map(type, batch))):
        yield batch  # a column of any other type is short enough
        return
    part: list[IdT] = []
    length = 0
    for value in batch:
        # Text has at most 3 bytes per character, and a tag and a length.
        size = 3 * len(value) + 6 if isinstance(value, str) else 46
        if part and length + size > BATCH_BYTES:
            yield part
            part, length = [], 0
        part.append(value)
        length += size
    if part:
        yield part


def plain_id(field: str, value: object) -> IdValue:
    """Return an ID as its plain type: the text of an enum member is not its value."""
    if isinstance(value, str):
        return checked_text(field, str.__str__(value))
    if isinstance(value, uuid.UUID):
        return value
    if isinstance(value, int) and not isinstance(value, bool):  # True is hardly an ID
        if value.bit_length() > _DECIMAL_BITS:
            shown = f"an integer of {value.bit_length()} bits"
            raise refused(field, shown, "must be -(2^128 - 1) to 2^128 - 1")
        return int(value)
    if isinstance(value, float):
        return float(value)
    raise refused(field, value, "must be a UUID, int, str or float")


def _int64s(values: Sequence[IdValue]) -> array[int] | None:
    """Return integers as an array; ``None`` if one of them has more than 64 bits."""
    try:
        return array("q", values)  # type: ignore[arg-type]
    except OverflowError:
        return None


def _fits(value: int) -> bool:
    return -(2**63) <= value < 2**63


def checked_text(field: str, value: str) -> str:
    """Refuse text that UTF-8 cannot encode, which Python allows."""
    if not isinstance(value, str):
        raise refused(field, value, "must be a str")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise refused(field, value, "must be text that UTF-8 can hold") from error
    return value
