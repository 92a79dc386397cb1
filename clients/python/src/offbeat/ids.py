"""IDs: Python's types to the wire, one by one and in columns."""

from __future__ import annotations

import enum
import uuid
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Union

from .errors import InvalidArgument
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


def to_id(value: IdValue, id_type: IdType | None = None) -> pb.Id:
    """Turn one ID into its message."""
    kind = _kind("id", value)
    if kind is uuid.UUID:
        return pb.Id(uuid_bytes=value.bytes)  # type: ignore[union-attr]
    if kind is int:
        return pb.Id(integer=value) if value in _INT64 else pb.Id(decimal=str(value))  # type: ignore[arg-type]
    if kind is float:
        return pb.Id(fraction=value)  # type: ignore[arg-type]
    text = _text("id", value)  # type: ignore[arg-type]
    if id_type is IdType.UUID:
        return pb.Id(uuid=text)
    if id_type is IdType.INTEGER:
        return pb.Id(decimal=text)
    return pb.Id(text=text)


def to_column(ids: list[IdValue], first: int, id_type: IdType | None = None) -> pb.IdColumn:
    """Turn IDs of one type into a column; ``first`` is the index of the first, for refusals."""
    kind = _kind(f"ids[{first}]", ids[0])
    for offset, value in enumerate(ids):
        if _kind(f"ids[{first + offset}]", value) is not kind:
            raise _refused(
                f"ids[{first + offset}]", value, f"must be {kind.__name__}, as the IDs before it"
            )
    if kind is uuid.UUID:
        return pb.IdColumn(uuid_bytes=b"".join([value.bytes for value in ids]))  # type: ignore[union-attr]
    if kind is int:
        if all(value in _INT64 for value in ids):
            return pb.IdColumn(integers=ids)  # type: ignore[arg-type]
        return pb.IdColumn(decimals=[str(value) for value in ids])
    if kind is float:
        return pb.IdColumn(fractions=ids)  # type: ignore[arg-type]
    texts = [_text(f"ids[{first + offset}]", value) for offset, value in enumerate(ids)]  # type: ignore[arg-type]
    column = pb.IdColumn()
    getattr(column, (id_type or IdType.TEXT).value).extend(texts)
    return column


def batches(ids: Iterable[IdValue], size: int) -> Iterator[list[IdValue]]:
    """Cut IDs into batches of at most so many, each small enough for a message; lazily."""
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
        raise _refused(field, value, "must be a UUID, int, str or float")
    for kind in (str, uuid.UUID, int, float):
        if isinstance(value, kind):
            return kind
    raise _refused(field, value, "must be a UUID, int, str or float")


def _text(field: str, value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise _refused(field, value, "must be text that UTF-8 can hold") from error
    return value


def _refused(field: str, value: object, allowed: str) -> InvalidArgument:
    shown = ascii(value)[:80]
    return InvalidArgument(
        f"{field}: {shown} is refused: {allowed}",
        reason="ERROR_REASON_MALFORMED",
        field=field,
        value=shown,
        allowed=allowed,
    )
