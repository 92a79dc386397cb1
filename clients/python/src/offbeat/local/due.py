"""``ListDueRuns``: due runs and missed runs. Instants are in milliseconds."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from ..errors import NeedsSidecar
from ..v1 import due_runs_pb2 as pb
from .assign import refuse_weights
from .context import Context
from .ids import PlainId, check_count, read_column
from .late import CatchUp
from .limits import CATCH_UP_HORIZON, DUE_PAGED_RUNS, DUE_RUNS
from .pages import Page
from .placement import HASH, digest
from .rejections import (
    CONTRADICTORY,
    FIELD_MISSING,
    OUT_OF_RANGE,
    Rejection,
    missing,
    unknown_enum_value,
)
from .runs import PlaceRuns
from .schedules import LocalSchedule
from .times import (
    MAX_MOMENT,
    MILLISECOND,
    SECOND,
    all_time,
    ceil_millis,
    floor_millis,
    is_in_time,
    moment_text,
    read_moment,
    read_span,
    span_text,
    timestamp,
    timestamp_of_millis,
    within_time,
)

_DEFAULT_TOLERANCE = 60 * SECOND

#: Later than all starts.
_NEVER = 1 << 63


def list_due_runs(request: pb.ListDueRunsRequest, context: Context) -> pb.ListDueRunsResponse:
    """List the runs of a page."""
    check_policy(request)
    context.without_zones(request.ids)
    column = read_column(request.ids)
    page = Page(request, len(column))
    given = read_moment("now_time", request.now_time) if request.HasField("now_time") else None
    now_time = page.now(given, lambda: context.now("now_time"))
    schedule = context.schedule_of_kind(request)
    due = _Due(schedule, request, now_time)
    watermarks = _Watermarks(due, request, len(column))
    refuse_weights(request.weights, len(column))
    prefix = schedule.run_key_prefix(request.kind)
    rows = _Rows(page.first_row, request.page_size)
    for row, plain in enumerate(column.ids()):
        try:
            if isinstance(plain, Rejection):
                raise plain
            offset, _ = schedule.place(plain)
        except Rejection as rejection:
            column.refuse(row, rejection)
            continue
        if not rows.has_more:
            due.add(rows, row, plain, PlaceRuns.of(schedule, offset), watermarks.of(row))
    response = pb.ListDueRunsResponse(identity=schedule.identity())
    rows.write(response.runs)
    response.runs.run_key_prefix = prefix
    response.runs.errors.extend(column.errors)
    if rows.has_more:
        response.next_page_token = page.token(now_time, page.first_row + rows.page_size)
        return response
    response.late_run_count = rows.late
    response.dropped_run_count = rows.dropped
    response.superseded_run_count = rows.superseded
    if rows.next_due is not None:
        response.next_due_time.CopyFrom(timestamp(rows.next_due * MILLISECOND))
    next_watermark = timestamp_of_millis(max(due.end, watermarks.shared))
    if next_watermark is not None:
        response.next_watermark_time.CopyFrom(next_watermark)
    return response


def check_policy(request: pb.ListDueRunsRequest) -> None:
    """Raise ``NeedsSidecar`` for the policy that lists more than one missed run of an ID."""
    if request.catch_up_policy.missed_run_policy == pb.MISSED_RUN_POLICY_RUN_ALL:
        raise NeedsSidecar("the policy RUN_ALL needs a sidecar: clients list one missed run alone")


class _Due:
    """A checked request for due runs."""

    def __init__(
        self, schedule: LocalSchedule, request: pb.ListDueRunsRequest, now_time: int
    ) -> None:
        max_clock_skew = _optional_span(request, "max_clock_skew")
        look_ahead = _optional_span(request, "look_ahead")
        policy, path = request.catch_up_policy, "catch_up_policy."
        number = policy.missed_run_policy
        if not 0 <= number <= pb.MISSED_RUN_POLICY_RUN_ALL:
            allowed = "0 to 3, a value of MissedRunPolicy"
            raise unknown_enum_value(f"{path}missed_run_policy", number, allowed)
        drops = number == pb.MISSED_RUN_POLICY_DROP
        tolerance = _policy_span(policy, "on_time_tolerance")
        horizon = _policy_span(policy, "horizon")
        smear_span = _policy_span(policy, "smear_span")
        min_gap = _policy_span(policy, "min_gap")

        period = schedule.period_millis * MILLISECOND
        a_minute = min(_DEFAULT_TOLERANCE, period)

        def up_to_a_period(field: str, span: int | None, default: int) -> int:
            value = default if span is None else span
            if not 0 <= value <= period:
                allowed = f"must be 0s to {span_text(period)}, one period"
                raise Rejection(OUT_OF_RANGE, field, span_text(value), allowed)
            return value

        if drops and tolerance is None:
            allowed = (
                "must be set with the policy DROP: at least the time between two requests, or runs "
                "are lost"
            )
            raise Rejection(FIELD_MISSING, f"{path}on_time_tolerance", "nothing", allowed)
        if schedule.kinds is None:
            tolerance = up_to_a_period(f"{path}on_time_tolerance", tolerance, a_minute)
        else:
            tolerance = _check_tolerance(schedule, tolerance, a_minute)
        smear = up_to_a_period(f"{path}smear_span", smear_span, 0)
        if schedule.kinds is not None and smear_span is not None:
            allowed = (
                "must not be set where the schedule declares kinds: its catch_up_span says where "
                "late runs start, the same for all callers"
            )
            raise Rejection(CONTRADICTORY, f"{path}smear_span", span_text(smear_span), allowed)
        ahead = up_to_a_period("look_ahead", look_ahead, 0)
        gap = up_to_a_period(f"{path}min_gap", min_gap, 0)
        skew = up_to_a_period("max_clock_skew", max_clock_skew, a_minute)
        caught_up = _check_horizon(period if horizon is None else horizon, tolerance)

        self._drops = drops
        self.now = ceil_millis(now_time)
        #: Runs before this are listed.
        self.end = ceil_millis(now_time + ahead)
        self._min_gap = ceil_millis(gap)
        #: Runs before this were missed.
        self._on_time_from = ceil_millis(now_time - tolerance)
        #: Runs before this are dropped.
        self._caught_up_from = ceil_millis(now_time - caught_up)
        self._smear_millis = floor_millis(smear)
        self._latest_skew = ahead + skew
        self._last_watermark = ceil_millis(now_time + self._latest_skew)
        self._bounds_of_last: tuple[int | None, tuple[int, ...]] = (None, ())
        self._catch_up = CatchUp(schedule, schedule.kinds) if schedule.kinds else None
        self._salt = schedule.grid.salt if schedule.grid.placement == HASH else b""

    def check_watermark(self, field: str, millis: int) -> int:
        """Refuse a watermark outside of the years 1 to 9999, or too far after now."""
        shown = moment_text(millis * MILLISECOND) if is_in_time(millis) else ""
        if millis > self._last_watermark:
            latest = self._last_watermark
            bound = latest * MILLISECOND if is_in_time(latest) else MAX_MOMENT
            allowed = (
                f"must be at most {moment_text(bound)}: max_clock_skew and look_ahead, "
                f"{span_text(self._latest_skew)}, after now_time"
            )
            raise Rejection(OUT_OF_RANGE, field, shown or f"{millis} ms", allowed)
        if not shown:
            value = f"{millis} ms since the Unix epoch"
            raise Rejection(OUT_OF_RANGE, field, value, f"must be {all_time()}")
        return millis

    def add(self, rows: _Rows, row: int, plain: PlainId, runs: PlaceRuns, watermark: int) -> None:
        """Add the due runs of an ID: the late one first."""
        first, caught_up, on_time, due, behind = map(runs.first_cycle, self._bounds(watermark))
        # Runs that look_ahead adds do not replace a missed run.
        wants_late = not self._drops and caught_up < on_time == due
        rows.dropped += on_time - first - wants_late
        next_due = runs.next_start(behind)
        if next_due is not None:
            rows.next_due = next_due if rows.next_due is None else min(rows.next_due, next_due)
        if wants_late:
            start = self._late_start(plain, runs)
            following = runs.next_start(runs.first_cycle(within_time(self.now)))
            supersedes = _NEVER if following is None else following - max(self._min_gap, 1)
            if start is None:
                rows.dropped += 1
            elif start > supersedes:
                rows.superseded += 1
            else:
                rows.late += 1
                rows.push(row, on_time - 1, runs.start(on_time - 1), start)
        for cycle_index in range(on_time, behind):
            if rows.has_more:
                return
            start = runs.start(cycle_index)
            rows.push(row, cycle_index, start, start)

    def _bounds(self, watermark: int) -> tuple[int, ...]:
        """Return the instants that divide the runs of an ID into missed, due and later ones."""
        if self._bounds_of_last[0] != watermark:  # most IDs have the watermark of the one before
            last = max(self.end, watermark)
            bounds = (watermark, self._caught_up_from, self._on_time_from, self.now, last)
            within = [within_time(min(max(bound, watermark), last)) for bound in bounds]
            self._bounds_of_last = (watermark, tuple(within))
        return self._bounds_of_last[1]

    def _late_start(self, plain: PlainId, runs: PlaceRuns) -> int | None:
        """Return when the late run of an ID starts."""
        if self._catch_up is None and not self._smear_millis:
            return self.now
        smear_hash = digest(self._salt, plain.text) & (1 << 64) - 1
        if self._catch_up is None:
            return self.now + (smear_hash * self._smear_millis >> 64)
        return self._catch_up.start(runs.origin, smear_hash, self.now)


class _Rows:
    """The rows of a page, and the counts over all pages."""

    def __init__(self, first_row: int, page_size: int) -> None:
        self.page_size = page_size or DUE_RUNS.maximum
        if not DUE_RUNS.allows(self.page_size):
            raise Rejection(OUT_OF_RANGE, "page_size", page_size, f"must be {DUE_RUNS}")
        if not DUE_PAGED_RUNS.allows(first_row):
            value = f"IDs with more than {first_row} due runs"
            raise Rejection(OUT_OF_RANGE, "ids", value, f"must have {DUE_PAGED_RUNS}")
        self.late = self.dropped = self.superseded = 0
        self.next_due: int | None = None
        self.has_more = False
        self._left_before = first_row
        self._ids, self._cycles = array("i"), array("q")
        self._scheduled, self._starts = array("q"), array("q")

    def push(self, row: int, cycle_index: int, scheduled: int, start: int) -> None:
        if self._left_before:
            self._left_before -= 1
        elif len(self._ids) >= self.page_size:
            self.has_more = True
        else:
            self._ids.append(row)
            self._cycles.append(cycle_index)
            self._scheduled.append(scheduled)
            self._starts.append(start)

    def write(self, message: pb.DueRuns) -> None:
        """Write the columns."""
        message.id_indexes.extend(self._ids)
        message.piece_indexes.extend([0] * len(self._ids))
        message.cycle_indexes.extend(self._cycles)
        message.scheduled_unix_millis.extend(self._scheduled)
        message.start_unix_millis.extend(self._starts)


class _Watermarks:
    """The times up to which runs were listed before: one for all IDs, or one for each."""

    def __init__(self, due: _Due, request: pb.ListDueRunsRequest, id_count: int) -> None:
        field, each = "watermark_time", request.watermark_unix_millis
        #: The watermark of all IDs; before all instants if each ID has its own.
        self.shared = -_NEVER
        self._each: Sequence[int] = each
        if request.HasField(field):
            time = read_moment(field, request.watermark_time)
            if each:
                allowed = "must not be set together with watermark_unix_millis"
                raise Rejection(CONTRADICTORY, field, moment_text(time), allowed)
            self.shared = due.check_watermark(field, ceil_millis(time))
            return
        if not each:
            raise missing(field, "must be set, but for IDs with watermarks of their own")
        field = "watermark_unix_millis"
        check_count(field, len(each), id_count)
        for row, millis in enumerate(each):
            due.check_watermark(f"{field}[{row}]", millis)

    def of(self, row: int) -> int:
        return self._each[row] if self._each else self.shared


def _optional_span(request: pb.ListDueRunsRequest, field: str) -> int | None:
    return read_span(field, getattr(request, field)) if request.HasField(field) else None


def _policy_span(policy: pb.CatchUpPolicy, field: str) -> int | None:
    if not policy.HasField(field):
        return None
    return read_span(f"catch_up_policy.{field}", getattr(policy, field))


def _check_tolerance(schedule: LocalSchedule, tolerance: int | None, default: int) -> int:
    """Check the tolerance with kinds: a run may be late by what a run time leaves of a gap."""
    assert schedule.kinds is not None
    longest = schedule.kinds.longest_tolerance()
    value = min(default, longest) if tolerance is None else tolerance
    if not 0 <= value <= longest:
        allowed = (
            f"must be 0s to {span_text(longest)}, what the run time of a kind leaves of the gap to "
            "the next one: a run that starts later could meet it"
        )
        field = "catch_up_policy.on_time_tolerance"
        raise Rejection(OUT_OF_RANGE, field, span_text(value), allowed)
    return value


def _check_horizon(horizon: int, tolerance: int) -> int:
    longest = CATCH_UP_HORIZON.maximum * MILLISECOND
    if not tolerance <= horizon <= longest:
        least, most = span_text(tolerance), span_text(longest)
        allowed = f"must be on_time_tolerance, {least}, to {most} (3660 days)"
        raise Rejection(OUT_OF_RANGE, "catch_up_policy.horizon", span_text(horizon), allowed)
    return horizon
