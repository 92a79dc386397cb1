"""The runner: each tick plans the runs of its look-ahead, and hands them to a queue."""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from ..client import Client
from ..errors import NoAnswer, OffbeatError, refused
from ..new_ids import FirstRunPolicy, NewId
from .declarations import Declaration, check, longest_cycle, schedule_identity
from .patience import make_client
from .planning import Planner, stored
from .records import Progress, StoredRun
from .rows import RowId
from .store import Publisher, RunStore

_log = logging.getLogger("offbeat.runner")

#: How many runs are published in one transaction, and then sent.
_BATCH = 500

#: How many intervals further than to the next tick, which may be late, a tick looks ahead.
_MARGIN = 0.5

#: How many ended runs are deleted at a time.
_PRUNED = 5_000


def look_ahead_of(interval: timedelta) -> timedelta:
    """Return how far ahead a tick plans: further than to the next tick, which may be late."""
    return interval * (1 + _MARGIN)


@dataclass(frozen=True)
class Tick:
    """What a tick did."""

    planned: int
    published: int
    #: Declarations that could not be planned, and why. The next tick tries them again.
    errors: dict[str, Exception]


class Runner:
    """Plans and publishes the runs of declarations, tick by tick; any number may run at once.

    ``interval`` is the time between two ticks, 1 s to 1 h (default: one minute). A tick publishes
    the runs that start within the next 1.5 intervals, with the time of their start, so no run
    waits in the queue for longer than that before it starts.
    """

    def __init__(
        self,
        declarations: Iterable[Declaration[Any]],
        store: RunStore,
        publisher: Publisher,
        *,
        client: Client | None = None,
        interval: timedelta = timedelta(minutes=1),
    ) -> None:
        """Store the declarations; :meth:`check` checks them."""
        if not timedelta(seconds=1) <= interval <= timedelta(hours=1):
            raise refused("interval", interval, "must be 1 s to 1 h, as a timedelta")
        self.declarations = {declaration.name: declaration for declaration in declarations}
        self.client = client or make_client(interval)
        self.store = store
        self.interval = interval
        self._publisher = publisher
        self._planner = Planner(self.client, store, self.look_ahead)

    @property
    def look_ahead(self) -> timedelta:
        """How far ahead a tick plans."""
        return look_ahead_of(self.interval)

    def check(self) -> None:
        """Raise an error for an invalid declaration: an unknown schedule or kind, a bad policy."""
        for declaration in self.declarations.values():
            check(declaration, self.client, self.look_ahead)

    def tick(self) -> Tick:
        """Plan and publish; the next tick tries failed declarations again.

        An error of the store or the queue is raised. An error of one declaration does not stop the
        others.
        """
        planned = 0
        errors: dict[str, Exception] = {}
        for name, declaration in self.declarations.items():
            try:
                planned += self._planner.plan(declaration)
                self._planner.replan_overdue(declaration)
            except OffbeatError as error:
                _log.error("%s is not planned: %s", name, error)
                errors[name] = error
        return Tick(planned, self.publish(), errors)

    def publish(self) -> int:
        """Publish the runs that start within the look-ahead, and those that no worker has done."""
        published = 0
        paused = {progress.declaration for progress in self.store.progress() if progress.paused}
        republish_after = {
            name: declaration.republish_after
            for name, declaration in self.declarations.items()
            if name not in paused and not self._leaves_overdue(declaration)
        }
        while True:
            start_before = self.store.now() + self.look_ahead
            runs = self.store.publish(start_before, republish_after, _BATCH)
            if runs:
                self._send(runs)
            published += len(runs)
            if len(runs) < _BATCH:
                return published

    def _leaves_overdue(self, declaration: Declaration[Any]) -> bool:
        try:
            return self._planner.leaves_overdue(declaration)
        except OffbeatError:  # planning the declaration fails too, which is logged
            return False

    def _send(self, runs: list[StoredRun]) -> None:
        try:
            self._publisher.publish(runs)
        except Exception:
            self.store.unpublish(runs)
            raise

    def plan(self, declaration: Declaration[Any]) -> int:
        """Plan a declaration's runs of the look-ahead; returns how many it has planned."""
        return self._planner.plan(declaration)

    def run_once(self) -> None:
        """Tick; an error of the store or the queue is logged, and the next tick tries again."""
        try:
            self.tick()
        except Exception:  # such as an unreachable database or broker
            _log.exception("a tick failed")

    def run(self, stop: threading.Event) -> None:
        """Tick until an event is set."""
        while not stop.is_set():
            started = time.monotonic()
            self.run_once()
            stop.wait(max(0.0, self.interval.total_seconds() - (time.monotonic() - started)))

    def add_row(self, declaration: Declaration[RowId], row_id: RowId) -> bool:
        """Plan the first run of a new row, if it is too soon for the ticks to plan it.

        Call it in the transaction that creates the row. Without it, a new row runs from the next
        cycle on, or at its time in this cycle if that is after the next tick. Returns whether a
        run was planned.
        """
        now = self.store.now()
        schedule, identity, end_time = self._planner.current(declaration)
        if schedule is None:
            return False
        smeared = declaration.first_run is FirstRunPolicy.NOW_SMEARED
        new_id = None  # a `new_id` needs a sidecar
        if smeared:
            new_id = NewId(now, declaration.first_run, smear_span=declaration.first_run_span)
        assignment = self.client.assign_slot(
            schedule, row_id, from_time=now, kind=declaration.kind, new_id=new_id
        )
        first = assignment.first_run or assignment.next_run
        if not smeared and first.start_time >= now + 2 * self.look_ahead:
            return False
        if end_time is not None and first.scheduled_time >= end_time:
            return False  # from then on, the row runs by another schedule
        return self.store.add([stored(declaration, identity, first)]) == 1

    def run_now(self, declaration: Declaration[RowId], row_id: RowId) -> StoredRun:
        """Plan an extra run of a row that starts now; the next tick publishes it."""
        now = self.store.now()
        text = f"{declaration.name}/{row_id}/{now.isoformat()}"
        run = StoredRun(
            run_id=hashlib.sha256(text.encode()).hexdigest()[:32],
            declaration=declaration.name,
            schedule="",
            row_id=str(row_id),
            kind=declaration.kind_name,
            scheduled_time=now,
            start_time=now,
        )
        self.store.add([run])
        return run

    def pause(self, name: str, paused: bool) -> None:
        """Pause or resume a declaration; one that no tick has planned yet starts now."""
        declaration = self.declarations[name]
        self.store.begin(name, schedule_identity(self.client, declaration.schedule))
        self.store.pause(name, paused)

    def cut_over(self, name: str, cutover_time: datetime) -> Progress:
        """Change a declaration from its ``previous_schedule`` to its ``schedule`` at a time.

        Refuses a time after which runs are planned already, or may be by now: they would be of
        both schedules.
        """
        declaration = self.declarations[name]
        identity = schedule_identity(self.client, declaration.schedule)
        progress = self.store.begin(name, identity)
        planned = progress.watermark_time
        if progress.open_pass is not None:
            planned = max(planned, progress.open_pass.end_time)
        # Another tick may plan before this is stored.
        earliest = max(planned, self.store.now() + self.look_ahead)
        if progress.schedule == identity:
            raise refused("schedule", identity, "must be another: the declaration runs by it")
        if cutover_time < earliest:
            allowed = f"must be {earliest.isoformat()} or later: runs before it are planned"
            raise refused("cutover_time", cutover_time.isoformat(), allowed)
        if not self.store.schedule_cutover(progress, identity, cutover_time):
            return self.cut_over(name, cutover_time)  # a tick has changed the progress
        return self.store.begin(name, identity)

    def prune(self) -> int:
        """Delete runs that ended longer ago than declarations keep them; returns how many."""
        pruned = 0
        for declaration in self.declarations.values():
            try:
                keep = declaration.keep or 2 * longest_cycle(self.client, declaration.schedule)
            except NoAnswer:  # a later call prunes, when a sidecar says how long the cycle is
                continue
            while True:
                before = self.store.now() - keep
                count = self.store.prune(declaration.name, before, _PRUNED)
                pruned += count
                if count < _PRUNED:
                    break
        return pruned
