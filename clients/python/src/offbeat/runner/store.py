"""The store of a runner, as a protocol."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Callable, Protocol, Union

from .records import Claim, Pass, PlannedPage, Progress, RunState, StoredRun


class RunStore(Protocol):
    """Keeps runs and progress, and provides the clock of all runners and workers.

    Each method is one transaction, which is durable when the method returns. Several runners may
    use a store at the same time.
    """

    def now(self) -> datetime:
        """Return the time of the store's clock, in UTC."""
        ...

    # How far declarations are planned.

    def begin(self, declaration: str, schedule: str) -> Progress:
        """Return the progress of a declaration; a new one starts now, with this schedule."""
        ...

    def progress(self) -> list[Progress]:
        """Return the progress of all declarations, by name."""
        ...

    def open_pass(self, before: Progress, opened: Pass) -> bool:
        """Open a pass; return ``False`` if the progress has changed."""
        ...

    def plan(self, declaration: str, before: Pass, page: PlannedPage) -> bool:
        """Insert the runs of a page, except existing ones, and move the cursor.

        Returns ``False``, and changes nothing, if the open pass is not ``before``: another runner
        has planned the page.
        """
        ...

    def pause(self, declaration: str, paused: bool) -> None:
        """Pause or resume a declaration."""
        ...

    def schedule_cutover(self, before: Progress, schedule: str, cutover_time: datetime) -> bool:
        """Set the next schedule; return ``False`` if the progress has changed."""
        ...

    def cut_over(self, before: Progress) -> bool:
        """Change to the next schedule; return ``False`` if the progress has changed."""
        ...

    # Runs.

    def add(self, runs: Iterable[StoredRun]) -> int:
        """Insert planned runs, except existing ones; returns how many are new.

        Part of the caller's transaction, if the store supports that.
        """
        ...

    def publish(
        self, start_before: datetime, republish_after: Mapping[str, timedelta], limit: int
    ) -> list[StoredRun]:
        """Publish the due runs of the given declarations, and return them as they are then.

        These runs are due: planned runs that start before ``start_before``; published runs that no
        worker has claimed for the ``republish_after`` of their declaration, which doubles with each
        publication; and claimed runs whose claim has ended. Two runners never get the same
        publication.
        """
        ...

    def unpublish(self, runs: Sequence[StoredRun]) -> None:
        """Undo a publication that the queue did not take: the runs become ``PLANNED`` again.

        If one of its messages was sent nevertheless, that message is valid: the next publication
        will have the same number.
        """
        ...

    def overdue(self, declaration: str, start_before: datetime, limit: int) -> list[StoredRun]:
        """Return planned runs that start before ``start_before`` and were never published."""
        ...

    def replan(self, run: StoredRun, state: RunState, start_time: datetime) -> bool:
        """Give an unpublished run another start, or end it; ``False`` if it has changed."""
        ...

    def claim(self, run_id: str, publication: int, limit: timedelta) -> Claim:
        """Claim a run for the message of a publication, for ``limit``.

        The message of an older publication takes a run that no worker has claimed: see
        :func:`~offbeat.runner.decisions.decide_claim`. From then on, the run has the number of that
        publication.
        """
        ...

    def release(self, run_id: str, publication: int, republish_time: datetime) -> bool:
        """End the claim of a publication whose message will be delivered again.

        If no worker has claimed the run by ``republish_time``, it is published again. Returns
        ``False`` if the claim has been lost.
        """
        ...

    def finish(self, run_id: str, publication: int, state: RunState) -> bool:
        """End a claimed run; returns ``False`` if the claim has been lost."""
        ...

    def last_starts(
        self, declaration: str, row_ids: Sequence[str], before: datetime
    ) -> Mapping[str, datetime]:
        """Return the start of each row's last run that is scheduled before ``before``, if any."""
        ...

    def runs(
        self, declaration: str, start_time: datetime, end_time: datetime, limit: int
    ) -> list[StoredRun]:
        """Return runs that start in a window, in order."""
        ...

    def prune(self, declaration: str, ended_before: datetime, limit: int) -> int:
        """Delete up to ``limit`` runs that ended before ``ended_before``; returns how many."""
        ...


class Publisher(Protocol):
    """Hands runs to a queue."""

    def publish(self, runs: Sequence[StoredRun]) -> None:
        """Enqueue a message for each run; raise an error if the queue does not take them."""
        ...


#: A store, or a function that creates one, which is called once in each process.
StoreSource = Union[RunStore, Callable[[], RunStore]]


def store_of(source: StoreSource) -> RunStore:
    """Return the store, or create it."""
    return source() if callable(source) else source
