"""Assignments of many IDs: a sequence of rows, and the columns they come from."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from ._columns import AssignmentColumns
from ._rows import IdError, Rows, composed_run_key, id_errors
from .ids import IdType, IdValue
from .runs import DEFAULT_KIND, Run
from .times import from_duration, from_unix_millis
from .v1 import slots_pb2 as pb


@dataclass(frozen=True)
class Row:
    """One ID of a batch, or one piece of it: its place, and its next run."""

    id: IdValue
    slot_index: int
    slot_offset: timedelta
    cycle_offset: timedelta
    next_run: Run
    #: Which piece of its ID; 0 but for weighted IDs.
    piece_index: int = 0

    @property
    def next_run_time(self) -> datetime:
        """When its next run starts."""
        return self.next_run.start_time

    @property
    def run_key(self) -> str:
        """The key of its next run."""
        return self.next_run.run_key


@dataclass
class SlotAssignments(Rows[Row]):
    """Assignments of a batch: a sequence of rows, and the columns they come from.

    There is a row for each ID, with weights for each piece. The columns are arrays, cheap
    to hand to numpy or to a database driver. A refused ID holds -1 in all of them and
    stands in ``errors``; its row raises ``LookupError``, and :meth:`accepted` passes over it.
    """

    ids: list[IdValue] = field(default_factory=list, repr=False)
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
    #: What run keys begin with.
    run_key_prefix: str = ""
    #: What strings among the IDs stand for.
    id_type: IdType | None = None
    #: Index of the first ID of ``ids``, counted from that of the call; 0 but in a stream.
    first_id_index: int = 0
    #: With weights only: which of ``ids`` a row is.
    id_indexes: array[int] = field(default_factory=lambda: array("i"), repr=False)
    #: With weights only: which piece of its ID a row is.
    piece_indexes: array[int] = field(default_factory=lambda: array("i"), repr=False)
    #: The kind of job; ``"default"`` if none was named.
    kind: str = DEFAULT_KIND
    #: The release of the sidecar's time-zone database, as in :class:`~offbeat.Assignment`.
    time_zone_database: str = ""

    def __len__(self) -> int:
        return len(self.slot_indexes)

    def accepted(self) -> Iterator[Row]:
        """Yield the rows of the IDs that were not refused."""
        return (self._row(position) for position, slot in enumerate(self.slot_indexes) if slot >= 0)

    def run_key(self, index: int) -> str:
        """Return the key of a row's next run, equal for two attempts to enqueue it.

        Empty for a fraction, which is no identity: two rows may hold the same.
        """
        self._check(index)
        return composed_run_key(
            self.run_key_prefix,
            self.cycle_indexes[index],
            self.piece_indexes[index] if self.piece_indexes else 0,
            self.ids[self._id_index(index)],
            self.id_type,
        )

    def _id_index(self, index: int) -> int:
        return self.id_indexes[index] if self.id_indexes else index

    def _check(self, index: int) -> None:
        if self.slot_indexes[index] < 0:
            id_index = self.first_id_index + self._id_index(index)
            raise LookupError(f"ids[{id_index}] was refused: see errors")

    def _row(self, position: int) -> Row:
        self._check(position)
        value = self.ids[self._id_index(position)]
        piece_index = self.piece_indexes[position] if self.piece_indexes else 0
        next_run_time = from_unix_millis(self.next_run_unix_millis[position])
        return Row(
            id=value,
            slot_index=self.slot_indexes[position],
            slot_offset=self.slot_offset_ticks[position] * self.resolution,
            cycle_offset=self.cycle_offset_ticks[position] * self.resolution,
            next_run=Run(
                id=value,
                kind=self.kind,
                piece_index=piece_index,
                cycle_index=self.cycle_indexes[position],
                scheduled_time=next_run_time,
                start_time=next_run_time,
                run_key=self.run_key(position),
            ),
            piece_index=piece_index,
        )

    def add(
        self, ids: Iterable[IdValue], columns: pb.SlotAssignments | AssignmentColumns, first: int
    ) -> None:
        """Append the answer of one message, whose first ID has index ``first`` in the call."""
        before = len(self.ids)
        self.ids.extend(ids)
        self.slot_indexes.extend(columns.slot_indexes)
        self.slot_offset_ticks.extend(columns.slot_offset_ticks)
        self.cycle_offset_ticks.extend(columns.cycle_offset_ticks)
        self.cycle_indexes.extend(columns.cycle_indexes)
        self.next_run_unix_millis.extend(columns.next_run_unix_millis)
        self.id_indexes.extend([before + index for index in columns.id_indexes])
        self.piece_indexes.extend(columns.piece_indexes)
        self.resolution = from_duration(columns.resolution)
        self.run_key_prefix = columns.run_key_prefix
        self.errors += id_errors(columns.errors, first)
