"""The records of a store: runs, and how far each declaration is planned."""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any


class RunState(str, enum.Enum):
    """The state of a run."""

    #: It waits to be published.
    PLANNED = "planned"
    #: Its message is in the queue, and no worker has claimed it.
    PUBLISHED = "published"
    #: A worker has claimed it until its ``action_time``.
    CLAIMED = "claimed"
    #: It has succeeded.
    DONE = "done"
    #: It has failed, after the last retry of the queue.
    FAILED = "failed"
    #: Its row was deleted, or is no longer among the rows of the declaration.
    SKIPPED = "skipped"
    #: A later run of the row took its place before it was published.
    SUPERSEDED = "superseded"
    #: It was missed, and the policy does not run it.
    DROPPED = "dropped"

    @property
    def ended(self) -> bool:
        """Whether nothing more happens to the run."""
        return self not in (RunState.PLANNED, RunState.PUBLISHED, RunState.CLAIMED)


@dataclass(frozen=True)
class StoredRun:
    """A run of a row, as a store keeps it."""

    #: 32 hexadecimal digits, the same each time that the run is planned.
    run_id: str
    #: The name of its declaration.
    declaration: str
    #: Identifies its schedule, as in :class:`Progress`; empty for extra runs.
    schedule: str
    #: The ID of its row, as text.
    row_id: str
    #: The kind of job.
    kind: str
    #: When it should start, by the schedule.
    scheduled_time: datetime
    #: When it starts: later than the scheduled time if it was missed.
    start_time: datetime
    state: RunState = RunState.PLANNED
    #: How often it was published; for a claimed run, the number of the publication whose message
    #: claimed it.
    publication: int = 0
    #: When the next action is due: a planned run is published, a published one is published again,
    #: a claim ends. For a run that has ended, when it ended.
    next_action_time: datetime | None = None

    @property
    def action_time(self) -> datetime:
        """When the next action is due; at first, when the run starts."""
        return self.next_action_time or self.start_time


@dataclass(frozen=True)
class Pass:
    """Planning in progress: of the runs from the watermark to ``end_time``, page by page."""

    #: The instant that decides which runs are late.
    now: datetime
    end_time: datetime
    #: How far the rows are planned; empty at first.
    cursor: str = ""


@dataclass(frozen=True)
class Counts:
    """Counts of a declaration's runs, since it was first planned."""

    #: Planned runs.
    planned: int = 0
    #: Planned runs that start late.
    late: int = 0
    #: Missed runs that do not run.
    dropped: int = 0
    #: Missed runs whose place the row's next run took.
    superseded: int = 0
    #: Runs that exclusions of the schedule skip.
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
    #: Identifies its schedule: ``name/version``, or the fingerprint.
    schedule: str
    #: All runs before this are planned.
    watermark_time: datetime
    #: While it is paused, nothing is planned; afterwards, the runs of that time are missed runs.
    paused: bool = False
    open_pass: Pass | None = None
    #: The schedule that takes over at ``cutover_time``; empty after it has taken over.
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
    #: How far the rows are planned with it; ``None`` if all are, which moves the watermark to the
    #: end of the pass.
    cursor: str | None
    counts: Counts


class ClaimOutcome(enum.Enum):
    """What happens to a message."""

    #: The caller has the run, until its claim ends.
    GRANTED = "granted"
    #: The run starts later: put the message back.
    EARLY = "early"
    #: Another worker has the run: put the message back, because that worker may die.
    HELD = "held"
    #: The run has ended, or was published again: discard the message.
    OBSOLETE = "obsolete"


@dataclass(frozen=True)
class Claim:
    """The answer to a worker that claims the run of a message."""

    outcome: ClaimOutcome
    #: For how long to put the message back; 0 with other outcomes.
    retry_delay: timedelta = timedelta(0)
    #: The run, if there is one.
    run: StoredRun | None = None


@dataclass(frozen=True)
class RunMessage:
    """The message of a run in a queue.

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
        """Return the message of a published run."""
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
        """Return the message as a dictionary for JSON."""
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
