"""Assignments of packed IDs: bytes in, arrays out, without an object for each ID."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from . import _wire
from ._columns import COLUMNS, ColumnsResponse, read_mask
from ._questions import Question, describe_schedule, timestamp_or_now
from ._rows import BadIds, IdError, id_errors
from ._weights import CONTRADICTORY, ONE_FOR_EACH
from ._zones import TimeZone, zone_names
from .errors import refused
from .ids import BATCH_IDS, checked_text
from .schedule import AnySchedule, schedule_message
from .times import from_duration
from .v1 import slots_pb2 as pb

#: Field numbers of ``AssignSlotsRequest`` and of its ``IdBatch``, and sizes of packed IDs.
_IDS = 2
_UUIDS, _UUID_BYTES = 1, 16
_INTEGERS, _INTEGER_BYTES = 3, 8
_TIME_ZONES, _TIME_ZONE_INDEXES = 7, 8


@dataclass
class PackedAssignments:
    """Assignments of packed IDs: columns, with a row for each ID, in the order of the IDs.

    A refused ID has -1 in all columns and an entry in ``errors``. Columns that were not
    requested are empty.
    """

    #: Slots in their cycles, from 0.
    slot_indexes: array[int] = field(default_factory=lambda: array("i"), repr=False)
    #: Ticks from the start of the slot to the run.
    slot_offset_ticks: array[int] = field(default_factory=lambda: array("q"), repr=False)
    #: Ticks from the start of the cycle to the run.
    cycle_offset_ticks: array[int] = field(default_factory=lambda: array("q"), repr=False)
    #: Cycles of the next runs.
    cycle_indexes: array[int] = field(default_factory=lambda: array("q"), repr=False)
    #: Next runs, in milliseconds since the Unix epoch.
    next_run_unix_millis: array[int] = field(default_factory=lambda: array("q"), repr=False)
    #: Last runs, in milliseconds since the Unix epoch, if requested; also -1 if exclusions skip
    #: all of the 1,000 cycles before.
    last_run_unix_millis: array[int] = field(default_factory=lambda: array("q"), repr=False)
    #: The refused IDs.
    errors: tuple[IdError, ...] = ()
    #: Length of a tick.
    resolution: timedelta = timedelta(seconds=1)
    #: Fingerprint of the schedule.
    fingerprint: str = ""
    #: Prefix of run keys: the key of a row's next run is ``run_key_prefix/cycle_index/0/ID``,
    #: with the canonical text of the ID.
    run_key_prefix: str = ""
    #: The release of the sidecar's time-zone database, as in :class:`~offbeat.Assignment`.
    time_zone_database: str = ""
    #: Who decided, as in :class:`~offbeat.Assignment`.
    decided_by: str = field(default="sidecar", compare=False)

    def __len__(self) -> int:
        return max(len(getattr(self, name)) for name in COLUMNS)

    def add(self, response: ColumnsResponse) -> None:
        """Append the columns of one response."""
        first = len(self)
        columns = response.assignments
        for name in COLUMNS:
            more = getattr(columns, name)
            if first:
                getattr(self, name).extend(more)
            else:
                setattr(self, name, more)  # not copied: often the only response
        self.errors += id_errors(columns.errors, first)
        self.resolution = from_duration(columns.resolution)
        self.fingerprint = response.identity.fingerprint
        self.time_zone_database = response.identity.time_zone_database
        self.run_key_prefix = columns.run_key_prefix


def assign_packed(
    schedule: AnySchedule,
    uuids: bytes | bytearray | memoryview | None,
    integers: array[int] | None,
    from_time: datetime | None,
    kind: str,
    columns: Iterable[str],
    time_zones: Iterable[TimeZone],
    time_zone_indexes: array[int] | None,
    return_errors: bool,
) -> Question[PackedAssignments]:
    """Ask about packed IDs, batch by batch."""
    opening = pb.AssignSlotsRequest(
        schedule=schedule_message(schedule),
        from_time=(yield from timestamp_or_now(from_time)),
        kind=checked_text("kind", kind),
        read_mask=read_mask(columns),
    ).SerializeToString()
    answer = PackedAssignments()
    zones = _PackedZones(time_zones, time_zone_indexes)
    for head, ids, count in _columns(uuids, integers):
        zones_of_batch = zones.take(count)
        ids_head = _wire.head(_IDS, len(head) + len(ids) + len(zones_of_batch))
        # In one join: copying a batch takes as long as deciding some thousand IDs.
        message = b"".join((opening, ids_head, head, ids, zones_of_batch))
        answer.add((yield "AssignPacked", message))
    zones.end()
    if not answer.fingerprint:  # no IDs: let the sidecar check the schedule anyway
        answer.fingerprint = (yield from describe_schedule(schedule, None, None)).fingerprint
    if answer.errors and not return_errors:
        raise BadIds(answer, answer.errors)
    return answer


def _columns(
    uuids: bytes | bytearray | memoryview | None, integers: array[int] | None
) -> Iterator[tuple[bytes, memoryview, int]]:
    """Yield each ``IdBatch``: the head of its field, its IDs, and their number."""
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
        yield _wire.head(number, len(ids)), ids, len(ids) // size


class _PackedZones:
    """The time zones of packed IDs, serialized as the end of each ``IdBatch``."""

    def __init__(self, names: Iterable[TimeZone], indexes: array[int] | None) -> None:
        if indexes is not None and (not isinstance(indexes, array) or indexes.typecode != "i"):
            raise refused("time_zone_indexes", type(indexes), 'must be an array("i")')
        self._indexes = indexes
        self._next = 0
        self._names = b""
        for name in zone_names("time_zones", names):
            text = name.encode()
            self._names += _wire.head(_TIME_ZONES, len(text)) + text

    def take(self, count: int) -> bytes:
        """Return the zones of the next IDs."""
        if self._indexes is None:
            return self._names  # names without indexes are refused by the sidecar
        indexes = self._indexes[self._next : self._next + count]
        self._next += count
        if len(indexes) < count:
            self._refuse()
        data = _wire.to_bytes(indexes)
        return self._names + _wire.head(_TIME_ZONE_INDEXES, len(data)) + data

    def end(self) -> None:
        """Refuse zones for which there is no ID."""
        if self._indexes is not None and self._next < len(self._indexes):
            self._refuse()

    def _refuse(self) -> None:
        shown = f"{len(self._indexes or ())} indexes"
        raise refused("time_zone_indexes", shown, ONE_FOR_EACH, CONTRADICTORY)
