"""Answers about a schedule and about one ID, in Python's own types."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Generic

from .ids import IdT_co
from .kinds import DescribedKind
from .runs import Run
from .schedule import Schedule, ScheduleReference
from .sql import SqlPredicate
from .times import from_duration, from_timestamp
from .v1 import audit_pb2 as audit_pb
from .v1 import slots_pb2 as pb
from .v1.sql_pb2 import SqlIndex as SqlIndexMessage


@dataclass(frozen=True)
class Piece(Generic[IdT_co]):
    """A piece of a weighted ID, which runs like an ID; without a weight, the whole ID."""

    #: Index of the piece, from 0.
    piece_index: int
    #: The slot, the same in every cycle.
    slot_index: int
    #: From the start of the slot to the run.
    slot_offset: timedelta
    #: From the start of the cycle to the run; with a calendar, by the wall clock.
    cycle_offset: timedelta
    #: The last run before ``from_time``; ``None`` if exclusions skip all of the 1,000 cycles
    #: before it.
    last_run: Run[IdT_co] | None
    #: The next runs at or after ``from_time``; fewer than requested if exclusions skip 1,000
    #: consecutive cycles.
    next_runs: tuple[Run[IdT_co], ...]
    #: The first run of a new ID; ``None`` unless ``new_id`` was given.
    first_run: Run[IdT_co] | None

    @classmethod
    def from_message(cls, message: pb.Piece, id_value: Any, kind: str) -> Piece[Any]:
        """Turn a message into a piece."""

        def run(part: pb.Run) -> Run[Any]:
            return Run.from_message(part, id_value, kind, message.piece_index)

        return cls(
            piece_index=message.piece_index,
            slot_index=message.slot_index,
            slot_offset=from_duration(message.slot_offset),
            cycle_offset=from_duration(message.cycle_offset),
            last_run=run(message.last_run) if message.HasField("last_run") else None,
            next_runs=tuple(map(run, message.next_runs)),
            first_run=run(message.first_run) if message.HasField("first_run") else None,
        )


@dataclass(frozen=True)
class PlacementExplanation:
    """The value that decided the place of an ID: one of ``hash``, ``bucket`` and ``fraction``."""

    #: Canonical text of the ID, which is hashed and ends the run keys.
    canonical_id: str
    #: ``Placement.HASH``: the hash, as 16 hexadecimal digits.
    hash: str | None = None
    #: ``Placement.TWISTER``: the bucket.
    bucket: int | None = None
    #: ``Placement.FRACTION``: the fraction.
    fraction: float | None = None

    @classmethod
    def from_message(cls, message: pb.PlacementExplanation) -> PlacementExplanation:
        """Read it from a message."""
        rule = message.WhichOneof("rule")
        decided = {} if rule is None else {rule: getattr(message, rule)}
        return cls(canonical_id=message.canonical_id, **decided)


@dataclass(frozen=True)
class Assignment(Generic[IdT_co]):
    """The place of an ID, and its runs. Slot, offsets and runs are those of its first piece."""

    #: The ID, as it was given.
    id: IdT_co
    #: All pieces of the ID, in order; exactly one without a weight. Enqueue the runs of each.
    pieces: tuple[Piece[IdT_co], ...]
    #: What decided the place.
    explanation: PlacementExplanation
    #: Fingerprint of the schedule.
    fingerprint: str
    #: The release of the time-zone database that decided the times, such as ``"2026b"``; set only
    #: with calendars and recurring exclusions. Another release may change times, but no run keys.
    time_zone_database: str = ""
    #: Who decided: ``"sidecar"``, or ``"local"`` without one; see ``mode`` of ``Client``. Ignored
    #: when answers are compared.
    decided_by: str = field(default="sidecar", compare=False)

    @property
    def slot_index(self) -> int:
        """The slot, the same in every cycle."""
        return self.pieces[0].slot_index

    @property
    def slot_offset(self) -> timedelta:
        """From the start of the slot to the run."""
        return self.pieces[0].slot_offset

    @property
    def cycle_offset(self) -> timedelta:
        """From the start of the cycle to the run; with a calendar, by the wall clock."""
        return self.pieces[0].cycle_offset

    @property
    def last_run(self) -> Run[IdT_co] | None:
        """The last run before ``from_time``; ``None`` as in :class:`Piece`."""
        return self.pieces[0].last_run

    @property
    def next_runs(self) -> tuple[Run[IdT_co], ...]:
        """The next runs at or after ``from_time``."""
        return self.pieces[0].next_runs

    @property
    def next_run(self) -> Run[IdT_co]:
        """The first of the next runs; raises ``LookupError`` if there is none."""
        if not self.next_runs:
            raise LookupError("no next run was asked for, or exclusions skip them all")
        return self.next_runs[0]

    @property
    def first_run(self) -> Run[IdT_co] | None:
        """The first run of a new ID; ``None`` unless ``new_id`` was given."""
        return self.pieces[0].first_run

    @classmethod
    def from_message(
        cls, id_value: Any, kind: str, message: pb.AssignSlotResponse
    ) -> Assignment[Any]:
        """Turn a message into an assignment."""
        return cls(
            id=id_value,
            pieces=tuple(Piece.from_message(piece, id_value, kind) for piece in message.pieces),
            explanation=PlacementExplanation.from_message(message.explanation),
            fingerprint=message.identity.fingerprint,
            time_zone_database=message.identity.time_zone_database,
        )


@dataclass(frozen=True)
class Slot:
    """One slot of one cycle: the half-open span from start to end, before exclusions."""

    slot_index: int
    cycle_index: int
    start_time: datetime
    end_time: datetime
    #: The predicate that selects its rows, if a ``sql_target`` was given.
    predicate: SqlPredicate | None = None

    @classmethod
    def from_message(cls, message: pb.Slot, index: SqlIndexMessage | None = None) -> Slot:
        """Turn a message into a slot."""
        predicate = None
        if index is not None and message.HasField("predicate"):
            predicate = SqlPredicate.from_message(message.predicate, index)
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

    #: Mean number of IDs.
    mean: float
    #: Median number of IDs in the fullest one: half of all populations exceed it.
    fullest_median: int
    #: 99th percentile of the number of IDs in the fullest one.
    fullest_p99: int

    @classmethod
    def from_message(cls, message: audit_pb.ExpectedLoad) -> ExpectedLoad:
        """Read it from a message."""
        return cls(message.mean, message.fullest_median, message.fullest_p99)


@dataclass(frozen=True)
class BucketShare:
    """How evenly slots share the buckets of ``Placement.TWISTER``."""

    min_bucket_count: int
    max_bucket_count: int
    #: Buckets in the largest slot divided by the mean: 1.02 is 2 % more.
    fullest_to_mean_ratio: float


@dataclass(frozen=True)
class ListedSchedule:
    """A schedule of the file that the sidecar has loaded."""

    reference: ScheduleReference
    #: The schedule with every default filled in.
    schedule: Schedule
    #: SHA-256 of the canonical text: equal exactly for schedules that mean the same.
    fingerprint: str
    #: The release of the sidecar's time-zone database, as in :class:`Assignment`.
    time_zone_database: str

    @classmethod
    def from_message(cls, message: pb.ListedSchedule) -> ListedSchedule:
        """Read it from a message."""
        return cls(
            reference=ScheduleReference(message.reference.name, message.reference.version),
            schedule=Schedule.from_message(message.spec),
            fingerprint=message.identity.fingerprint,
            time_zone_database=message.identity.time_zone_database,
        )


@dataclass(frozen=True)
class Description:
    """Description of a schedule."""

    #: The schedule with every default filled in.
    schedule: Schedule
    #: SHA-256 of the canonical text: equal exactly for schedules that mean the same.
    fingerprint: str
    canonical_text: str
    #: Length of a slot, in active time.
    slot_duration: timedelta
    #: The slot that runs at ``at_time``; ``None`` outside of the active windows.
    slot: Slot | None
    cycle_start_time: datetime
    #: ``Placement.TWISTER`` only.
    bucket_share: BucketShare | None
    #: Only if a ``population`` was given.
    slot_load: ExpectedLoad | None
    #: Only if a ``population`` was given.
    second_load: ExpectedLoad | None
    cycle_end_time: datetime
    #: How much of the cycle the active windows leave, before exclusions.
    active_duration: timedelta
    #: Share of the cycle's runs that exclusions skip: 0 to 1.
    skipped_ratio: float
    #: Share of the cycle's runs that exclusions defer: 0 to 1.
    deferred_ratio: float
    #: The beginning of the run keys of the schedule.
    run_key_root: str
    #: The kinds that the schedule declares, in order.
    kinds: tuple[DescribedKind, ...]
    #: Length of a cycle by the wall clock; where cycles differ, of the longest one.
    max_cycle_duration: timedelta
    #: The release of the sidecar's time-zone database, as in :class:`Assignment`.
    time_zone_database: str
    #: Who decided, as in :class:`Assignment`.
    decided_by: str = field(default="sidecar", compare=False)

    @classmethod
    def from_message(cls, message: pb.DescribeScheduleResponse) -> Description:
        """Turn a message into a description."""

        def load(name: str) -> ExpectedLoad | None:
            known = message.HasField(name)
            return ExpectedLoad.from_message(getattr(message, name)) if known else None

        share = message.bucket_share
        return cls(
            schedule=Schedule.from_message(message.spec),
            fingerprint=message.identity.fingerprint,
            canonical_text=message.canonical_text,
            slot_duration=from_duration(message.slot_duration),
            slot=Slot.from_message(message.slot) if message.HasField("slot") else None,
            cycle_start_time=from_timestamp(message.cycle_start_time),
            bucket_share=BucketShare(
                share.min_bucket_count, share.max_bucket_count, share.fullest_to_mean_ratio
            )
            if message.HasField("bucket_share")
            else None,
            slot_load=load("slot_load"),
            second_load=load("second_load"),
            cycle_end_time=from_timestamp(message.cycle_end_time),
            active_duration=from_duration(message.active_duration),
            skipped_ratio=message.skipped_ratio,
            deferred_ratio=message.deferred_ratio,
            run_key_root=message.identity.run_key_root,
            kinds=tuple(map(DescribedKind.from_message, message.kinds)),
            max_cycle_duration=from_duration(message.max_cycle_duration),
            time_zone_database=message.identity.time_zone_database,
        )
