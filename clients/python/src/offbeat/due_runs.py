"""Due runs, including missed ones."""

from __future__ import annotations

import enum
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Generic

from ._fields import OUT_OF_RANGE, set_enum, set_span, set_time
from ._keywords import positional
from ._questions import NOW, Batch, Question, cut, describe_schedule, piece_limits
from ._rows import BadIds, IdError, Rows, composed_run_key, id_errors
from ._weights import InStep
from ._zones import TimeZones
from .errors import InvalidArgument, refused
from .ids import IdT, IdT_co, IdType, checked_text
from .runs import DEFAULT_KIND, Run
from .schedule import AnySchedule, schedule_message
from .times import (
    ceil_timestamp,
    ceil_unix_millis,
    from_duration,
    from_timestamp,
    from_unix_millis,
)
from .v1 import due_runs_pb2 as pb

if TYPE_CHECKING:
    from dataclasses import KW_ONLY


class MissedRunPolicy(enum.IntEnum):
    """Which missed runs run."""

    #: None of them: all are dropped.
    DROP = 1
    #: The latest one of each ID, unless a run of the ID is due and on time.
    RUN_ONCE = 2
    #: All of them, in order, up to the horizon.
    RUN_ALL = 3


@dataclass(frozen=True)
class DueRuns(Rows[Run[IdT_co]], Generic[IdT_co]):
    """Due runs: a sequence of rows, and the columns they come from.

    Rows are in the order of the IDs, of their pieces and of the cycles. Refused IDs have no rows,
    and are listed in ``errors``.
    """

    ids: list[IdT_co] = field(repr=False)
    #: For each row, the index of its ID in ``ids``.
    id_indexes: array[int] = field(repr=False)
    #: For each row, the index of the piece of its ID.
    piece_indexes: array[int] = field(repr=False)
    #: Cycles of the runs.
    cycle_indexes: array[int] = field(repr=False)
    #: When runs should have started, in milliseconds since the Unix epoch.
    scheduled_unix_millis: array[int] = field(repr=False)
    #: When to start them, in milliseconds since the Unix epoch.
    start_unix_millis: array[int] = field(repr=False)
    #: The ``watermark`` of the next call; store it with the jobs.
    next_watermark_time: datetime
    #: Missed runs that run now.
    late_run_count: int
    #: Missed runs that do not run: by the policy or the horizon, or because nothing may start.
    dropped_run_count: int
    #: Missed runs that do not run because the next run of the ID would come first, at the same
    #: time, or within ``min_gap``.
    superseded_run_count: int
    #: Runs since the watermark that exclusions skip, or whose day the clock skips.
    skipped_run_count: int
    #: When the first run of these IDs is due that is not listed: no call is needed before then.
    #: ``None`` if exclusions skip all of the next 64 cycles.
    next_due_time: datetime | None
    #: Fingerprint of the schedule.
    fingerprint: str
    #: Prefix of run keys.
    run_key_prefix: str
    #: The refused IDs.
    errors: tuple[IdError, ...] = ()
    #: The type that IDs given as ``str`` stand for.
    id_type: IdType | None = None
    #: The kind of job; ``"default"`` if none was named.
    kind: str = DEFAULT_KIND
    #: The release of the sidecar's time-zone database, as in :class:`~offbeat.Assignment`.
    time_zone_database: str = ""
    #: Who decided, as in :class:`~offbeat.Assignment`.
    decided_by: str = field(default="sidecar", compare=False)

    def __len__(self) -> int:
        return len(self.id_indexes)

    def _row(self, position: int) -> Run[IdT_co]:
        value = self.ids[self.id_indexes[position]]
        cycle_index, piece_index = self.cycle_indexes[position], self.piece_indexes[position]
        return Run(
            id=value,
            kind=self.kind,
            piece_index=piece_index,
            cycle_index=cycle_index,
            scheduled_time=from_unix_millis(self.scheduled_unix_millis[position]),
            start_time=from_unix_millis(self.start_unix_millis[position]),
            run_key=composed_run_key(
                self.run_key_prefix, cycle_index, piece_index, value, self.id_type
            ),
        )


