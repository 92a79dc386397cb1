"""The store of runs in a Django database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from typing import Any

from django.db import connections, transaction
from django.db.models import F, Max, Q, QuerySet

from ..runner import (
    Claim,
    ClaimOutcome,
    Pass,
    PlannedPage,
    Progress,
    RunState,
    StoredRun,
)
from ..runner.decisions import NEVER_RUN, decide_claim, publications
from ..runner.records import COUNT_NAMES
from .conf import setting
from .models import OffbeatProgress, OffbeatRun

#: Queries for the current time. PostgreSQL's now() does not advance in a transaction.
_CLOCKS = {"postgresql": "SELECT clock_timestamp()", "mysql": "SELECT UTC_TIMESTAMP(6)"}

#: How many rows one statement handles.
_BATCH = 500

_MAX_ROW_ID = 255

#: The delay after which to repeat a claim that another worker has just won.
_MOMENT = timedelta(seconds=1)


class DjangoStore:
    """Keeps runs in the models of the app; see :class:`~offbeat.runner.RunStore`.

    ``using`` is the alias of the database: by default that of the setting ``OFFBEAT``. Each method
    that a runner or worker calls is a transaction of its own; :meth:`add` is part of the caller's.
    """

    def __init__(self, using: str | None = None) -> None:
        """Store the alias; nothing connects yet."""
        self.using: str = setting("USING") if using is None else using

    @property
    def _runs(self) -> QuerySet[OffbeatRun]:
        return OffbeatRun.objects.using(self.using)

    @property
    def _progress(self) -> QuerySet[OffbeatProgress]:
        return OffbeatProgress.objects.using(self.using)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Open a transaction that writes."""
        with transaction.atomic(using=self.using):
            if connections[self.using].vendor == "sqlite":
                # Write first: after a read, a write fails if another process has written meanwhile.
                self._progress.filter(declaration="").update(paused=F("paused"))
            yield

    def close_old_connection(self) -> None:
        """Close the connection of this thread if it is broken, or older than ``CONN_MAX_AGE``.

        Use it in processes in which neither requests nor tasks do so.
        """
        connections[self.using].close_if_unusable_or_obsolete()

    def now(self) -> datetime:
        """Return the time of the database's clock; with SQLite, of the machine's clock."""
        connection = connections[self.using]
        if connection.vendor not in _CLOCKS:
            return datetime.now(timezone.utc)
        with connection.cursor() as cursor:
            cursor.execute(_CLOCKS[connection.vendor])
            now: datetime = cursor.fetchone()[0]
        return now if now.tzinfo is not None else now.replace(tzinfo=timezone.utc)

    def begin(self, declaration: str, schedule: str) -> Progress:
        """See :class:`~offbeat.runner.RunStore`."""
        found = self._progress.filter(declaration=declaration).first()
        if found is None:
            defaults = {"schedule": schedule, "watermark_time": self.now()}
            found, _ = self._progress.get_or_create(declaration=declaration, defaults=defaults)
        return found.record()

    def progress(self) -> list[Progress]:
        """See :class:`~offbeat.runner.RunStore`."""
        return [row.record() for row in self._progress.order_by("declaration")]

    def _unchanged(self, before: Progress) -> QuerySet[OffbeatProgress]:
        return self._in_pass(before.declaration, before.open_pass).filter(
            schedule=before.schedule,
            watermark_time=before.watermark_time,
            paused=before.paused,
            next_schedule=before.next_schedule,
            **_equal("cutover_time", before.cutover_time),
        )

    def _in_pass(self, declaration: str, open_pass: Pass | None) -> QuerySet[OffbeatProgress]:
        rows = self._progress.filter(declaration=declaration)
        if open_pass is None:
            return rows.filter(pass_now=None)
        return rows.filter(
            pass_now=open_pass.now,
            pass_end_time=open_pass.end_time,
            pass_cursor=open_pass.cursor,
        )

    def open_pass(self, before: Progress, opened: Pass) -> bool:
        """See :class:`~offbeat.runner.RunStore`."""
        return bool(
            self._unchanged(before).update(
                pass_now=opened.now, pass_end_time=opened.end_time, pass_cursor=opened.cursor
            )
        )

    def plan(self, declaration: str, before: Pass, page: PlannedPage) -> bool:
        """See :class:`~offbeat.runner.RunStore`."""
        changes: dict[str, Any] = {
            f"{name}_count": F(f"{name}_count") + getattr(page.counts, name) for name in COUNT_NAMES
        }
        if page.cursor is None:
            changes.update(
                pass_now=None, pass_end_time=None, pass_cursor="", watermark_time=before.end_time
            )
        else:
            changes["pass_cursor"] = page.cursor
        with self._writing():
            # The update locks the row: another runner waits, and then finds another cursor.
            if not self._in_pass(declaration, before).update(**changes):
                return False
            self._insert(page.runs)
        return True

    def pause(self, declaration: str, paused: bool) -> None:
        """See :class:`~offbeat.runner.RunStore`."""
        self._progress.filter(declaration=declaration).update(paused=paused)

    def schedule_cutover(self, before: Progress, schedule: str, cutover_time: datetime) -> bool:
        """See :class:`~offbeat.runner.RunStore`."""
        changed = self._unchanged(before).update(next_schedule=schedule, cutover_time=cutover_time)
        return bool(changed)

    def cut_over(self, before: Progress) -> bool:
        """See :class:`~offbeat.runner.RunStore`."""
        rows = self._unchanged(before)
        return bool(rows.update(schedule=before.next_schedule, next_schedule=""))

    def add(self, runs: Iterable[StoredRun]) -> int:
        """See :class:`~offbeat.runner.RunStore`."""
        runs = list(runs)
        known = set(
            self._runs.filter(run_id__in=[run.run_id for run in runs]).values_list(
                "run_id", flat=True
            )
        )
        new = [run for run in runs if run.run_id not in known]
        self._insert(new)
        return len(new)

    def _insert(self, runs: Iterable[StoredRun]) -> None:
        rows = [OffbeatRun.of(run) for run in runs]
        for row in rows:
            if len(row.row_id) > _MAX_ROW_ID:
                raise ValueError(f"row_id {row.row_id[:20]!r}… has over {_MAX_ROW_ID} characters")
        self._runs.bulk_create(rows, batch_size=_BATCH, ignore_conflicts=True)

    def publish(
        self, start_before: datetime, republish_after: Mapping[str, timedelta], limit: int
    ) -> list[StoredRun]:
        """See :class:`~offbeat.runner.RunStore`."""
        now = self.now()
        due = Q(state=RunState.PLANNED.value, next_action_time__lt=start_before) | Q(
            state__in=[RunState.PUBLISHED.value, RunState.CLAIMED.value], next_action_time__lte=now
        )
        with self._writing():
            rows = self._runs.filter(due, declaration__in=list(republish_after))
            if connections[self.using].features.has_select_for_update_skip_locked:
                rows = rows.select_for_update(skip_locked=True)
            found = [row.record() for row in rows.order_by("next_action_time", "run_id")[:limit]]
            published = publications(found, now, republish_after)
            groups: dict[tuple[int, datetime | None], list[str]] = {}
            for run in published:
                key = (run.publication, run.next_action_time)
                groups.setdefault(key, []).append(run.run_id)
            for (publication, action_time), run_ids in groups.items():
                self._runs.filter(run_id__in=run_ids).update(
                    state=RunState.PUBLISHED.value,
                    publication=publication,
                    next_action_time=action_time,
                )
        return published

    def unpublish(self, runs: Sequence[StoredRun]) -> None:
        """See :class:`~offbeat.runner.RunStore`."""
        for publication in {run.publication for run in runs}:
            ids = [run.run_id for run in runs if run.publication == publication]
            self._runs.filter(
                run_id__in=ids, state=RunState.PUBLISHED.value, publication=publication
            ).update(
                state=RunState.PLANNED.value,
                publication=publication - 1,
                next_action_time=F("start_time"),
            )

    def overdue(self, declaration: str, start_before: datetime, limit: int) -> list[StoredRun]:
        """See :class:`~offbeat.runner.RunStore`."""
        rows = self._runs.filter(
            declaration=declaration,
            state=RunState.PLANNED.value,
            publication=0,
            next_action_time__lt=start_before,
        )
        return [row.record() for row in rows.order_by("next_action_time", "run_id")[:limit]]

    def replan(self, run: StoredRun, state: RunState, start_time: datetime) -> bool:
        """See :class:`~offbeat.runner.RunStore`."""
        rows = self._runs.filter(
            run_id=run.run_id,
            state=run.state.value,
            publication=run.publication,
            start_time=run.start_time,
        )
        action = self.now() if state.ended else start_time
        changed = rows.update(state=state.value, start_time=start_time, next_action_time=action)
        return bool(changed)

    def claim(self, run_id: str, publication: int, limit: timedelta) -> Claim:
        """See :class:`~offbeat.runner.RunStore`."""
        now = self.now()
        free = Q(
            state=RunState.PUBLISHED.value, publication__gte=publication, start_time__lte=now
        ) | Q(state=RunState.CLAIMED.value, publication=publication, next_action_time__lte=now)
        claimed = self._runs.filter(free, run_id=run_id).update(
            state=RunState.CLAIMED.value, publication=publication, next_action_time=now + limit
        )
        found = self._runs.filter(run_id=run_id).first()
        run = None if found is None else found.record()
        if claimed:
            return Claim(ClaimOutcome.GRANTED, run=run)
        claim = decide_claim(run, publication, now)
        if claim.outcome is ClaimOutcome.GRANTED:  # free now, but it was not at the update
            return Claim(ClaimOutcome.HELD, _MOMENT, run)
        return claim

    def release(self, run_id: str, publication: int, republish_time: datetime) -> bool:
        """See :class:`~offbeat.runner.RunStore`."""
        return self._end_claim(run_id, publication, RunState.PUBLISHED, republish_time)

    def finish(self, run_id: str, publication: int, state: RunState) -> bool:
        """See :class:`~offbeat.runner.RunStore`."""
        return self._end_claim(run_id, publication, state, self.now())

    def _end_claim(
        self, run_id: str, publication: int, state: RunState, action_time: datetime
    ) -> bool:
        rows = self._runs.filter(
            run_id=run_id, publication=publication, state=RunState.CLAIMED.value
        )
        return bool(rows.update(state=state.value, next_action_time=action_time))

    def last_starts(
        self, declaration: str, row_ids: Sequence[str], before: datetime
    ) -> Mapping[str, datetime]:
        """See :class:`~offbeat.runner.RunStore`."""
        starts: dict[str, datetime] = {}
        for first in range(0, len(row_ids), _BATCH):
            rows = self._runs.filter(
                declaration=declaration,
                row_id__in=row_ids[first : first + _BATCH],
                scheduled_time__lt=before,
            ).exclude(state__in=[state.value for state in NEVER_RUN])
            starts.update(rows.values_list("row_id").annotate(Max("start_time")))
        return starts

    def runs(
        self, declaration: str, start_time: datetime, end_time: datetime, limit: int
    ) -> list[StoredRun]:
        """See :class:`~offbeat.runner.RunStore`."""
        rows = self._runs.filter(
            declaration=declaration, start_time__gte=start_time, start_time__lt=end_time
        )
        return [row.record() for row in rows.order_by("start_time", "run_id")[:limit]]

    def prune(self, declaration: str, ended_before: datetime, limit: int) -> int:
        """See :class:`~offbeat.runner.RunStore`."""
        ended = [state.value for state in RunState if state.ended]
        rows = self._runs.filter(
            declaration=declaration, state__in=ended, next_action_time__lt=ended_before
        )
        ids = list(rows.values_list("run_id", flat=True)[:limit])
        for first in range(0, len(ids), _BATCH):
            self._runs.filter(run_id__in=ids[first : first + _BATCH]).delete()
        return len(ids)


def _equal(field: str, value: Any) -> dict[str, Any]:
    """Return the filter for a field that has a value; ``None`` stands for NULL."""
    return {f"{field}__isnull": True} if value is None else {field: value}


def get_store() -> DjangoStore:
    """Return the store of the setting ``OFFBEAT``."""
    return DjangoStore()
