"""``DescribeSchedule``, ``ListSlots`` and ``GetWindowPredicate``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import NeedsSidecar
from ..v1 import slots_pb2 as pb
from ..v1.sql_pb2 import SqlTarget
from .context import Context
from .limits import LISTED_SLOTS, PREDICATE_BYTES
from .placement import HASH, TWISTER
from .rejections import CONTRADICTORY, OUT_OF_RANGE, Rejection, missing, quoted
from .schedules import LocalSchedule
from .sql import Membership
from .times import (
    all_time,
    ceil_millis,
    duration,
    floor_millis,
    moment_text,
    read_moment,
    span_text,
    timestamp_of_millis,
)

_PREDICATES_NEED_HASH = "predicates of {} need a sidecar: clients write those of HASH alone"


def describe_schedule(
    request: pb.DescribeScheduleRequest, context: Context
) -> pb.DescribeScheduleResponse:
    """Describe a schedule, without the expected load."""
    if request.HasField("population"):
        raise NeedsSidecar("the load to expect needs a sidecar")
    schedule = context.schedule(request)
    at = context.moment_or_now(request, "at_time")
    number = _slots_before(schedule, floor_millis(at) + 1) - 1
    slot = _slot(schedule, number)
    if slot is None:
        raise _outside_time("at_time", moment_text(at))
    cycle_start = schedule.anchor_millis + slot.cycle_index * schedule.period_millis
    cycle = duration(schedule.span_of_ticks(schedule.period_ticks))
    response = pb.DescribeScheduleResponse(
        identity=schedule.identity(),
        spec=schedule.spec,
        canonical_text=schedule.canonical_text,
        slot_duration=duration(schedule.span_of_ticks(schedule.grid.slot_ticks)),
        slot=slot,
        cycle_start_time=timestamp_of_millis(cycle_start),
        cycle_end_time=timestamp_of_millis(cycle_start + schedule.period_millis),
        active_duration=cycle,
        max_cycle_duration=cycle,
        kinds=_described_kinds(schedule),
    )
    if schedule.grid.placement == TWISTER:
        buckets, slots = schedule.grid.bucket_count, schedule.grid.slot_count
        most = -(-buckets // slots)
        response.bucket_share.min_bucket_count = buckets // slots
        response.bucket_share.max_bucket_count = most
        response.bucket_share.fullest_to_mean_ratio = most / (buckets / slots)
    return response


def _described_kinds(schedule: LocalSchedule) -> list[pb.DescribedKind]:
    kinds = [] if schedule.kinds is None else schedule.kinds.kinds
    return [
        pb.DescribedKind(
            name=kind.name,
            offset_slot_count=kind.offset,
            offset=duration(schedule.span_of_ticks(kind.offset * schedule.grid.slot_ticks)),
            gap_slot_count=kind.gap,
            run_budget=duration(kind.gap_time),
            run_time=None if kind.run_time is None else duration(kind.run_time),
        )
        for kind in kinds
    ]


def list_slots(request: pb.ListSlotsRequest, context: Context) -> pb.ListSlotsResponse:
    """List the slots that start in a window, with predicates if a column is named."""
    has_target = request.HasField("sql_target")
    if has_target:
        _without_zone_column(request.sql_target)
    # All kinds have the same slots; rows are those of one kind.
    of_kind = has_target or request.kind
    schedule = context.schedule_of_kind(request) if of_kind else context.schedule(request)
    members = _membership(schedule, request.sql_target) if has_target else None
    start = context.moment_or_now(request, "start_time")
    first = _slots_before(schedule, ceil_millis(start))
    if request.HasField("end_time"):
        end = read_moment("end_time", request.end_time)
        if end < start:
            raise _before_start(start, end)
        behind, shown = _slots_before(schedule, ceil_millis(end)), moment_text(end)
    else:
        behind = first + schedule.grid.slot_count
        shown = f"one period after {moment_text(start)}"
    count = behind - first
    if not LISTED_SLOTS.allows(count):
        allowed = f"the window must hold {LISTED_SLOTS}: end it earlier"
        value = f"{shown} (a window of {count} slots)"
        raise Rejection(OUT_OF_RANGE, "end_time", value, allowed)
    response = pb.ListSlotsResponse(identity=schedule.identity())
    for number in range(first, behind):
        slot = _slot(schedule, number)
        if slot is None:
            raise _outside_time("end_time", shown)
        response.slots.append(slot)
    if members is not None:
        _add_predicates(response.slots, members)
        response.sql_index.CopyFrom(members.index)
    return response


def _add_predicates(slots: Sequence[pb.Slot], members: Membership) -> None:
    size = 0
    for slot in slots:
        predicate = members.slot(slot.slot_index)
        size += len(predicate.sql.encode())
        if size > PREDICATE_BYTES.maximum:
            allowed = f"their predicates must be {PREDICATE_BYTES}: end it earlier"
            value = f"a window of {len(slots)} slots"
            raise Rejection(OUT_OF_RANGE, "end_time", value, allowed)
        slot.predicate.CopyFrom(predicate)


def window_predicate(
    request: pb.GetWindowPredicateRequest, context: Context
) -> pb.GetWindowPredicateResponse:
    """Return the condition of the rows that run in a window."""
    if request.time_zones:
        raise NeedsSidecar("time zones by row need a sidecar")
    schedule = context.schedule_of_kind(request)
    if not request.HasField("sql_target"):
        raise missing("sql_target", "it must be set")
    _without_zone_column(request.sql_target)
    members = _membership(schedule, request.sql_target)
    start = context.moment_or_now(request, "start_time")
    if not request.HasField("end_time"):
        raise missing("end_time", "must be at most a period after start_time")
    end = read_moment("end_time", request.end_time)
    return pb.GetWindowPredicateResponse(
        identity=schedule.identity(),
        predicate=members.window(_offsets_running_in(schedule, start, end)),
        sql_index=members.index,
    )


def _offsets_running_in(schedule: LocalSchedule, start: int, end: int) -> list[tuple[int, int]]:
    """Return the ticks of the cycle in a window: one range, or two around a cycle's start."""
    if end < start:
        raise _before_start(start, end)
    period = schedule.period_ticks
    first, behind = _ticks_before(schedule, start), _ticks_before(schedule, end)
    length = behind - first
    if length > period:
        span = span_text(schedule.span_of_ticks(period))
        allowed = (
            f"must be at most a period of {span} after start_time, {moment_text(start)}: in it "
            "every ID runs once"
        )
        raise Rejection(OUT_OF_RANGE, "end_time", moment_text(end), allowed)
    at = first % period
    if length == period:
        return [(0, period)]
    if at + length <= period:
        return [(at, at + length)]
    return [(at, period), (0, at + length - period)]


