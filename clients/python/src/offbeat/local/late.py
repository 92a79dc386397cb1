"""The catch-up clock: where late runs start, so that kinds keep apart however late each is.

``proto/offbeat/v1/due_runs.proto`` defines it. Instants are milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterator

from .kinds import Kinds
from .limits import DUE_CYCLES
from .rejections import OUT_OF_RANGE, Rejection
from .runs import PlaceRuns
from .schedules import LocalSchedule
from .times import is_in_time, within_time


class Work:
    """What was looked through for an answer."""

    def __init__(self) -> None:
        self._done = 0

    def charge(self, count: int) -> None:
        self._done += count
        if not DUE_CYCLES.allows(self._done):
            allowed = (
                f"must need {DUE_CYCLES} looked through: ask for fewer IDs at once, with later "
                "watermarks"
            )
            raise Rejection(OUT_OF_RANGE, "ids", "IDs with runs in so many cycles", allowed)


class Late:
    """The late runs of one ID, of one kind."""

    def __init__(
        self,
        schedule: LocalSchedule,
        kinds: Kinds,
        runs: PlaceRuns,
        smear_hash: int,
        work: Work,
    ) -> None:
        self._schedule, self._turns, self._work = schedule, kinds.turns, work
        self._hash = smear_hash
        own = kinds.kinds[schedule.kind or 0]
        self._offset, self._lead = own.offset, kinds.turns.leads[schedule.kind or 0]
        # The regular runs of the other kinds, and what is kept free behind each.
        self._others = [
            (_shifted(schedule, runs, kind.offset - own.offset), lead)
            for index, (kind, lead) in enumerate(zip(kinds.kinds, kinds.turns.leads))
            if index != schedule.kind
        ]

    def start(self, now: int) -> int | None:
        """Return the first free place at or after now; none in two cycles is none at all."""
        until = now + 2 * self._schedule.period_millis
        for start in self._places(now):
            if start >= until:
                return None
            if self._is_free(start):
                return start
        return None

    def _places(self, now: int) -> Iterator[int]:
        """Yield the places of the kind in each turn, from now on."""
        turn = self._schedule.period_millis // self._turns.count
        in_slots = turn * self._offset // self._schedule.grid.slot_count
        place = ((self._hash * turn >> 64) + in_slots) % turn
        start = now + (place - (now - self._schedule.anchor_millis)) % turn
        while True:
            yield start
            start += turn

    def _is_free(self, start: int) -> bool:
        """Say whether a start is far enough from regular runs of other kinds."""
        self._work.charge(1 + len(self._others))
        millis = within_time(start)
        for runs, lead in self._others:
            cycle_index = runs.first_cycle(millis)
            following, before = runs.start(cycle_index), runs.start(cycle_index - 1)
            if is_in_time(following) and following - start < self._lead:
                return False
            # The one before may start late by the tolerance, and so behind this one.
            if is_in_time(before) and start - before < max(lead, self._lead):
                return False
        return True


def _shifted(schedule: LocalSchedule, runs: PlaceRuns, slots: int) -> PlaceRuns:
    """Return the runs of another kind of the ID, which stands so many slots later."""
    offset = (runs.origin - schedule.anchor_millis + slots * schedule.slot_millis) % runs.period
    return PlaceRuns(schedule.anchor_millis + offset, runs.period)
