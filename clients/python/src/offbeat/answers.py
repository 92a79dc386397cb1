"""Answers, in Python's own types."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import overload
from uuid import UUID

from .errors import InvalidArgument
from .ids import IdType, IdValue
from .schedule import Schedule
from .sql import Predicate
from .times import from_duration, from_timestamp, from_unix_millis
from .v1 import slots_pb2 as pb
from .v1.error_reason_pb2 import ErrorReason
from .v1.sql_pb2 import SqlIndex as SqlIndexMessage


@dataclass(frozen=True)
class Run:
    """One run of an ID."""

    #: When it starts.
    start_time: datetime
    #: Its cycle; cycle 0 starts at the schedule's anchor time.
    cycle_index: int
    #: Equal for two attempts to enqueue the same run; empty for a fraction.
    run_key: str

    @classmethod
    def from_message(cls, message: pb.Run) -> Run:
        """Turn a message into a run."""
        return cls(from_timestamp(message.start_time), message.cycle_index, message.run_key)


@dataclass(frozen=True)
class Assignment:
    """Where an ID stands, and when it runs."""

    id: IdValue
    #: The same in every cycle.
    slot_index: int
    #: From the start of the slot to the run.
    slot_offset: timedelta
    #: From the start of the cycle to the run.
    cycle_offset: timedelta
    #: The last run before the instant asked about.
    last_run: Run
    #: The next runs at or after it.
    next_runs: tuple[Run, ...]
    #: What tells the schedule from others.
    fingerprint: str
    #: The ID as it was understood: what is hashed, and what ends the run keys.
    canonical_id: str
    #: What decided: the hash in hexadecimal, the bucket, or the fraction.
    reason: str | int | float

    @property
    def next_run(self) -> Run:
        """The first of the next runs."""
        if not self.next_runs:
            raise LookupError("no next run was asked for")
        return self.next_runs[0]

    @classmethod
    def from_message(cls, id_value: IdValue, message: pb.AssignSlotResponse) -> Assignment:
        """Turn a message into an assignment."""
        return cls(
            id=id_value,
            slot_index=message.slot_index,
            slot_offset=from_duration(message.slot_offset),
            cycle_offset=from_duration(message.cycle_offset),
            last_run=Run.from_message(message.last_run),
            next_runs=tuple(Run.from_message(run) for run in message.next_runs),
            fingerprint=message.identity.fingerprint,
            canonical_id=message.reason.canonical_id,
            reason=getattr(message.reason, message.reason.WhichOneof("rule") or "hash"),
        )


@dataclass(frozen=True)
class IdError:
    """Why one ID of a batch was refused."""

    #: The ID, counted from the first of the call, also in a stream.
    id_index: int
    #: A name of ``offbeat.v1.ErrorReason``.
    reason: str
    field: str
    value: str
    allowed: str


@dataclass(frozen=True)
class Row:
    """One ID of a batch: its place, and its next run."""

    id: IdValue
    slot_index: int
    slot_offset: timedelta
    cycle_offset: timedelta
    cycle_index: int
    next_run_time: datetime
    run_key: str


@dataclass
class SlotAssignments(Sequence[Row]):
    """Assignments of a batch: a sequence of rows, and the columns they come from.

    The columns are arrays, cheap to hand to numpy or to a database driver. A
    refused ID holds -1 in all of them and stands in ``errors``; its row raises
    ``LookupError``, and :meth:`accepted` passes over it.
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
    #: Index of the first row, counted from the first ID of the call; 0 but in a stream.
    first_id_index: int = 0

    def __len__(self) -> int:
        return len(self.slot_indexes)

    @overload
    def __getitem__(self, index: int) -> Row: ...

    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...

    def __getitem__(self, index: int | slice) -> Row | list[Row]:
        """Return one row, or a list of them for a slice."""
        if isinstance(index, slice):
            return [self._row(position) for position in range(*index.indices(len(self)))]
        position = index + len(self) if index < 0 else index
        if not 0 <= position < len(self):
            raise IndexError(index)
        return self._row(position)

    def __iter__(self) -> Iterator[Row]:
        return (self._row(position) for position in range(len(self)))

    def accepted(self) -> Iterator[Row]:
        """Yield the rows of the IDs that were not refused."""
        return (self._row(position) for position, slot in enumerate(self.slot_indexes) if slot >= 0)

    def run_key(self, index: int) -> str:
        """Return the key of a row's next run, equal for two attempts to enqueue it.

        Empty for a fraction, which is no identity: two rows may hold the same.
        """
        self._check(index)
        if isinstance(self.ids[index], float):
            return ""
        canonical_id = _canonical(self.ids[index], self.id_type)
        return f"{self.run_key_prefix}/{self.cycle_indexes[index]}/0/{canonical_id}"

    def _check(self, index: int) -> None:
        if self.slot_indexes[index] < 0:
            raise LookupError(f"ids[{self.first_id_index + index}] was refused: see errors")

    def _row(self, index: int) -> Row:
        self._check(index)
        return Row(
            id=self.ids[index],
            slot_index=self.slot_indexes[index],
            slot_offset=self.slot_offset_ticks[index] * self.resolution,
            cycle_offset=self.cycle_offset_ticks[index] * self.resolution,
            cycle_index=self.cycle_indexes[index],
            next_run_time=from_unix_millis(self.next_run_unix_millis[index]),
            run_key=self.run_key(index),
        )

    def add(self, ids: Iterable[IdValue], columns: pb.SlotAssignments, first: int) -> None:
        """Append the answer of one message, whose first ID has index ``first``."""
        self.ids.extend(ids)
        self.slot_indexes.extend(columns.slot_indexes)
        self.slot_offset_ticks.extend(columns.slot_offset_ticks)
        self.cycle_offset_ticks.extend(columns.cycle_offset_ticks)
        self.cycle_indexes.extend(columns.cycle_indexes)
        self.next_run_unix_millis.extend(columns.next_run_unix_millis)
        self.resolution = from_duration(columns.resolution)
        self.run_key_prefix = columns.run_key_prefix
        self.errors += tuple(
            IdError(
                id_index=first + error.id_index,
                reason=ErrorReason.Name(error.reason),
                field=f"ids[{first + error.id_index}]",
                value=error.value,
                allowed=error.allowed,
            )
            for error in columns.errors
        )


