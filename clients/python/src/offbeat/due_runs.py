"""Runs that are due, those that were missed among them."""

from __future__ import annotations

import enum
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone

from ._fields import OUT_OF_RANGE, set_enum, set_span, set_time
from ._questions import Batch, Question, cut, describe_schedule, piece_limits
from ._rows import BadIds, IdError, Rows, composed_run_key, id_errors
from ._weights import InStep
from .errors import InvalidArgument
from .ids import IdType, IdValue, checked_text
from .schedule import AnySchedule, schedule_message
from .times import ceil_timestamp, ceil_unix_millis, from_unix_millis
from .v1 import due_runs_pb2 as pb


class MissedRunPolicy(enum.IntEnum):
    """What becomes of runs that were missed."""

    #: None of them runs.
    SKIP = 1
    #: The latest of each ID runs, unless a run that is on time does.
    RUN_ONCE = 2
    #: All of them run, in their order.
    RUN_ALL = 3


@dataclass(frozen=True)
class DueRun:
    """A run that is due."""

    id: IdValue
    #: Which piece of its ID; 0 but for weighted IDs.
    piece_index: int
    cycle_index: int
    #: When it should have started: what lateness is measured from.
    scheduled_time: datetime
    #: When to start it; of a missed run later than that.
    start_time: datetime
    #: Equal for two attempts to enqueue the same run; empty for a fraction.
    run_key: str


@dataclass(frozen=True)
class DueRuns(Rows[DueRun]):
    """Runs that are due: a sequence of rows, and the columns they come from.

    In the order of the IDs, of their pieces and of the cycles. Refused IDs have no rows and
    stand in ``errors``.
    """

    ids: list[IdValue] = field(repr=False)
    #: Which of ``ids`` a row is.
    id_indexes: array[int] = field(repr=False)
    #: Which piece of its ID a row is.
    piece_indexes: array[int] = field(repr=False)
    cycle_indexes: array[int] = field(repr=False)
    #: When runs should have started, in milliseconds since the Unix epoch.
    scheduled_unix_millis: array[int] = field(repr=False)
    #: When to start them, in milliseconds since the Unix epoch.
    start_unix_millis: array[int] = field(repr=False)
    #: The ``watermark`` of the next question: keep it with the jobs.
    next_watermark: datetime
    #: Runs that were missed, and run now.
    late_run_count: int
    #: Runs that were missed and do not run, by the policy or the horizon.
    dropped_run_count: int
    #: What tells the schedule from others.
    fingerprint: str
    #: What run keys begin with.
    run_key_prefix: str
    #: The refused IDs.
    errors: tuple[IdError, ...] = ()
    #: What strings among the IDs stand for.
    id_type: IdType | None = None

    def __len__(self) -> int:
        return len(self.id_indexes)

    def _row(self, position: int) -> DueRun:
        value = self.ids[self.id_indexes[position]]
        cycle_index, piece_index = self.cycle_indexes[position], self.piece_indexes[position]
        return DueRun(
            id=value,
            piece_index=piece_index,
            cycle_index=cycle_index,
            scheduled_time=from_unix_millis(self.scheduled_unix_millis[position]),
            start_time=from_unix_millis(self.start_unix_millis[position]),
            run_key=composed_run_key(
                self.run_key_prefix, cycle_index, piece_index, value, self.id_type
            ),
        )


@dataclass(frozen=True)
class CatchUp:
    """What of a question is about time, and the same for all batches."""

    watermark: datetime | None
    now_time: datetime | None
    missed_run_policy: MissedRunPolicy | None
    on_time_tolerance: timedelta | None
    catch_up_horizon: timedelta | None
    smear_span: timedelta | None
    max_clock_skew: timedelta | None

    def set_in(self, request: pb.ListDueRunsRequest) -> None:
        """Set it in a request."""
        set_time(request, "", "watermark", self.watermark)
        set_time(request, "", "now_time", self.now_time)
        if self.missed_run_policy is not None:
            policy = self.missed_run_policy
            set_enum(request, "", "missed_run_policy", policy, MissedRunPolicy)
        for name in ("on_time_tolerance", "catch_up_horizon", "smear_span", "max_clock_skew"):
            set_span(request, "", name, getattr(self, name))