@positional(1)
@dataclass(frozen=True)
class CatchUpPolicy:
    """What to do with missed runs.

    missed_run_policy: which of them run. Default: ``MissedRunPolicy.RUN_ONCE``.
    on_time_tolerance: runs that are late by at most this are on time; others were missed. 0 to the
        shortest cycle; with kinds, at most what the run time of a kind leaves of its run budget.
        Use at least the time between two calls. Must be set with ``MissedRunPolicy.DROP``, because
        calls that are further apart would lose runs. Default: 60 s, or the largest allowed value
        if that is shorter.
    horizon: missed runs that are older than this are dropped by every policy. Default: the
        shortest cycle.
    smear_span: late runs start spread over this span from now on, 0 to the shortest cycle.
        Refused if the schedule declares kinds: its ``catch_up_span`` keeps them apart.
        Default: 0.
    min_gap: with ``RUN_ONCE``, a late run is superseded if it would start at or after the next run
        of its ID, or less than this before it. 0 to the shortest cycle. Default: 0.

    >>> CatchUpPolicy(MissedRunPolicy.DROP, on_time_tolerance=timedelta(minutes=5)).horizon
    """

    missed_run_policy: MissedRunPolicy | None = None
    if TYPE_CHECKING:
        _: KW_ONLY
    on_time_tolerance: timedelta | None = None
    horizon: timedelta | None = None
    smear_span: timedelta | None = None
    min_gap: timedelta | None = None

    def to_message(self) -> pb.CatchUpPolicy:
        """Turn the policy into its message."""
        message, path = pb.CatchUpPolicy(), "catch_up_policy"
        if self.missed_run_policy is not None:
            policy = self.missed_run_policy
            set_enum(message, path, "missed_run_policy", policy, MissedRunPolicy)
        for name in ("on_time_tolerance", "horizon", "smear_span", "min_gap"):
            set_span(message, path, name, getattr(self, name))
        return message


@dataclass(frozen=True)
class Poll:
    """The arguments of a call that are about time, and the same for all batches."""

    watermark: datetime | None = None
    now_time: datetime | None = None
    catch_up_policy: CatchUpPolicy | None = None
    max_clock_skew: timedelta | None = None
    look_ahead: timedelta | None = None

    def set_in(self, request: pb.ListDueRunsRequest) -> None:
        """Set the fields of a request."""
        set_time(request, "", "watermark_time", self.watermark)
        set_time(request, "", "now_time", self.now_time)
        if self.catch_up_policy is not None:
            if not isinstance(self.catch_up_policy, CatchUpPolicy):
                raise refused("catch_up_policy", self.catch_up_policy, "must be a CatchUpPolicy")
            request.catch_up_policy.CopyFrom(self.catch_up_policy.to_message())
        set_span(request, "", "max_clock_skew", self.max_clock_skew)
        set_span(request, "", "look_ahead", self.look_ahead)

    def next_watermark_time(self) -> Question[datetime]:
        """Return the ``next_watermark_time`` that the sidecar would answer for no IDs."""
        now_time: datetime = self.now_time or (yield NOW, None)
        end = now_time + (self.look_ahead or timedelta(0))
        return max(end, self.watermark or end)


def list_due_runs(
    schedule: AnySchedule,
    ids: Iterable[IdT],
    poll: Poll,
    watermarks: Iterable[datetime] | None,
    weights: Iterable[int] | None,
    time_zones: TimeZones[IdT] | None,
    kind: str,
    id_type: IdType | None,
    return_errors: bool,
) -> Question[DueRuns[IdT]]:
    """Ask which runs are due, batch by batch, all at the instant of the first batch."""
    request = pb.ListDueRunsRequest(
        schedule=schedule_message(schedule), kind=checked_text("kind", kind)
    )
    poll.set_in(request)
    marks = InStep("watermarks", watermarks)
    gathered: _Gathered[IdT] = _Gathered(id_type, kind or DEFAULT_KIND)
    limits = yield from piece_limits(schedule, weights)
    for batch in cut(ids, id_type, weights, limits, time_zones):
        millis = [ceil_unix_millis(at, mark) for at, mark in marks.take(len(batch.ids))]
        yield from _ask(request, batch, millis, gathered)
    marks.end()
    if not gathered.ids:  # no IDs: let the sidecar check the schedule anyway
        description = yield from describe_schedule(schedule, None, None)
        watermark = yield from poll.next_watermark_time()
        return gathered.answer(watermark, description.fingerprint)
    answer = gathered.answer()
    if answer.errors and not return_errors:
        raise BadIds(answer, answer.errors)
    return answer


