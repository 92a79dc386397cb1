"""Calls about duties: due runs, migrations, audits, and reports of lateness."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from . import audit, due_runs, lateness, migration
from ._asking import Asking, AsyncAsking
from ._settings import to_seconds
from ._zones import TimeZones
from .audit import Audit
from .due_runs import CatchUpPolicy, DueRuns, Poll
from .ids import IdT, IdType, IdValue
from .migration import MigrationPlan
from .schedule import AnySchedule, ScheduleReference
from .sql import SqlTarget


class DutyCalls(Asking):
    """The other calls of ``SlotService``, and those of ``LatenessService``."""

    def list_due_runs(
        self,
        schedule: AnySchedule,
        ids: Iterable[IdT],
        *,
        watermark: datetime | None = None,
        watermarks: Iterable[datetime] | None = None,
        now_time: datetime | None = None,
        catch_up_policy: CatchUpPolicy | None = None,
        max_clock_skew: timedelta | None = None,
        look_ahead: timedelta | None = None,
        weights: Iterable[int] | None = None,
        time_zones: TimeZones[IdT] | None = None,
        kind: str = "",
        id_type: IdType | None = None,
        return_errors: bool = False,
        timeout: float | timedelta | None = None,
    ) -> DueRuns[IdT]:
        """Say which runs of any number of IDs are due: those from ``watermark`` to now.

        Keep the ``next_watermark_time`` of the answer, best in the transaction that enqueues the
        runs, and give it back the next time: no run falls between two questions and none is
        listed twice, whatever the rhythm. The first time, the ``watermark`` is when the IDs
        began. IDs of different ages have ``watermarks`` instead, one for each; then keep, for
        each, its own or ``next_watermark_time``, whichever is later.

        ``catch_up_policy`` says which runs were missed, and what becomes of them.

        With a ``look_ahead`` (0 to the shortest cycle, default: 0), runs up to so long after now
        are listed too, to be enqueued with their start times. A watermark may lie after the end
        of that by up to ``max_clock_skew`` (default: 60 s, or the shortest cycle if that is
        shorter). The answer's ``next_due_time`` says when to ask again.

        ``weights``, ``time_zones``, ``kind``, ``id_type`` and ``return_errors`` are as in
        :meth:`assign_slots`. However many runs are due, all pages of the answer are gathered;
        ``timeout`` bounds each call.
        """
        poll = Poll(watermark, now_time, catch_up_policy, max_clock_skew, look_ahead)
        question = due_runs.list_due_runs(
            schedule, ids, poll, watermarks, weights, time_zones, kind, id_type, return_errors
        )
        return self._ask(question, timeout)

    def plan_migration(
        self,
        old_schedule: AnySchedule,
        new_schedule: AnySchedule,
        ids: Iterable[IdT] = (),
        *,
        cutover_time: datetime | None = None,
        min_gap: timedelta | None = None,
        kind: str = "",
        id_type: IdType | None = None,
        sql_target: SqlTarget | None = None,
        return_errors: bool = False,
        timeout: float | timedelta | None = None,
    ) -> MigrationPlan[IdT]:
        """Say how IDs go over to another schedule: none is lost, and none runs twice in a span.

        Each ID runs by the old schedule before ``cutover_time`` (default: when the old
        schedule's next cycle starts) and by the new one from then on. New runs that come less
        than ``min_gap`` after its last old one (default: 0) are left out. With a ``sql_target``
        the plan has the ``steps`` in SQL. ``kind``, ``id_type`` and ``return_errors`` are as in
        :meth:`assign_slots`, ``timeout`` bounds each call. All IDs are taken to live in the
        schedule's own time zone.
        """
        question = migration.plan_migration(
            old_schedule,
            new_schedule,
            ids,
            cutover_time,
            min_gap,
            kind,
            id_type,
            sql_target,
            return_errors,
        )
        return self._ask(question, timeout)

    def audit_ids(
        self,
        schedule: AnySchedule,
        ids: Iterable[IdValue],
        *,
        weights: Iterable[int] | None = None,
        kind: str = "",
        id_type: IdType | None = None,
        from_time: datetime | None = None,
        timeout: float | timedelta | None = None,
    ) -> Audit:
        """Say how evenly a sample of up to 65,536 IDs fills the slots, and what is wrong.

        Better all of the IDs, or a random sample, than the oldest. Refused IDs stand in the
        answer's ``errors``; nothing is raised for them. ``weights``, ``kind`` and ``id_type`` are
        as in :meth:`assign_slots`. IDs that exclusions leave no run from ``from_time`` (default:
        now) on are warned of.
        """
        question = audit.audit_ids(schedule, ids, weights, kind, id_type, from_time)
        return self._ask(question, timeout)

    def record_lateness(
        self,
        schedule: str | ScheduleReference,
        lateness_of_runs: Iterable[timedelta],
        *,
        kind: str = "",
        timeout: float | timedelta | None = None,
    ) -> bool:
        """Count in the sidecar's metrics how late runs started.

        Returns whether ``schedule`` (its name; a version is left out) and ``kind`` have a
        series of their own, which the first 100 pairs have. Jobs take a
        :class:`~offbeat.LatenessRecorder`, which asks from a thread.
        """
        seconds = self.timeout if timeout is None else to_seconds(timeout)
        has_own_series = True
        for request in lateness.lateness_requests(schedule, lateness_of_runs, kind):
            has_own_series = bool(self._call("RecordLateness", request, seconds).has_own_series)
        return has_own_series


class AsyncDutyCalls(AsyncAsking):
    """The other calls of ``SlotService``, and those of ``LatenessService``, as coroutines."""

    async def list_due_runs(
        self,
        schedule: AnySchedule,
        ids: Iterable[IdT],
        *,
        watermark: datetime | None = None,
        watermarks: Iterable[datetime] | None = None,
        now_time: datetime | None = None,
        catch_up_policy: CatchUpPolicy | None = None,
        max_clock_skew: timedelta | None = None,
        look_ahead: timedelta | None = None,
        weights: Iterable[int] | None = None,
        time_zones: TimeZones[IdT] | None = None,
        kind: str = "",
        id_type: IdType | None = None,
        return_errors: bool = False,
        timeout: float | timedelta | None = None,
    ) -> DueRuns[IdT]:
        """See :meth:`offbeat.Client.list_due_runs`."""
        poll = Poll(watermark, now_time, catch_up_policy, max_clock_skew, look_ahead)
        question = due_runs.list_due_runs(
            schedule, ids, poll, watermarks, weights, time_zones, kind, id_type, return_errors
        )
        return await self._ask(question, timeout)

    async def plan_migration(
        self,
        old_schedule: AnySchedule,
        new_schedule: AnySchedule,
        ids: Iterable[IdT] = (),
        *,
        cutover_time: datetime | None = None,
        min_gap: timedelta | None = None,
        kind: str = "",
        id_type: IdType | None = None,
        sql_target: SqlTarget | None = None,
        return_errors: bool = False,
        timeout: float | timedelta | None = None,
    ) -> MigrationPlan[IdT]:
        """See :meth:`offbeat.Client.plan_migration`."""
        question = migration.plan_migration(
            old_schedule,
            new_schedule,
            ids,
            cutover_time,
            min_gap,
            kind,
            id_type,
            sql_target,
            return_errors,
        )
        return await self._ask(question, timeout)

    async def audit_ids(
        self,
        schedule: AnySchedule,
        ids: Iterable[IdValue],
        *,
        weights: Iterable[int] | None = None,
        kind: str = "",
        id_type: IdType | None = None,
        from_time: datetime | None = None,
        timeout: float | timedelta | None = None,
    ) -> Audit:
        """See :meth:`offbeat.Client.audit_ids`."""
        question = audit.audit_ids(schedule, ids, weights, kind, id_type, from_time)
        return await self._ask(question, timeout)

    async def record_lateness(
        self,
        schedule: str | ScheduleReference,
        lateness_of_runs: Iterable[timedelta],
        *,
        kind: str = "",
        timeout: float | timedelta | None = None,
    ) -> bool:
        """See :meth:`offbeat.Client.record_lateness`."""
        seconds = self.timeout if timeout is None else to_seconds(timeout)
        has_own_series = True
        for request in lateness.lateness_requests(schedule, lateness_of_runs, kind):
            response = await self._call("RecordLateness", request, seconds)
            has_own_series = bool(response.has_own_series)
        return has_own_series
