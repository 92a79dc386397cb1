"""IDs: Python's types to the wire, one by one and in columns."""

from __future__ import annotations

import enum
import uuid
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Union

from .errors import refused
from .v1 import slots_pb2 as pb

#: What an ID may be: ``str`` is text unless :class:`IdType` says otherwise.
IdValue = Union[uuid.UUID, int, str, float]

#: The sidecar's limits of one batch: IDs, and bytes of its message with room for the rest.
BATCH_IDS = 65_536
BATCH_BYTES = 3 << 20

_INT64 = range(-(2**63), 2**63)


class IdType(enum.Enum):
    """What strings stand for."""

    #: Text, as it is: the default.
    TEXT = "texts"
    #: UUIDs, hyphenated or not, in any case.
    UUID = "uuids"
    #: Integers in decimal.
    INTEGER = "decimals"


class IdEncoder:
    """Turns the IDs of one call into messages; all must be of one type."""

    def __init__(self, id_type: IdType | None) -> None:
        """Take what strings stand for."""
        if id_type is not None and not isinstance(id_type, IdType):
            raise refused("id_type", id_type, "must be an IdType, such as IdType.UUID")
        self._id_type = id_type
        self._kind: type | None = None
        self._next = 0

    def one(self, value: IdValue) -> pb.Id:
        """Turn the only ID of a call into its message."""
        kind = self._check("id", value)
        if kind is uuid.UUID:
            return pb.Id(uuid_bytes=value.bytes)  # type: ignore[union-attr]
        if kind is int:
            if value in _INT64:
                return pb.Id(integer=value)  # type: ignore[arg-type]
            return pb.Id(decimal=str(value))
        if kind is float:
            return pb.Id(fraction=value)  # type: ignore[arg-type]
        text = _text("id", value)  # type: ignore[arg-type]
        if self._id_type is IdType.UUID:
            return pb.Id(uuid=text)
        if self._id_type is IdType.INTEGER:
            return pb.Id(decimal=text)
        return pb.Id(text=text)

    def column(self, ids: list[IdValue]) -> pb.IdColumn:
        """Turn the next IDs of a call into a column."""
        first = self._next
        for offset, value in enumerate(ids):
            self._check(f"ids[{first + offset}]", value)
        self._next += len(ids)
        if self._kind is uuid.UUID:
            return pb.IdColumn(uuid_bytes=b"".join([value.bytes for value in ids]))  # type: ignore[union-attr]
        if self._kind is int:
            if all(value in _INT64 for value in ids):
                return pb.IdColumn(integers=ids)  # type: ignore[arg-type]
            return pb.IdColumn(decimals=[str(value) for value in ids])
        if self._kind is float:
            return pb.IdColumn(fractions=ids)  # type: ignore[arg-type]
        texts = [_text(f"ids[{first + offset}]", value) for offset, value in enumerate(ids)]  # type: ignore[arg-type]
        column = pb.IdColumn()
        getattr(column, (self._id_type or IdType.TEXT).value).extend(texts)
        return column

    def _check(self, field: str, value: object) -> type:
        """Return the type of an ID, which must be that of those before it."""
        if self._kind is not None and type(value) is self._kind:
            return self._kind  # the usual case, quickly
        kind = _kind(field, value)
        if self._kind not in (None, kind):
            raise refused(field, value, f"must be {self._kind.__name__}, as the IDs before it")
        if self._id_type is not None and kind is not str:
            allowed = f"must be a str with {self._id_type}, which says what strings stand for"
            raise refused(field, value, allowed)
        self._kind = kind
        return kind


def batches(ids: Iterable[IdValue], size: int) -> Iterator[list[IdValue]]:
    """Cut IDs into batches of at most so many, each small enough for a message; lazily."""
    if isinstance(ids, (str, bytes)):  # iterable, letter by letter
        raise refused("ids", ids, "must be an iterable of IDs: [id], or assign_slot for one")
    iterator = iter(ids)
    for head in iterator:
        batch = list(islice(chain([head], iterator), size))
        yield from _within_bytes(batch)


def _within_bytes(batch: list[IdValue]) -> Iterator[list[IdValue]]:
    """Cut a batch whose texts are too long for one message."""
    part: list[IdValue] = []
    length = 0
    for value in batch:
        # a text of 3 bytes a character, its tag and its length
        size = 3 * len(value) + 6 if isinstance(value, str) else 46
        if part and length + size > BATCH_BYTES:
            yield part
            part, length = [], 0
        part.append(value)
        length += size
    if part:
        yield part


def _kind(field: str, value: object) -> type:
    if isinstance(value, bool):  # an int to Python, but hardly an ID
        raise refused(field, value, "must be a UUID, int, str or float")
    for kind in (str, uuid.UUID, int, float):
        if isinstance(value, kind):
            return kind
    raise refused(field, value, "must be a UUID, int, str or float")


def _text(field: str, value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise refused(field, value, "must be text that UTF-8 can hold") from error
    return value