def _ask(
    request: pb.ListDueRunsRequest, batch: Batch[IdT], millis: list[int], gathered: _Gathered[IdT]
) -> Question[None]:
    """Ask about a batch, page by page; ask about its halves if it is too much for one search.

    That can happen after an outage, to calls that have succeeded for months.
    """
    request.ids.CopyFrom(batch.column())
    del request.weights[:], request.watermark_unix_millis[:]
    request.weights.extend(batch.weights)
    request.watermark_unix_millis.extend(millis)
    try:
        response: pb.ListDueRunsResponse = yield "ListDueRuns", request
    except InvalidArgument as error:
        if (error.field, error.reason) != ("ids", OUT_OF_RANGE) or len(batch.ids) == 1:
            raise
    else:
        yield from _take_pages(request, response, batch.ids, gathered)
        return
    first, second = batch.halves()
    middle = len(first.ids)
    yield from _ask(request, first, millis[:middle], gathered)
    yield from _ask(request, second, millis[middle:], gathered)


def _take_pages(
    request: pb.ListDueRunsRequest,
    response: pb.ListDueRunsResponse,
    ids: list[IdT],
    gathered: _Gathered[IdT],
) -> Question[None]:
    """Add the first page of an answer, and ask for the others."""
    gathered.begin(ids)
    gathered.add(response)
    while response.next_page_token:
        request.page_token = response.next_page_token
        response = yield "ListDueRuns", request
        gathered.add(response)
    gathered.end(response)
    request.ClearField("page_token")
    if not request.HasField("now_time"):
        set_time(request, "", "now_time", _now_of(request, response))


def _now_of(request: pb.ListDueRunsRequest, last: pb.ListDueRunsResponse) -> datetime:
    """Return the instant of an answer, so that the next batch has the same."""
    return ceil_timestamp(last.next_watermark_time) - from_duration(request.look_ahead)


class _Gathered(Generic[IdT]):
    """Collects the answers to the batches of a call into one."""

    def __init__(self, id_type: IdType | None, kind: str) -> None:
        self.ids: list[IdT] = []
        self._id_type, self._kind = id_type, kind
        self._first = 0
        self._id_indexes, self._piece_indexes = array("i"), array("i")
        self._cycles, self._scheduled, self._starts = array("q"), array("q"), array("q")
        self._errors: dict[int, IdError] = {}
        self._late = self._dropped = self._superseded = self._skipped = 0
        self._next_due: list[datetime] = []
        self._run_key_prefix = ""
        self._last = pb.ListDueRunsResponse()

    def begin(self, ids: list[IdT]) -> None:
        """Begin with the next batch."""
        self._first = len(self.ids)
        self.ids.extend(ids)

    def add(self, response: pb.ListDueRunsResponse) -> None:
        """Add a page of the batch."""
        runs = response.runs
        self._id_indexes.extend([self._first + index for index in runs.id_indexes])
        self._piece_indexes.extend(runs.piece_indexes)
        self._cycles.extend(runs.cycle_indexes)
        self._scheduled.extend(runs.scheduled_unix_millis)
        self._starts.extend(runs.start_unix_millis)
        errors = id_errors(runs.errors, self._first)
        self._errors.update({error.id_index: error for error in errors})
        self._run_key_prefix = runs.run_key_prefix or self._run_key_prefix

    def end(self, last: pb.ListDueRunsResponse) -> None:
        """Add what only the last page of a batch has."""
        self._late += last.late_run_count
        self._dropped += last.dropped_run_count
        self._superseded += last.superseded_run_count
        self._skipped += last.skipped_run_count
        if last.HasField("next_due_time"):
            self._next_due.append(from_timestamp(last.next_due_time))
        self._last = last

    def answer(
        self, next_watermark_time: datetime | None = None, fingerprint: str = ""
    ) -> DueRuns[IdT]:
        last = self._last
        return DueRuns(
            ids=self.ids,
            id_indexes=self._id_indexes,
            piece_indexes=self._piece_indexes,
            cycle_indexes=self._cycles,
            scheduled_unix_millis=self._scheduled,
            start_unix_millis=self._starts,
            next_watermark_time=next_watermark_time or ceil_timestamp(last.next_watermark_time),
            late_run_count=self._late,
            dropped_run_count=self._dropped,
            superseded_run_count=self._superseded,
            skipped_run_count=self._skipped,
            next_due_time=min(self._next_due, default=None),
            fingerprint=fingerprint or last.identity.fingerprint,
            run_key_prefix=self._run_key_prefix,
            errors=tuple(self._errors.values()),
            id_type=self._id_type,
            kind=self._kind,
            time_zone_database=last.identity.time_zone_database,
        )