def _canonical(value: IdValue, id_type: IdType | None) -> str:
    """Return the canonical text of an ID, as the sidecar writes it."""
    if isinstance(value, str) and id_type is IdType.UUID:
        return str(UUID(value))
    return str(value)


class BadIds(InvalidArgument):
    """Some IDs of a batch were refused; the others are answered, in ``assignments``."""

    def __init__(self, assignments: SlotAssignments) -> None:
        """Speak for the first refused ID, and count the others."""
        first = assignments.errors[0]
        more = len(assignments.errors) - 1
        message = f"{first.field}: {first.value} is refused: {first.allowed}"
        super().__init__(
            message + (f" (and {more} more)" if more else ""),
            reason=first.reason,
            field=first.field,
            value=first.value,
            allowed=first.allowed,
        )
        #: The whole answer; refused rows hold -1, and accepted() has the others.
        self.assignments = assignments
        #: The refused IDs, by index.
        self.errors: tuple[IdError, ...] = assignments.errors

    def __reduce__(self) -> tuple[type[BadIds], tuple[SlotAssignments]]:
        """Pickle by the answer: an exception of a worker process reaches its parent."""
        return (BadIds, (self.assignments,))


@dataclass(frozen=True)
class Slot:
    """One slot of one cycle: the half-open span from start to end."""

    slot_index: int
    cycle_index: int
    start_time: datetime
    end_time: datetime
    #: What selects its rows, if a column was named.
    predicate: Predicate | None = None

    @classmethod
    def from_message(cls, message: pb.Slot, index: SqlIndexMessage | None = None) -> Slot:
        """Turn a message into a slot."""
        predicate = None
        if index is not None and message.HasField("predicate"):
            predicate = Predicate.from_message(message.predicate, index)
        return cls(
            slot_index=message.slot_index,
            cycle_index=message.cycle_index,
            start_time=from_timestamp(message.start_time),
            end_time=from_timestamp(message.end_time),
            predicate=predicate,
        )


