"""The first step of a tick: it plans the runs of the look-ahead."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from ..client import Client
from ..due_runs import DueRuns
from ..runs import Run
from ..schedule import AnySchedule
from .declarations import Declaration, schedule_identity
from .records import Counts, Pass, PlannedPage, Progress, RunState, StoredRun
from .rows import RowId, parse_row_id
from .selection import Page, pages
from .store import RunStore

_log = logging.getLogger("offbeat.runner")

#: How many overdue runs are planned again at a time.
_OVERDUE = 1_000


@dataclass(frozen=True)
class Planner:
    """Plans the runs of declarations."""

    client: Client
    store: RunStore
    #: How far ahead runs are planned.
    look_ahead: timedelta

    def plan(self, declaration: Declaration[Any]) -> int:
        """Plan a declaration's runs until now + ``look_ahead``; returns how many it has planned.

        If another runner plans at the same time, each page is planned once.
        """
        identity = schedule_identity(self.client, declaration.schedule)
        # A new declaration starts with the schedule that it names.
        progress = self.store.begin(declaration.name, identity)
        if self._is_cutover(progress) and self.store.cut_over(progress):
            progress = self.store.begin(declaration.name, identity)
        if progress.paused:
            return 0
        schedule = self._schedule(declaration, progress, identity)
        if schedule is None:
            return 0
        opened = progress.open_pass or self._open(progress)
        if opened is None:
            return 0
        return self._plan_pages(declaration, schedule, progress, opened)

    def current(
        self, declaration: Declaration[Any]
    ) -> tuple[AnySchedule | None, str, datetime | None]:
        """Return the schedule that a declaration runs by, its identity, and until when.

        It changes nothing, because it may be part of a long transaction.
        """
        identity = schedule_identity(self.client, declaration.schedule)
        if declaration.previous_schedule is None:
            return declaration.schedule, identity, None
        for progress in self.store.progress():
            if progress.declaration == declaration.name:
                schedule = self._schedule(declaration, progress, identity)
                end_time = progress.cutover_time if progress.next_schedule else None
                return schedule, progress.schedule, end_time
        return declaration.schedule, identity, None

    @staticmethod
    def _is_cutover(progress: Progress) -> bool:
        """Say whether all runs before the cutover are planned."""
        if not progress.next_schedule or progress.cutover_time is None:
            return False
        return progress.open_pass is None and progress.watermark_time >= progress.cutover_time

    def _schedule(
        self, declaration: Declaration[Any], progress: Progress, identity: str
    ) -> AnySchedule | None:
        """Return the schedule that the store names; ``None`` if this program does not know it."""
        if progress.schedule == identity:
            return declaration.schedule
        previous = declaration.previous_schedule
        if previous is not None and progress.schedule == schedule_identity(self.client, previous):
            return previous
        _log.error(
            "%s is not planned: it runs by schedule %s, and is declared with %s. Declare the "
            "former as previous_schedule, and set a cutover",
            declaration.name,
            progress.schedule,
            identity,
        )
        return None

    def _open(self, progress: Progress) -> Pass | None:
        """Open a pass from the watermark to the look-ahead or cutover; ``None`` if it is empty."""
        now = self.store.now()
        end_time = now + self.look_ahead
        if progress.next_schedule and progress.cutover_time is not None:
            end_time = min(end_time, progress.cutover_time)
        if end_time <= progress.watermark_time:
            return None
        opened = Pass(now, end_time)
        return opened if self.store.open_pass(progress, opened) else None

    def _plan_pages(
        self,
        declaration: Declaration[RowId],
        schedule: AnySchedule,
        progress: Progress,
        opened: Pass,
    ) -> int:
        planned = 0
        watermark = progress.watermark_time
        for page in pages(declaration, schedule, watermark, opened, self.client):
            runs, counts = self._decide(declaration, schedule, progress, opened, page)
            planned_page = PlannedPage(runs, page.cursor, counts)
            if not self.store.plan(declaration.name, opened, planned_page):
                return planned  # another runner was faster, and continues
            planned += len(runs)
            opened = replace(opened, cursor=page.cursor or "")
        return planned

    def _decide(
        self,
        declaration: Declaration[RowId],
        schedule: AnySchedule,
        progress: Progress,
        opened: Pass,
        page: Page[RowId],
    ) -> tuple[tuple[StoredRun, ...], Counts]:
        if not page.ids:
            return (), Counts()
        # A pass that was left open is continued with its original time, so that all its pages
        # decide alike. Runs whose start has passed since then are planned again before they are
        # published.
        now, end_time = opened.now, opened.end_time
        due = self.client.list_due_runs(
            schedule,
            page.ids,
            watermark=progress.watermark_time,
            now_time=now,
            look_ahead=max(end_time - now, timedelta(0)),  # a cutover may have passed
            catch_up_policy=declaration.catch_up,
            kind=declaration.kind,
            return_errors=True,
        )
        for error in due.errors:
            _log.error(
                "%s: the row %s is left out: it %s", declaration.name, error.value, error.allowed
            )
        # Runs after the end belong to the next pass.
        runs = [
            stored(declaration, progress.schedule, run)
            for run in due
            if run.scheduled_time < end_time
        ]
        runs, close = self._without_close_ones(declaration, progress, runs)
        return tuple(runs), _counts(due, runs, close)

    def _without_close_ones(
        self, declaration: Declaration[RowId], progress: Progress, runs: list[StoredRun]
    ) -> tuple[list[StoredRun], int]:
        """Leave out runs that a change of schedule brings too soon after a row's last old run."""
        cutover_time, min_gap = progress.cutover_time, declaration.min_gap
        if cutover_time is None or progress.next_schedule or not min_gap:
            return runs, 0
        first = [run for run in runs if run.scheduled_time < cutover_time + min_gap]
        if not first:
            return runs, 0
        row_ids = [run.row_id for run in first]
        last = self.store.last_starts(declaration.name, row_ids, cutover_time)
        close = {
            run.run_id
            for run in first
            if run.row_id in last and run.start_time - last[run.row_id] < min_gap
        }
        return [run for run in runs if run.run_id not in close], len(close)

    def replan_overdue(self, declaration: Declaration[RowId]) -> int:
        """Plan runs again that were not published in time, as if they had been missed.

        This happens when runners were stopped while late runs were spread over the time to come.
        If all of them started at once, the kinds of a row could meet. Returns how many were
        overdue.
        """
        overdue = self.store.overdue(declaration.name, self._overdue_before(declaration), _OVERDUE)
        by_schedule: dict[str, list[StoredRun]] = {}
        for run in overdue:
            by_schedule.setdefault(run.schedule, []).append(run)
        for schedule in (declaration.schedule, declaration.previous_schedule):
            if schedule is not None:
                runs = by_schedule.pop(schedule_identity(self.client, schedule), [])
                self._replan(declaration, schedule, runs)
        if by_schedule:
            by_schedule.pop(self._progress(declaration).schedule, None)  # another program knows it
        for runs in by_schedule.values():  # of an unknown schedule: they start now
            for run in runs:
                self.store.replan(run, RunState.PLANNED, self.store.now())
        return len(overdue)

    def leaves_overdue(self, declaration: Declaration[Any]) -> bool:
        """Say whether there are overdue runs that only another program can plan again.

        In a rolling deploy, the other program knows the present schedule, and this one does not.
        If this one published the runs as they are, the kinds of a row could meet.
        """
        schedule = self._progress(declaration).schedule
        for known in (declaration.schedule, declaration.previous_schedule):
            if known is not None and schedule_identity(self.client, known) == schedule:
                return False
        overdue = self.store.overdue(declaration.name, self._overdue_before(declaration), _OVERDUE)
        return any(run.schedule == schedule for run in overdue)

    def _progress(self, declaration: Declaration[Any]) -> Progress:
        identity = schedule_identity(self.client, declaration.schedule)
        return self.store.begin(declaration.name, identity)

    def _overdue_before(self, declaration: Declaration[Any]) -> datetime:
        tolerance = timedelta(seconds=60)
        if declaration.catch_up is not None and declaration.catch_up.on_time_tolerance is not None:
            tolerance = declaration.catch_up.on_time_tolerance
        return self.store.now() - tolerance

    def _replan(
        self, declaration: Declaration[RowId], schedule: AnySchedule, runs: list[StoredRun]
    ) -> None:
        if not runs:
            return
        now = self.store.now()
        due = self.client.list_due_runs(
            schedule,
            [parse_row_id(declaration.rows.id_type, run.row_id) for run in runs],
            watermarks=[run.scheduled_time for run in runs],
            now_time=now,
            catch_up_policy=declaration.catch_up,
            kind=declaration.kind,
            return_errors=True,
        )
        starts = {run.run_id: run.start_time for run in due}
        rows = {str(run.id) for run in due}
        for run in runs:
            if run.run_id in starts:
                self.store.replan(run, RunState.PLANNED, max(starts[run.run_id], now))
            else:
                state = RunState.SUPERSEDED if run.row_id in rows else RunState.DROPPED
                self.store.replan(run, state, run.start_time)


def stored(declaration: Declaration[Any], schedule: str, run: Run[Any]) -> StoredRun:
    """Convert a run of an answer to the form that a store keeps."""
    return StoredRun(
        run_id=run.run_id,
        declaration=declaration.name,
        schedule=schedule,
        row_id=str(run.id),
        kind=run.kind,
        scheduled_time=run.scheduled_time,
        start_time=run.start_time,
    )


def _counts(due: DueRuns[Any], runs: list[StoredRun], close: int) -> Counts:
    return Counts(
        planned=len(runs),
        late=sum(run.start_time > run.scheduled_time for run in runs),
        dropped=due.dropped_run_count + close,
        superseded=due.superseded_run_count,
        skipped=due.skipped_run_count,
    )
