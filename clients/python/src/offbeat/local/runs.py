"""The runs of a place: one in each period. Instants are in milliseconds."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from ..v1 import slots_pb2 as pb
from .rejections import OUT_OF_RANGE, Rejection
from .schedules import LocalSchedule
from .times import (
    MAX_MILLIS,
    MILLISECOND,
    MIN_MILLIS,
    ceil_millis,
    is_in_time,
    moment_text,
    span_text,
    timestamp_of_millis,
)


class PlaceRuns(NamedTuple):
    """The runs of a place, at the same offset in every cycle."""

    #: Start of the run in cycle 0.
    origin: int
    period: int

    @classmethod
    def of(cls, schedule: LocalSchedule, offset_ticks: int) -> PlaceRuns:
        """Return the runs of a place."""
        offset = offset_ticks * schedule.tick_millis
        return cls(schedule.anchor_millis + offset, schedule.period_millis)

    def first_cycle(self, millis: int) -> int:
        """Return the cycle of the first run at or after an instant."""
        return -((self.origin - millis) // self.period)

    def start(self, cycle_index: int) -> int:
        return self.origin + cycle_index * self.period

    def next_start(self, cycle_index: int) -> int | None:
        """Return the start of a cycle's run, if it lies in the years 1 to 9999."""
        start = self.start(cycle_index)
        return start if is_in_time(start) else None


def check_from(schedule: LocalSchedule, from_time: int, run_count: int) -> int:
    """Return an instant in milliseconds; refuse it if it leaves no room for the runs around it."""
    period, cycles = schedule.period_millis, max(run_count, 1)
    millis = ceil_millis(from_time)
    earliest, latest = MIN_MILLIS + period, MAX_MILLIS - cycles * period
    if earliest <= millis <= latest:
        return millis
    if earliest <= latest and is_in_time(earliest) and is_in_time(latest):
        first, last = moment_text(earliest * MILLISECOND), moment_text(latest * MILLISECOND)
        allowed = f"must be {first} to {last}, so that every run is in the years 1 to 9999"
    else:
        span = span_text(period * MILLISECOND)
        allowed = f"{cycles} cycles of {span} do not fit into the years 1 to 9999"
    raise Rejection(OUT_OF_RANGE, "from_time", moment_text(from_time), allowed)


def run_message(start: int, cycle_index: int, run_key: str) -> pb.Run:
    """Return the message of a run; the key of a fraction is empty."""
    return pb.Run(
        start_time=timestamp_of_millis(start),
        cycle_index=cycle_index,
        run_key=run_key,
        run_id=hashlib.sha256(run_key.encode()).hexdigest()[:32] if run_key else "",
    )
