"""Assignments of packed IDs: bytes in, arrays out, and no object for an ID on the way."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from google.protobuf.field_mask_pb2 import FieldMask

from . import _wire
from ._columns import ColumnsResponse
from ._questions import Question, describe_schedule, timestamp_or_now
from ._rows import BadIds, IdError, id_errors
from .errors import refused
from .ids import BATCH_IDS, checked_text
from .schedule import AnySchedule, schedule_message
from .times import from_duration
from .v1 import slots_pb2 as pb

#: Of ``AssignSlotsRequest``, and of its ``IdColumn``.
_IDS = 2
_UUIDS, _UUID_BYTES = 1, 16
_INTEGERS, _INTEGER_BYTES = 3, 8

_COLUMNS = (
    "slot_indexes",
    "slot_offset_ticks",
    "cycle_offset_ticks",
    "cycle_indexes",
    "next_run_unix_millis",
)


@dataclass
class PackedAssignments:
    """Assignments of packed IDs: columns, with a row for each ID, in the order of the IDs.

    A refused ID holds -1 in all of them and stands in ``errors``. Columns that were not asked
    for are empty.
    """

    #: The slots.
    slot_indexes: array[int] = field(default_factory=lambda: array("i"), repr=False)
    #: Ticks from the start of the slot to the run.
    slot_offset_ticks: array[int] = field(default_factory=lambda: array("q"), repr=False)
    #: Ticks from the start of the cycle to the run.
    cycle_offset_ticks: array[int] = field(default_factory=lambda: array("q"), repr=False)
    #: Cycles of the next runs.
    cycle_indexes: array[int] = field(default_factory=lambda: array("q"), repr=False)
    #: Next runs, in milliseconds since the Unix epoch.
    next_run_unix_millis: array[int] = field(default_factory=lambda: array("q"), repr=False)
    #: The refused IDs.
    errors: tuple[IdError, ...] = ()
    #: Length of a tick.
    resolution: timedelta = timedelta(seconds=1)
    #: What tells the schedule from others.
    fingerprint: str = ""
    #: What run keys begin with: the key of a row's next run is
    #: ``run_key_prefix/cycle_index/0/ID``, with the canonical text of the ID.
    run_key_prefix: str = ""

    def __len__(self) -> int:
        return max(len(getattr(self, name)) for name in _COLUMNS)

    def add(self, response: ColumnsResponse) -> None:
        """Append the answer of one message."""
        first = len(self)
        columns = response.assignments
        for name in _COLUMNS:
            more = getattr(columns, name)
            if first:
                getattr(self, name).extend(more)
            else:
                setattr(self, name, more)  # not copied: often the only one
        self.errors += id_errors(columns.errors, first)
        self.resolution = from_duration(columns.resolution)
        self.fingerprint = response.identity.fingerprint
        self.run_key_prefix = columns.run_key_prefix


def assign_packed(
    schedule: AnySchedule,
    uuids: bytes | bytearray | memoryview | None,
    integers: array[int] | None,
    from_time: datetime | None,
    kind: str,
    columns: Iterable[str],
    return_errors: bool,
) -> Question[PackedAssignments]:
    """Ask about packed IDs, batch by batch."""
    opening = pb.AssignSlotsRequest(
        schedule=schedule_message(schedule),
        from_time=timestamp_or_now(from_time),
        kind=checked_text("kind", kind),
        read_mask=FieldMask(paths=columns) if columns else None,
    ).SerializeToString()
    answer = PackedAssignments()
    for head, ids in _columns(uuids, integers):
        ids_head = _wire.head(_IDS, len(head) + len(ids))
        # All at once: a copy of a batch takes as long as it takes to decide some thousand IDs.
        answer.add((yield "AssignPacked", b"".join((opening, ids_head, head, ids))))
    if not answer.fingerprint:  # nothing was asked: let the schedule be checked all the same
        answer.fingerprint = (yield from describe_schedule(schedule, None, None)).fingerprint
    if answer.errors and not return_errors:
        raise BadIds(answer, answer.errors)
    return answer


def _columns(
    uuids: bytes | bytearray | memoryview | None, integers: array[int] | None
) -> Iterator[tuple[bytes, memoryview]]:
    """Return one ``IdColumn`` after the other: what it begins with, and its IDs."""
    if (uuids is None) == (integers is None):
        raise refused("uuids", uuids, "must be given, or integers in its place")
    if integers is not None:
        if not isinstance(integers, array) or integers.typecode != "q":
            raise refused("integers", type(integers), 'must be an array("q")')
        number, size, data = _INTEGERS, _INTEGER_BYTES, memoryview(_wire.to_bytes(integers))
    else:
        if not isinstance(uuids, (bytes, bytearray, memoryview)):
            raise refused("uuids", uuids, "must be bytes: 16 of each UUID, end to end")
        number, size, data = _UUIDS, _UUID_BYTES, memoryview(uuids).cast("B")
        if len(data) % size:
            raise refused("uuids", f"{len(data)} bytes", "must be 16 bytes of each UUID")
    for start in range(0, len(data), BATCH_IDS * size):
        ids = data[start : start + BATCH_IDS * size]
        yield _wire.head(number, len(ids)), ids
