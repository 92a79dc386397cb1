"""Answers about a schedule and about one ID, in Python's own types."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from .ids import IdValue
from .kinds import DescribedKind
from .runs import Run
from .schedule import Schedule, ScheduleVersion
from .sql import Predicate
from .times import from_duration, from_timestamp
from .v1 import slots_pb2 as pb
from .v1.sql_pb2 import SqlIndex as SqlIndexMessage


@dataclass(frozen=True)
class Piece:
    """A piece of an ID that is larger than others: it runs as if it were an ID."""

    piece_index: int
    slot_index: int
    slot_offset: timedelta
    cycle_offset: timedelta
    last_run: Run | None
    next_runs: tuple[Run, ...]
    first_run: Run | None

    @classmethod
    def from_message(
        cls, message: pb.Piece | pb.AssignSlotResponse, id_value: IdValue, kind: str
    ) -> Piece:
        """Turn a message into a piece; an answer about an ID is its piece 0."""
        piece_index = message.piece_index if isinstance(message, pb.Piece) else 0

        def run(part: pb.Run) -> Run:
            return Run.from_message(part, id_value, kind, piece_index)

        return cls(
            piece_index=piece_index,
            slot_index=message.slot_index,
            slot_offset=from_duration(message.slot_offset),
            cycle_offset=from_duration(message.cycle_offset),
            last_run=run(message.last_run) if message.HasField("last_run") else None,
            next_runs=tuple(map(run, message.next_runs)),
            first_run=run(message.first_run) if message.HasField("first_run") else None,
        )


@dataclass(frozen=True)
class Assignment:
    """Where an ID stands, and when it runs."""

    id: IdValue
    #: The same in every cycle.
    slot_index: int
    #: From the start of the slot to the run.
    slot_offset: timedelta
    #: From the start of the cycle to the run, of a calendar by the wall clock.
    cycle_offset: timedelta
    #: The last run before the instant asked about; ``None`` if exclusions skip the 1,000
    #: cycles before it.
    last_run: Run | None
    #: The next runs at or after it; fewer than asked for if exclusions skip 1,000 cycles.
    next_runs: tuple[Run, ...]
    #: What tells the schedule from others.
    fingerprint: str
    #: The ID as it was understood: what is hashed, and what ends the run keys.
    canonical_id: str
    #: What decided: the hash in hexadecimal, the bucket, or the fraction.
    reason: str | int | float
    #: The first run of a newcomer, if one was asked about.
    first_run: Run | None = None
    #: All pieces of the ID, in order: one but for weighted IDs, as the fields above have it.
    pieces: tuple[Piece, ...] = ()
    #: The release of the time-zone database that decided, such as ``"2026b"``; of calendars and
    #: recurring exclusions only. With another, times may differ, and run keys stay.
    time_zone_database: str = ""

    @property
    def next_run(self) -> Run:
        """The first of the next runs."""
        if not self.next_runs:
            raise LookupError("no next run was asked for, or exclusions skip them all")
        return self.next_runs[0]

    @classmethod
    def from_message(
        cls, id_value: IdValue, kind: str, message: pb.AssignSlotResponse
    ) -> Assignment:
        """Turn a message into an assignment."""
        piece = Piece.from_message(message, id_value, kind)
        further = [Piece.from_message(part, id_value, kind) for part in message.further_pieces]
        return cls(
            id=id_value,
            slot_index=piece.slot_index,
            slot_offset=piece.slot_offset,
            cycle_offset=piece.cycle_offset,
            last_run=piece.last_run,
            next_runs=piece.next_runs,
            fingerprint=message.identity.fingerprint,
            canonical_id=message.reason.canonical_id,
            reason=getattr(message.reason, message.reason.WhichOneof("rule") or "hash"),
            first_run=piece.first_run,
            pieces=(piece, *further),
            time_zone_database=message.identity.time_zone_database,
        )


@dataclass(frozen=True)
class Slot:
    """One slot of one cycle: the half-open span from start to end, before exclusions."""

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
class ListedSchedule:
    """A schedule of the file that the sidecar has loaded."""

    version: ScheduleVersion
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
            version=ScheduleVersion(message.version.name, message.version.version),
            schedule=Schedule.from_message(message.spec),
            fingerprint=message.identity.fingerprint,
            time_zone_database=message.identity.time_zone_database,
        )


@dataclass(frozen=True)
class Description:
    """What a schedule is."""

    #: The schedule with every default filled in.
    schedule: Schedule
    #: SHA-256 of the canonical text: equal exactly for schedules that mean the same.
    fingerprint: str
    canonical_text: str
    #: Length of a slot, in active time.
    slot_duration: timedelta
    #: The slot that runs at the instant asked about; ``None`` outside of the active windows.
    slot: Slot | None
    cycle_start_time: datetime
    #: TWISTER only.
    bucket_share: BucketShare | None
    #: Only if a population was given.
    slot_load: ExpectedLoad | None
    #: Only if a population was given.
    second_load: ExpectedLoad | None
    cycle_end_time: datetime
    #: What the active windows leave of the cycle, before exclusions.
    active_duration: timedelta
    #: Which share of the cycle's runs exclusions skip: 0 to 1.
    skipped_share: float
    #: Which share of them they defer: 0 to 1.
    deferred_share: float
    #: What stands for the schedule at the head of its run keys.
    run_key_schedule: str
    #: The kinds that the schedule declares, in order.
    kinds: tuple[DescribedKind, ...]
    #: Length of a cycle by the wall clock; of months the longest.
    period: timedelta
    #: The release of the sidecar's time-zone database, as in :class:`Assignment`.
    time_zone_database: str

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
            slot=Slot.from_message(message.slot) if message.HasField("slot") else None,
            cycle_start_time=from_timestamp(message.cycle_start_time),
            bucket_share=BucketShare(
                share.min_bucket_count, share.max_bucket_count, share.imbalance
            )
            if message.HasField("bucket_share")
            else None,
            slot_load=load("slot_load"),
            second_load=load("second_load"),
            cycle_end_time=from_timestamp(message.cycle_end_time),
            active_duration=from_duration(message.active_duration),
            skipped_share=message.skipped_share,
            deferred_share=message.deferred_share,
            run_key_schedule=message.identity.run_key_schedule,
            kinds=tuple(map(DescribedKind.from_message, message.kinds)),
            period=from_duration(message.period),
            time_zone_database=message.identity.time_zone_database,
        )
