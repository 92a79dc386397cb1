"""Assignments of many IDs: a sequence of rows, and the columns they come from."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Generic

from ._columns import COLUMNS, DEFAULT_COLUMNS, AssignmentColumns
from ._rows import IdError, Rows, composed_run_key, id_errors
from .ids import IdT_co, IdType
from .runs import DEFAULT_KIND, Run
from .times import from_duration, from_unix_millis
from .v1 import slots_pb2 as pb


@dataclass(frozen=True)
class Row(Generic[IdT_co]):
    """One ID of a batch, or one piece of it: its place, and its next run."""

    #: The ID, as it was given.
    id: IdT_co
    slot_index: int
    slot_offset: timedelta
    cycle_offset: timedelta
    next_run: Run[IdT_co]
    #: Index of the piece of its ID; 0 without weights.
    piece_index: int = 0
    #: When its last run started. ``None`` if the column ``last_run_unix_millis`` was not
    #: requested, or if exclusions skip all of the 1,000 cycles before.
    last_run_time: datetime | None = None

    @property
    def next_run_time(self) -> datetime:
        """When its next run starts."""
        return self.next_run.start_time

    @property
    def run_key(self) -> str:
        """The key of its next run."""
        return self.next_run.run_key


@dataclass
class SlotAssignments(Rows[Row[IdT_co]], Generic[IdT_co]):
    """Assignments of a batch: a sequence of rows, and the columns they come from.

    There is a row for each ID or, with weights, for each piece. The columns are arrays, which
    are cheap to pass to numpy or to a database driver. A refused ID has -1 in all columns and
    an entry in ``errors``; its row raises ``LookupError``, and :meth:`accepted` skips it.

    A column that was not requested is empty. Rows need all of ``DEFAULT_COLUMNS``.
    """

    ids: list[IdT_co] = field(default_factory=list, repr=False)
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
    #: Prefix of run keys.
    run_key_prefix: str = ""
    #: The type that IDs given as ``str`` stand for.
    id_type: IdType | None = None
    #: Index in the stream of the first of ``ids``; 0 outside of streams.
    first_id_index: int = 0
    #: With weights only: for each row, the index of its ID in ``ids``.
    id_indexes: array[int] = field(default_factory=lambda: array("i"), repr=False)
    #: With weights only: for each row, the index of the piece of its ID.
    piece_indexes: array[int] = field(default_factory=lambda: array("i"), repr=False)
    #: The kind of job; ``"default"`` if none was named.
    kind: str = DEFAULT_KIND
    #: The release of the sidecar's time-zone database, as in :class:`~offbeat.Assignment`.
    time_zone_database: str = ""
    #: Who decided, as in :class:`~offbeat.Assignment`.
    decided_by: str = field(default="sidecar", compare=False)
    _missing: list[str] = field(default_factory=list, init=False, repr=False, compare=False)

    def __len__(self) -> int:
        return max(len(getattr(self, name)) for name in COLUMNS)

    def accepted(self) -> Iterator[Row[IdT_co]]:
        """Yield the rows of the IDs that were not refused."""
        self._need(*DEFAULT_COLUMNS)
        return (
            self._made(position) for position, slot in enumerate(self.slot_indexes) if slot >= 0
        )

    def run_key(self, index: int) -> str:
        """Return the key of a row's next run, the same for each attempt to enqueue it.

        Empty for a fraction, which does not identify a row: two rows may hold the same one.
        """
        self._need("slot_indexes", "cycle_indexes")
        self._check(index)
        return self._run_key(index)

    def _run_key(self, position: int) -> str:
        return composed_run_key(
            self.run_key_prefix,
            self.cycle_indexes[position],
            self.piece_indexes[position] if self.piece_indexes else 0,
            self.ids[self._id_index(position)],
            self.id_type,
        )

    def _id_index(self, index: int) -> int:
        return self.id_indexes[index] if self.id_indexes else index

    def _need(self, *names: str) -> None:
        """Raise ``LookupError`` if one of these columns was not requested."""
        missing = [name for name in self._missing if name in names]
        if missing:
            raise LookupError(f"this needs columns that were not asked for: {', '.join(missing)}")

    def _check(self, index: int) -> None:
        if self.slot_indexes[index] < 0:
            id_index = self.first_id_index + self._id_index(index)
            raise LookupError(f"ids[{id_index}] was refused: see errors")

    def _row(self, position: int) -> Row[IdT_co]:
        self._need(*DEFAULT_COLUMNS)
        self._check(position)
        return self._made(position)

    def _made(self, position: int) -> Row[IdT_co]:
        value = self.ids[self._id_index(position)]
        piece_index = self.piece_indexes[position] if self.piece_indexes else 0
        next_run_time = from_unix_millis(self.next_run_unix_millis[position])
        last_run = self.last_run_unix_millis[position] if self.last_run_unix_millis else -1
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
                run_key=self._run_key(position),
            ),
            piece_index=piece_index,
            last_run_time=None if last_run == -1 else from_unix_millis(last_run),
        )

    def _add(
        self, ids: list[Any], columns: pb.SlotAssignments | AssignmentColumns, first: int
    ) -> None:
        """Append the columns of one message, whose first ID has the index ``first`` in the call."""
        before = len(self.ids)
        self.ids.extend(ids)
        for name in COLUMNS:
            getattr(self, name).extend(getattr(columns, name))
        self._missing = [name for name in DEFAULT_COLUMNS if len(getattr(self, name)) < len(self)]
        self.id_indexes.extend([before + index for index in columns.id_indexes])
        self.piece_indexes.extend(columns.piece_indexes)
        self.resolution = from_duration(columns.resolution)
        self.run_key_prefix = columns.run_key_prefix
        self.errors += id_errors(columns.errors, first)
