"""``AssignSlot`` and ``AssignSlots``: the places of IDs, and their runs."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from google.protobuf.field_mask_pb2 import FieldMask

from .._columns import COLUMNS, AssignmentColumns, ColumnsResponse
from ..errors import NeedsSidecar
from ..v1 import slots_pb2 as pb
from ..v1.id_pb2 import IdBatch
from .context import Context
from .ids import PlainId, check_count, read_column, read_id
from .limits import MASK_PATHS, NEXT_RUNS, in_range
from .placement import HASH, TWISTER
from .rejections import CONTRADICTORY, MALFORMED, OUT_OF_RANGE, Rejection, missing, quoted, shorten
from .runs import PlaceRuns, check_from, run_message
from .schedules import LocalSchedule
from .times import duration

#: The value of all columns in the row of a refused ID.
_REFUSED = -1


def assign_slot(request: pb.AssignSlotRequest, context: Context) -> pb.AssignSlotResponse:
    """Assign one ID."""
    if request.HasField("new_id"):
        raise NeedsSidecar("the first run of a new ID needs a sidecar")
    schedule = context.schedule_of_kind(request)
    if request.time_zone:
        allowed = "must not be set where cycles are periods, which no clock moves"
        raise Rejection(CONTRADICTORY, "time_zone", quoted(request.time_zone), allowed)
    if not request.HasField("id"):
        raise missing("id", "it must be set")
    plain = read_id(request.id)
    count = request.next_run_count if request.HasField("next_run_count") else 1
    in_range("next_run_count", count, NEXT_RUNS)
    from_millis = check_from(schedule, context.moment_or_now(request, "from_time"), count)
    prefix = schedule.run_key_prefix(request.kind)
    try:
        offset, rule = schedule.place(plain)
    except Rejection as rejection:
        raise rejection.under("id") from None
    if request.HasField("weight"):
        raise _no_weights("weight", request.weight)
    runs = PlaceRuns.of(schedule, offset)
    first = runs.first_cycle(from_millis)

    def run(cycle_index: int) -> pb.Run:
        key = f"{prefix}/{cycle_index}/0/{plain.text}" if plain.is_identity else ""
        return run_message(runs.start(cycle_index), cycle_index, key)

    slot, slot_offset = divmod(offset, schedule.grid.slot_ticks)
    piece = pb.Piece(
        slot_index=slot,
        slot_offset=duration(schedule.span_of_ticks(slot_offset)),
        cycle_offset=duration(schedule.span_of_ticks(offset)),
        last_run=run(first - 1),
        next_runs=[run(cycle_index) for cycle_index in range(first, first + count)],
    )
    return pb.AssignSlotResponse(
        identity=schedule.identity(),
        pieces=[piece],
        explanation=_explanation(schedule, plain, rule),
    )


def _explanation(
    schedule: LocalSchedule, plain: PlainId, rule: int | float
) -> pb.PlacementExplanation:
    explanation = pb.PlacementExplanation(canonical_id=plain.text)
    if schedule.grid.placement == HASH:
        explanation.hash = f"{rule:016x}"
    elif schedule.grid.placement == TWISTER:
        explanation.bucket = int(rule)
    else:
        explanation.fraction = rule
    return explanation


def assign_slots(request: pb.AssignSlotsRequest, context: Context) -> ColumnsResponse:
    """Assign a batch."""
    context.without_zones(request.ids)
    batch = Batch(request, context)
    columns = batch.assign(request.ids, request.weights)
    return ColumnsResponse(batch.schedule.identity(), columns)


class Batch:
    """What all IDs of a batch, or of a stream of batches, share."""

    def __init__(
        self, request: pb.AssignSlotsRequest | pb.StreamSlotAssignmentsRequest, context: Context
    ) -> None:
        """Check the fields that concern all IDs."""
        self.schedule = context.schedule_of_kind(request)
        self._from_millis = check_from(
            self.schedule, context.moment_or_now(request, "from_time"), 1
        )
        self._prefix = self.schedule.run_key_prefix(request.kind)
        self._wanted = _wanted(request.read_mask)

    def assign(self, ids: IdBatch, weights: Sequence[int]) -> AssignmentColumns:
        """Assign IDs, column by column."""
        column, schedule = read_column(ids), self.schedule
        refuse_weights(weights, len(column))
        slots, offsets = array("i"), array("q")
        for row, plain in enumerate(column.ids()):
            try:
                if isinstance(plain, Rejection):
                    raise plain
                offset, _ = schedule.place(plain)
            except Rejection as rejection:
                column.refuse(row, rejection)
                slots.append(_REFUSED)
                offsets.append(_REFUSED)
            else:
                slots.append(offset // schedule.grid.slot_ticks)
                offsets.append(offset)
        columns = _columns(schedule, slots, offsets, self._from_millis, self._wanted)
        return AssignmentColumns(
            **columns,
            id_indexes=array("i"),
            piece_indexes=array("i"),
            resolution=duration(schedule.span_of_ticks(1)),
            run_key_prefix=self._prefix,
            errors=column.errors,
        )


def _columns(
    schedule: LocalSchedule,
    slots: array[int],
    offsets: array[int],
    from_millis: int,
    wanted: set[str],
) -> dict[str, array[int]]:
    """Return all columns; those that are not in ``wanted`` are empty."""
    slot_ticks, tick = schedule.grid.slot_ticks, schedule.tick_millis
    period, anchor = schedule.period_millis, schedule.anchor_millis
    cycle, passed = divmod(from_millis - anchor, period)
    columns = {name: array("i" if name == "slot_indexes" else "q") for name in COLUMNS}
    refused = [row for row, slot in enumerate(slots) if slot == _REFUSED]

    def fill(name: str, values: array[int]) -> None:
        if name in wanted:
            for row in refused:
                values[row] = _REFUSED
            columns[name] = values

    cycles = array("q", [cycle + (offset * tick < passed) for offset in offsets])
    starts = array("q", [anchor + at * period + o * tick for at, o in zip(cycles, offsets)])
    fill("slot_indexes", slots)
    fill("slot_offset_ticks", array("q", [offset % slot_ticks for offset in offsets]))
    fill("cycle_offset_ticks", offsets)
    fill("cycle_indexes", cycles)
    if "last_run_unix_millis" in wanted:
        fill("last_run_unix_millis", array("q", [start - period for start in starts]))
    fill("next_run_unix_millis", starts)
    return columns


def _wanted(mask: FieldMask) -> set[str]:
    """Return the columns that a mask names; without names, all except the last runs."""
    if len(mask.paths) > MASK_PATHS.maximum:
        value = f"{len(mask.paths)} paths"
        raise Rejection(OUT_OF_RANGE, "read_mask.paths", value, f"must be {MASK_PATHS}")
    for place, path in enumerate(mask.paths):
        if path not in COLUMNS:
            allowed = f"must be {', '.join(COLUMNS[:-1])} or {COLUMNS[-1]}"
            value = f'"{shorten(path)}"'
            raise Rejection(MALFORMED, f"read_mask.paths[{place}]", value, allowed)
    return set(mask.paths) or set(COLUMNS[:-1])


def refuse_weights(weights: Sequence[int], id_count: int) -> None:
    """Refuse the weights of a batch: no schedule that is decided here has a weight quantum."""
    if weights:
        check_count("weights", len(weights), id_count)
        raise _no_weights("weights[0]", weights[0])


def _no_weights(field: str, weight: int) -> Rejection:
    allowed = "must not be set with a schedule without weight_quantum"
    return Rejection(CONTRADICTORY, field, weight, allowed)
