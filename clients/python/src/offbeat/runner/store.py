"""The store of a runner, as a protocol."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Callable, Protocol, Union

from .records import Claim, Pass, PlannedPage, Progress, RunState, StoredRun


class RunStore(Protocol):
    """Keeps runs and progress, and is the clock of all runners and workers.

    Each method is one transaction, which is durable when it returns. Several runners may use a
    store at the same time.
    """

    def now(self) -> datetime:
        """Return the time of the store's clock, in UTC."""
        ...

    # How far declarations are planned.

    def begin(self, declaration: str, schedule: str) -> Progress:
        """Return the progress of a declaration; a new one begins now, with this schedule."""
        ...

    def progress(self) -> list[Progress]:
        """Return the progress of all declarations, by name."""
        ...

    def open_pass(self, before: Progress, opened: Pass) -> bool:
        """Open a pass, unless the progress has changed: then return ``False``."""
        ...

    def plan(self, declaration: str, before: Pass, page: PlannedPage) -> bool:
        """Insert the runs of a page, but those that are there, and move the cursor.

        Returns ``False``, and changes nothing, if the open pass is not ``before``: another runner
        has planned the page.
        """
        ...

    def pause(self, declaration: str, paused: bool) -> None:
        """Pause a declaration, or resume it."""
        ...

    def schedule_cutover(self, before: Progress, schedule: str, cutover_time: datetime) -> bool:
        """Set the next schedule, unless the progress has changed: then return ``False``."""
        ...

    def cut_over(self, before: Progress) -> bool:
        """Take the next schedule, unless the progress has changed: then return ``False``."""
        ...

    # Runs.

    def add(self, runs: Iterable[StoredRun]) -> int:
        """Insert planned runs, but those that are there; returns how many are new.

        Takes part in the transaction of the caller, where the store has one.
        """
        ...

    def publish(
        self, start_before: datetime, republish_after: Mapping[str, timedelta], limit: int
    ) -> list[StoredRun]:
        """Publish what is due of the declarations that are named, and return it as it is then.

        Due are planned runs that start before an instant; published ones that nobody has claimed
        for ``republish_after`` of their declaration, doubled with each publication; and claimed
        ones whose claim has ended. Two runners never get the same publication.
        """
        ...

    def unpublish(self, runs: Sequence[StoredRun]) -> None:
        """Take back a publication that the queue did not take: the runs are planned again.

        A message of it that was sent nevertheless counts, as the next one will have its number.
        """
        ...

    def overdue(self, declaration: str, start_before: datetime, limit: int) -> list[StoredRun]:
        """Return planned runs that start before an instant, and were never published."""
        ...

    def replan(self, run: StoredRun, state: RunState, start_time: datetime) -> bool:
        """Give a run that was never published another start, or end it."""
        ...

    def claim(self, run_id: str, publication: int, limit: timedelta) -> Claim:
        """Claim a run for the message of a publication, for ``limit``.

        A message of an older publication takes a run that no worker has claimed: see
        :func:`~offbeat.runner.decisions.decide_claim`. From then on its publication counts.
        """
        ...

    def release(self, run_id: str, publication: int, republish_time: datetime) -> bool:
        """End the claim of a publication whose message comes again.

        If nobody has claimed the run until ``republish_time``, it is published again. Returns
        ``False`` if the claim has been lost.
        """
        ...

    def finish(self, run_id: str, publication: int, state: RunState) -> bool:
        """End a claimed run; returns ``False`` if the claim has been lost."""
        ...

    def last_starts(
        self, declaration: str, row_ids: Sequence[str], before: datetime
    ) -> Mapping[str, datetime]:
        """Return when each row's last run starts that is scheduled before an instant, if any."""
        ...

    def runs(
        self, declaration: str, start_time: datetime, end_time: datetime, limit: int
    ) -> list[StoredRun]:
        """Return runs that start in a window, in order."""
        ...

    def prune(self, declaration: str, ended_before: datetime, limit: int) -> int:
        """Delete runs that ended before an instant; returns how many."""
        ...


class Publisher(Protocol):
    """Hands runs to a queue."""

    def publish(self, runs: Sequence[StoredRun]) -> None:
        """Hand over a message for each run; raise if the queue does not take them."""
        ...


#: A store, or what makes one: it is called once in each process.
StoreSource = Union[RunStore, Callable[[], RunStore]]


def store_of(source: StoreSource) -> RunStore:
    """Return the store, or make it."""
    return source() if callable(source) else source