def list_due_runs(
    schedule: AnySchedule,
    ids: Iterable[IdValue],
    catch_up: CatchUp,
    watermarks: Iterable[datetime] | None,
    weights: Iterable[int] | None,
    kind: str,
    id_type: IdType | None,
    return_errors: bool,
) -> Question[DueRuns]:
    """Ask which runs are due, batch by batch, all of them at the instant of the first."""
    request = pb.ListDueRunsRequest(
        schedule=schedule_message(schedule), kind=checked_text("kind", kind)
    )
    catch_up.set_in(request)
    marks = InStep("watermarks", watermarks)
    gathered = _Gathered(id_type)
    limits = yield from piece_limits(schedule, weights)
    for batch in cut(ids, id_type, weights, limits):
        millis = [ceil_unix_millis(at, mark) for at, mark in marks.take(len(batch.ids))]
        yield from _ask(request, batch, millis, gathered)
    marks.end()
    if not gathered.ids:  # nothing was asked: let the schedule be checked all the same
        description = yield from describe_schedule(schedule, None, None)
        now = catch_up.now_time or datetime.now(timezone.utc)
        return gathered.answer(max(now, catch_up.watermark or now), description.fingerprint)
    answer = gathered.answer()
    if answer.errors and not return_errors:
        raise BadIds(answer, answer.errors)
    return answer


def _ask(
    request: pb.ListDueRunsRequest, batch: Batch, millis: list[int], gathered: _Gathered
) -> Question[None]:
    """Ask about a batch; in halves, if more of its runs are due than one answer holds.

    That happens after an outage, to calls that were well for months.
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
        gathered.add(batch.ids, response)
        if not request.HasField("now_time"):
            request.now_time.CopyFrom(response.next_watermark)
        return
    first, second = batch.halves()
    middle = len(first.ids)
    yield from _ask(request, first, millis[:middle], gathered)
    yield from _ask(request, second, millis[middle:], gathered)


class _Gathered:
    """The answers to the batches of a call, in one."""

    def __init__(self, id_type: IdType | None) -> None:
        """Begin with none."""
        self.ids: list[IdValue] = []
        self._id_type = id_type
        self._id_indexes, self._piece_indexes = array("i"), array("i")
        self._cycles, self._scheduled, self._starts = array("q"), array("q"), array("q")
        self._errors: list[IdError] = []
        self._late = self._dropped = 0
        self._last = pb.ListDueRunsResponse()

    def add(self, ids: list[IdValue], response: pb.ListDueRunsResponse) -> None:
        first, runs = len(self.ids), response.runs
        self.ids.extend(ids)
        self._id_indexes.extend([first + index for index in runs.id_indexes])
        self._piece_indexes.extend(runs.piece_indexes)
        self._cycles.extend(runs.cycle_indexes)
        self._scheduled.extend(runs.scheduled_unix_millis)
        self._starts.extend(runs.start_unix_millis)
        self._errors.extend(id_errors(runs.errors, first))
        self._late += response.late_run_count
        self._dropped += response.dropped_run_count
        self._last = response

    def answer(self, next_watermark: datetime | None = None, fingerprint: str = "") -> DueRuns:
        last = self._last
        return DueRuns(
            ids=self.ids,
            id_indexes=self._id_indexes,
            piece_indexes=self._piece_indexes,
            cycle_indexes=self._cycles,
            scheduled_unix_millis=self._scheduled,
            start_unix_millis=self._starts,
            next_watermark=next_watermark or ceil_timestamp(last.next_watermark),
            late_run_count=self._late,
            dropped_run_count=self._dropped,
            fingerprint=fingerprint or last.identity.fingerprint,
            run_key_prefix=last.runs.run_key_prefix,
            errors=tuple(self._errors),
            id_type=self._id_type,
        )