def _ticks_before(schedule: LocalSchedule, moment: int) -> int:
    """Return how many ticks start before an instant, counted from the anchor."""
    return -((schedule.anchor_millis - ceil_millis(moment)) // schedule.tick_millis)


def _slots_before(schedule: LocalSchedule, millis: int) -> int:
    """Return how many slots start before an instant, counted from the anchor."""
    return -((schedule.anchor_millis - millis) // schedule.slot_millis)


def _slot(schedule: LocalSchedule, number: int) -> pb.Slot | None:
    """Return a slot, counted from the anchor; ``None`` outside of the years 1 to 9999."""
    start = schedule.anchor_millis + number * schedule.slot_millis
    start_time = timestamp_of_millis(start)
    end_time = timestamp_of_millis(start + schedule.slot_millis)
    if start_time is None or end_time is None:
        return None
    cycle_index, slot_index = divmod(number, schedule.grid.slot_count)
    return pb.Slot(
        slot_index=slot_index, cycle_index=cycle_index, start_time=start_time, end_time=end_time
    )


def _membership(schedule: LocalSchedule, target: SqlTarget) -> Membership:
    placement = schedule.grid.placement
    if placement != HASH:
        raise NeedsSidecar(_PREDICATES_NEED_HASH.format(placement))
    try:
        return Membership(schedule, target)
    except Rejection as rejection:
        raise rejection.under("sql_target") from None


def _without_zone_column(target: SqlTarget) -> None:
    if target.time_zone_column:
        allowed = "must be set with time_zones of GetWindowPredicate alone"
        field, value = "sql_target.time_zone_column", quoted(target.time_zone_column)
        raise Rejection(CONTRADICTORY, field, value, allowed)


def _before_start(start: int, end: int) -> Rejection:
    allowed = f"must not be before start_time, {moment_text(start)}"
    return Rejection(CONTRADICTORY, "end_time", moment_text(end), allowed)


def _outside_time(field: str, value: Any) -> Rejection:
    allowed = f"must be such that its slots start and end in {all_time()}"
    return Rejection(OUT_OF_RANGE, field, value, allowed)
