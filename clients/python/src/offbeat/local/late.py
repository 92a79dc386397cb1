"""The catch-up clock: when late runs start, so that kinds keep apart however late each is.

``proto/offbeat/v1/due_runs.proto`` defines it. Instants are in milliseconds.
"""

from __future__ import annotations

from .kinds import Kinds
from .limits import DUE_CYCLES
from .rejections import OUT_OF_RANGE, Rejection
from .schedules import LocalSchedule
from .times import is_in_time


class CatchUp:
    """The catch-up clock of a kind, for all IDs of a request."""

    def __init__(self, schedule: LocalSchedule, kinds: Kinds) -> None:
        """Compute what all IDs share."""
        kind, leads = schedule.kind or 0, kinds.turns.leads
        offset = kinds.kinds[kind].offset
        self._period, self._anchor = schedule.period_millis, schedule.anchor_millis
        self._turn = self._period // kinds.turns.count
        #: From the start of a turn to the place of hash 0.
        self._in_turn = self._turn * offset // schedule.grid.slot_count
        self._lead = leads[kind]
        #: For each other kind: how much later it runs, and how long is kept free after its runs.
        #: Such a run may be late by up to the tolerance, and so start after a run of this kind.
        self._others = [
            ((other.offset - offset) * schedule.slot_millis, max(lead, self._lead))
            for index, (other, lead) in enumerate(zip(kinds.kinds, leads))
            if index != kind
        ]
        self._work = 0

    def start(self, origin: int, smear_hash: int, now: int) -> int | None:
        """Return the first free place of an ID at or after now; ``None`` without one in two cycles.

        ``origin`` is the start of its run in cycle 0.
        """
        place = ((smear_hash * self._turn >> 64) + self._in_turn) % self._turn
        first = now + (place - (now - self._anchor)) % self._turn
        for start in range(first, now + 2 * self._period, self._turn):
            if self._is_free(start, origin):
                return start
        return None

    def _is_free(self, start: int, origin: int) -> bool:
        """Say whether a start is far enough from regular runs of other kinds."""
        self._charge(1 + len(self._others))
        for later, lead in self._others:
            ahead = (origin + later - start) % self._period
            if ahead < self._lead and is_in_time(start + ahead):
                return False
            behind = self._period - ahead
            if behind < lead and is_in_time(start - behind):
                return False
        return True

    def _charge(self, count: int) -> None:
        """Count the places that were searched; there is a limit for all IDs together."""
        self._work += count
        if not DUE_CYCLES.allows(self._work):
            allowed = (
                f"must need {DUE_CYCLES} looked through: ask for fewer IDs at once, with later "
                "watermarks"
            )
            raise Rejection(OUT_OF_RANGE, "ids", "IDs with runs in so many cycles", allowed)
