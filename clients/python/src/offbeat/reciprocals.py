"""Kinds of job that must not meet on the same ID."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from ._fields import OUT_OF_RANGE, set_enum, set_integer, set_span
from ._questions import Question
from .errors import refused
from .kinds import KindSpacing
from .schedule import AnySchedule, schedule_message
from .times import from_duration, to_duration
from .v1 import reciprocal_pb2 as pb


@dataclass(frozen=True)
class KindSlot:
    """Where one kind of job has its slot, seen from the requested slot."""

    kind_index: int
    #: Slots from kind 0 to this kind, for the same ID.
    offset_slot_count: int
    #: The same as time, from the run of kind 0 to the run of this kind.
    offset: timedelta
    #: The ID's view: the slot in which this kind runs for IDs whose kind 0 runs in the requested
    #: slot.
    id_slot_index: int
    #: The clock's view: while the requested slot runs, this kind handles the IDs whose kind 0 runs
    #: in this slot.
    clock_slot_index: int
    #: Slots from this kind to the next one that it must not meet; without such a kind, the slot
    #: count.
    gap_slot_count: int
    #: The time of the gap, less the delays: queue wait plus run time must stay within it.
    run_budget: timedelta


@dataclass(frozen=True)
class Reciprocals:
    """The slots of kinds of job that must not meet on the same ID."""

    kinds: tuple[KindSlot, ...]
    #: The smallest gap between two kinds, in slots.
    gap_slot_count: int
    #: The shortest time between the starts of two kinds.
    gap: timedelta
    #: Queue wait plus run time must stay within it, for kinds of the same placement and salt.
    run_budget: timedelta
    #: The run budget for kinds of different placement or salt.
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
                    id_slot_index=kind.id_slot_index,
                    clock_slot_index=kind.clock_slot_index,
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


def reciprocal_slots(
    schedule: AnySchedule,
    slot_index: int,
    kind_count: int | None,
    run_times: Sequence[timedelta],
    kind_spacing: KindSpacing | None,
    kind_conflicts: Iterable[tuple[int, int]],
    polling_delay: timedelta | None,
    slot_job_delay: timedelta | None,
) -> Question[Reciprocals]:
    """Ask for the slots of kinds of job that must not meet."""
    request = pb.GetReciprocalSlotsRequest(
        schedule=schedule_message(schedule),
        run_times=[
            to_duration(f"run_times[{index}]", run_time) for index, run_time in enumerate(run_times)
        ],
        kind_conflicts=[
            _conflict(f"kind_conflicts[{index}]", pair) for index, pair in enumerate(kind_conflicts)
        ],
    )
    set_integer(request, "", "slot_index", slot_index)
    if kind_count is not None:
        set_integer(request, "", "kind_count", kind_count)
    if kind_spacing is not None:
        set_enum(request, "", "kind_spacing", kind_spacing, KindSpacing)
    set_span(request, "", "polling_delay", polling_delay)
    set_span(request, "", "slot_job_delay", slot_job_delay)
    return Reciprocals.from_message((yield "GetReciprocalSlots", request))


def _conflict(path: str, pair: tuple[int, int]) -> pb.KindIndexConflict:
    try:
        first, second = pair
    except (TypeError, ValueError) as error:
        raise refused(path, pair, "must be two kinds, such as (0, 1)", OUT_OF_RANGE) from error
    message = pb.KindIndexConflict()
    set_integer(message, path, "first_kind_index", first)
    set_integer(message, path, "second_kind_index", second)
    return message
