"""What a store keeps: runs, and how far each declaration is planned."""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any


class RunState(str, enum.Enum):
    """Where a run stands."""

    #: It waits for its publication.
    PLANNED = "planned"
    #: Its message is with the queue, and no worker has claimed it.
    PUBLISHED = "published"
    #: A worker has it until its ``claim_deadline``.
    CLAIMED = "claimed"
    #: It ended well.
    DONE = "done"
    #: It failed, after the last retry of the queue.
    FAILED = "failed"
    #: Its row was deleted, or is no longer among those of the declaration.
    SKIPPED = "skipped"
    #: A later run of the row took its place, before it was published.
    SUPERSEDED = "superseded"
    #: It was missed, and its policy does not run it.
    DROPPED = "dropped"

    @property
    def ended(self) -> bool:
        """Whether nothing more happens to the run."""
        return self not in (RunState.PLANNED, RunState.PUBLISHED, RunState.CLAIMED)


@dataclass(frozen=True)
class StoredRun:
    """A run of a row, as a store keeps it."""

    #: 32 hexadecimal digits, the same for two plans of one run.
    run_id: str
    #: The name of its declaration.
    declaration: str
    #: What tells its schedule from others, as in :class:`Progress`.
    schedule: str
    #: The ID of its row, as text.
    row_id: str
    #: The kind of job.
    kind: str
    #: When it should start, by the schedule.
    scheduled_time: datetime
    #: When it starts: later than that if it was missed.
    start_time: datetime
    state: RunState = RunState.PLANNED
    #: How often its message was handed to the queue; of a claimed run, the number of the message
    #: that has it.
    publication: int = 0
    #: When something is to happen if nothing has: planned runs are published, published ones
    #: published again, claims end. When it ended, of runs that have ended.
    next_action_time: datetime | None = None

    @property
    def action_time(self) -> datetime:
        """When something is to happen; at first, when the run starts."""
        return self.next_action_time or self.start_time


@dataclass(frozen=True)
class Pass:
    """A plan in progress, of the runs from the watermark to ``end_time``, page by page."""

    #: The instant that decides which runs are late.
    now: datetime
    end_time: datetime
    #: Which rows are planned; empty at first.
    cursor: str = ""


@dataclass(frozen=True)
class Counts:
    """How many runs a declaration had, since its first plan."""

    #: That were planned.
    planned: int = 0
    #: Of those, that start late.
    late: int = 0
    #: That were missed and do not run.
    dropped: int = 0
    #: That were missed, and whose place the row's next run took.
    superseded: int = 0
    #: That exclusions of the schedule skip.
    skipped: int = 0

    def __add__(self, other: Counts) -> Counts:
        """Return the sums."""
        return Counts(*(getattr(self, name) + getattr(other, name) for name in COUNT_NAMES))


COUNT_NAMES = tuple(Counts.__dataclass_fields__)


@dataclass(frozen=True)
class Progress:
    """How far a declaration is planned."""

    #: The name of the declaration.
    declaration: str
    #: What tells its schedule from others: ``name/version``, or the fingerprint.
    schedule: str
    #: All runs before it are planned.
    watermark_time: datetime
    #: Nothing is planned while it is paused; the runs of that time are missed ones afterwards.
    paused: bool = False
    open_pass: Pass | None = None
    #: The schedule that takes over at ``cutover_time``; empty when it has.
    next_schedule: str = ""
    #: When the schedule changes, or last did.
    cutover_time: datetime | None = None
    counts: Counts = Counts()

    def with_pass(self, open_pass: Pass | None) -> Progress:
        """Return the progress with another pass."""
        return replace(self, open_pass=open_pass)


@dataclass(frozen=True)
class PlannedPage:
    """What a page of a pass adds."""

    runs: tuple[StoredRun, ...]
    #: Which rows are planned with it; ``None`` if all are: the watermark becomes the pass's end.
    cursor: str | None
    counts: Counts


class ClaimOutcome(enum.Enum):
    """What becomes of a message."""

    #: The caller has the run, until its claim ends.
    GRANTED = "granted"
    #: It is not the time yet: put the message back.
    EARLY = "early"
    #: Another worker has the run: put the message back, as that worker may die.
    HELD = "held"
    #: The run has ended, or was published again: forget the message.
    OBSOLETE = "obsolete"


@dataclass(frozen=True)
class Claim:
    """What a worker gets for a message."""

    outcome: ClaimOutcome
    #: How long to put the message back; 0 if it is not.
    retry_delay: timedelta = timedelta(0)
    #: The run, if there is one.
    run: StoredRun | None = None


@dataclass(frozen=True)
class RunMessage:
    """What goes through a queue for a run.

    >>> from datetime import timezone
    >>> at = datetime(2026, 1, 1, tzinfo=timezone.utc)
    >>> message = RunMessage("sync", "0" * 32, 1, "42", "balance", at, at)
    >>> RunMessage.from_json(message.to_json()) == message
    True
    """

    declaration: str
    run_id: str
    publication: int
    row_id: str
    kind: str
    scheduled_time: datetime
    start_time: datetime

    @classmethod
    def of(cls, run: StoredRun) -> RunMessage:
        """Return the message of a run that was published."""
        return cls(
            run.declaration,
            run.run_id,
            run.publication,
            run.row_id,
            run.kind,
            run.scheduled_time,
            run.start_time,
        )

    def to_json(self) -> dict[str, Any]:
        """Return what JSON can write."""
        return {
            "declaration": self.declaration,
            "run_id": self.run_id,
            "publication": self.publication,
            "row_id": self.row_id,
            "kind": self.kind,
            "scheduled_time": self.scheduled_time.isoformat(),
            "start_time": self.start_time.isoformat(),
        }

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> RunMessage:
        """Read what :meth:`to_json` wrote; fields of later releases are ignored."""
        return cls(
            declaration=fields["declaration"],
            run_id=fields["run_id"],
            publication=int(fields["publication"]),
            row_id=fields["row_id"],
            kind=fields["kind"],
            scheduled_time=datetime.fromisoformat(fields["scheduled_time"]),
            start_time=datetime.fromisoformat(fields["start_time"]),
        )