@dataclass(frozen=True)
class ExpectedLoad:
    """An estimate of how full slots or seconds get."""

    mean: float
    fullest_median: int
    fullest_p99: int


@dataclass(frozen=True)
class BucketShare:
    """How evenly slots share the buckets of TWISTER."""

    min_bucket_count: int
    max_bucket_count: int
    imbalance: float


@dataclass(frozen=True)
class Description:
    """What a schedule is."""

    #: The schedule with every default filled in.
    schedule: Schedule
    #: SHA-256 of the canonical text: equal exactly for schedules that mean the same.
    fingerprint: str
    canonical_text: str
    slot_duration: timedelta
    #: The slot that runs at the instant asked about.
    slot: Slot
    cycle_start_time: datetime
    #: TWISTER only.
    bucket_share: BucketShare | None
    #: Only if a population was given.
    slot_load: ExpectedLoad | None
    #: Only if a population was given.
    second_load: ExpectedLoad | None

    @classmethod
    def from_message(cls, message: pb.DescribeScheduleResponse) -> Description:
        """Turn a message into a description."""

        def load(name: str) -> ExpectedLoad | None:
            if not message.HasField(name):
                return None
            part: pb.ExpectedLoad = getattr(message, name)
            return ExpectedLoad(part.mean, part.fullest_median, part.fullest_p99)

        share = message.bucket_share
        return cls(
            schedule=Schedule.from_message(message.spec),
            fingerprint=message.identity.fingerprint,
            canonical_text=message.canonical_text,
            slot_duration=from_duration(message.slot_duration),
            slot=Slot.from_message(message.slot),
            cycle_start_time=from_timestamp(message.cycle_start_time),
            bucket_share=BucketShare(
                share.min_bucket_count, share.max_bucket_count, share.imbalance
            )
            if message.HasField("bucket_share")
            else None,
            slot_load=load("slot_load"),
            second_load=load("second_load"),
        )


@dataclass(frozen=True)
class KindSlot:
    """Where one kind of job stands, seen from a slot."""

    kind_index: int
    #: Slots from kind 0 to this kind, for the same user.
    offset_slot_count: int
    #: The same as time: a schedule for this kind is that of kind 0, ``shifted`` by it.
    offset: timedelta
    #: The user's view: where this kind runs for users whose kind 0 runs at the slot.
    user_slot_index: int
    #: The time's view: whose users this kind handles while the slot runs.
    time_slot_index: int
    #: Slots from this kind to the next one of the same user.
    gap_slot_count: int
    #: Queue wait plus run time must stay within it.
    run_budget: timedelta


@dataclass(frozen=True)
class Reciprocals:
    """Where kinds of job stand that must not meet on the same user."""

    kinds: tuple[KindSlot, ...]
    gap_slot_count: int
    gap: timedelta
    #: Queue wait plus run time must stay within it, for kinds of one placement and salt.
    run_budget: timedelta
    #: The same for kinds of different placement or salt.
    independent_run_budget: timedelta

    @classmethod
    def from_message(cls, message: pb.GetReciprocalSlotsResponse) -> Reciprocals:
        """Turn a message into reciprocals."""
        return cls(
            kinds=tuple(
                KindSlot(
                    kind_index=kind.kind_index,
                    offset_slot_count=kind.offset_slot_count,
                    offset=from_duration(kind.offset),
                    user_slot_index=kind.user_slot_index,
                    time_slot_index=kind.time_slot_index,
                    gap_slot_count=kind.gap_slot_count,
                    run_budget=from_duration(kind.run_budget),
                )
                for kind in message.kinds
            ),
            gap_slot_count=message.gap_slot_count,
            gap=from_duration(message.gap),
            run_budget=from_duration(message.run_budget),
            independent_run_budget=from_duration(message.independent_run_budget),
        )
