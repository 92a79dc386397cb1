"""A store in the memory of one process, for tests and first steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Callable

from .._forks import ForkLock
from .decisions import NEVER_RUN, decide_claim, publications
from .records import (
    Claim,
    ClaimOutcome,
    Pass,
    PlannedPage,
    Progress,
    RunState,
    StoredRun,
)


def _machine_time() -> datetime:
    return datetime.now(timezone.utc)


class MemoryStore:
    """Keeps runs as long as the process lives.

    ``clock`` returns the present time; by default, that of the machine's clock.
    """

    def __init__(self, clock: Callable[[], datetime] | None = None) -> None:
        """Start empty."""
        self._clock: Callable[[], datetime] = clock or _machine_time
        self._lock = ForkLock()
        self._progress: dict[str, Progress] = {}
        self._runs: dict[str, StoredRun] = {}

    def now(self) -> datetime:
        """Return the time of the clock."""
        return self._clock()

    def begin(self, declaration: str, schedule: str) -> Progress:
        """See :class:`RunStore`."""
        with self._lock:
            new = Progress(declaration, schedule, self.now())
            return self._progress.setdefault(declaration, new)

    def progress(self) -> list[Progress]:
        """See :class:`RunStore`."""
        with self._lock:
            return sorted(self._progress.values(), key=lambda progress: progress.declaration)

    @contextmanager
    def _unchanged(self, before: Progress) -> Iterator[bool]:
        with self._lock:
            yield self._progress.get(before.declaration) == before

    def open_pass(self, before: Progress, opened: Pass) -> bool:
        """See :class:`RunStore`."""
        with self._unchanged(before) as unchanged:
            if unchanged:
                self._progress[before.declaration] = before.with_pass(opened)
            return unchanged

    def plan(self, declaration: str, before: Pass, page: PlannedPage) -> bool:
        """See :class:`RunStore`."""
        with self._lock:
            progress = self._progress[declaration]
            if progress.open_pass != before:
                return False
            self._insert(page.runs)
            progress = replace(progress, counts=progress.counts + page.counts)
            if page.cursor is None:
                progress = replace(progress, open_pass=None, watermark_time=before.end_time)
            else:
                progress = progress.with_pass(replace(before, cursor=page.cursor))
            self._progress[declaration] = progress
            return True

    def pause(self, declaration: str, paused: bool) -> None:
        """See :class:`RunStore`."""
        with self._lock:
            progress = self._progress[declaration]
            self._progress[declaration] = replace(progress, paused=paused)

    def schedule_cutover(self, before: Progress, schedule: str, cutover_time: datetime) -> bool:
        """See :class:`RunStore`."""
        with self._unchanged(before) as unchanged:
            if unchanged:
                self._progress[before.declaration] = replace(
                    before, next_schedule=schedule, cutover_time=cutover_time
                )
            return unchanged

    def cut_over(self, before: Progress) -> bool:
        """See :class:`RunStore`."""
        with self._unchanged(before) as unchanged:
            if unchanged:
                self._progress[before.declaration] = replace(
                    before, schedule=before.next_schedule, next_schedule=""
                )
            return unchanged

    def add(self, runs: Iterable[StoredRun]) -> int:
        """See :class:`RunStore`."""
        with self._lock:
            return self._insert(runs)

    def _insert(self, runs: Iterable[StoredRun]) -> int:
        new = [run for run in runs if run.run_id not in self._runs]
        self._runs.update((run.run_id, run) for run in new)
        return len(new)

    def publish(
        self, start_before: datetime, republish_after: Mapping[str, timedelta], limit: int
    ) -> list[StoredRun]:
        """See :class:`RunStore`."""
        with self._lock:
            now = self.now()
            due = [
                run
                for run in self._runs.values()
                if run.declaration in republish_after and _is_due(run, start_before, now)
            ]
            due.sort(key=lambda run: (run.action_time, run.run_id))
            published = publications(due[:limit], now, republish_after)
            self._runs.update((run.run_id, run) for run in published)
            return published

    def unpublish(self, runs: Sequence[StoredRun]) -> None:
        """See :class:`RunStore`."""
        with self._lock:
            for run in runs:
                kept = self._runs[run.run_id]
                if (kept.state, kept.publication) == (RunState.PUBLISHED, run.publication):
                    self._runs[run.run_id] = replace(
                        kept,
                        state=RunState.PLANNED,
                        publication=run.publication - 1,
                        next_action_time=None,
                    )

    def overdue(self, declaration: str, start_before: datetime, limit: int) -> list[StoredRun]:
        """See :class:`RunStore`."""
        with self._lock:
            overdue = [
                run
                for run in self._runs.values()
                if run.declaration == declaration
                and (run.state, run.publication) == (RunState.PLANNED, 0)
                and run.start_time < start_before
            ]
            return sorted(overdue, key=lambda run: (run.start_time, run.run_id))[:limit]

    def replan(self, run: StoredRun, state: RunState, start_time: datetime) -> bool:
        """See :class:`RunStore`."""
        with self._lock:
            kept = self._runs.get(run.run_id)
            if kept is None or (kept.state, kept.publication, kept.start_time) != (
                run.state,
                run.publication,
                run.start_time,
            ):
                return False
            ended = self.now() if state.ended else None
            self._runs[run.run_id] = replace(
                kept, state=state, start_time=start_time, next_action_time=ended
            )
            return True

    def claim(self, run_id: str, publication: int, limit: timedelta) -> Claim:
        """See :class:`RunStore`."""
        with self._lock:
            now = self.now()
            claim = decide_claim(self._runs.get(run_id), publication, now)
            if claim.outcome is not ClaimOutcome.GRANTED or claim.run is None:
                return claim
            run = replace(
                claim.run,
                state=RunState.CLAIMED,
                publication=publication,
                next_action_time=now + limit,
            )
            self._runs[run_id] = run
            return replace(claim, run=run)

    def release(self, run_id: str, publication: int, republish_time: datetime) -> bool:
        """See :class:`RunStore`."""
        return self._end_claim(run_id, publication, RunState.PUBLISHED, republish_time)

    def finish(self, run_id: str, publication: int, state: RunState) -> bool:
        """See :class:`RunStore`."""
        return self._end_claim(run_id, publication, state, None)

    def _end_claim(
        self, run_id: str, publication: int, state: RunState, action_time: datetime | None
    ) -> bool:
        with self._lock:
            run = self._runs.get(run_id)
            if run is None or (run.state, run.publication) != (RunState.CLAIMED, publication):
                return False
            action_time = action_time or self.now()
            self._runs[run_id] = replace(run, state=state, next_action_time=action_time)
            return True

    def last_starts(
        self, declaration: str, row_ids: Sequence[str], before: datetime
    ) -> Mapping[str, datetime]:
        """See :class:`RunStore`."""
        wanted = set(row_ids)
        starts: dict[str, datetime] = {}
        with self._lock:
            for run in self._runs.values():
                if (
                    run.declaration == declaration
                    and run.row_id in wanted
                    and run.scheduled_time < before
                    and run.state not in NEVER_RUN
                ):
                    earlier = starts.get(run.row_id, run.start_time)
                    starts[run.row_id] = max(earlier, run.start_time)
        return starts

    def runs(
        self, declaration: str, start_time: datetime, end_time: datetime, limit: int
    ) -> list[StoredRun]:
        """See :class:`RunStore`."""
        with self._lock:
            runs = [
                run
                for run in self._runs.values()
                if run.declaration == declaration and start_time <= run.start_time < end_time
            ]
        return sorted(runs, key=lambda run: (run.start_time, run.run_id))[:limit]

    def prune(self, declaration: str, ended_before: datetime, limit: int) -> int:
        """See :class:`RunStore`."""
        with self._lock:
            ended = [
                run.run_id
                for run in self._runs.values()
                if run.declaration == declaration
                and run.state.ended
                and run.action_time < ended_before
            ][:limit]
            for run_id in ended:
                del self._runs[run_id]
            return len(ended)


def _is_due(run: StoredRun, start_before: datetime, now: datetime) -> bool:
    if run.state is RunState.PLANNED:
        return run.start_time < start_before
    return not run.state.ended and run.action_time <= now
