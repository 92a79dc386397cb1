"""Calls about due runs, migrations, audits and lateness."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from . import audit, due_runs, migration
from ._asking import Asking, AsyncAsking
from ._lateness_requests import lateness_requests
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
        """List the due runs of any number of IDs: those from ``watermark`` to now.

        Store the ``next_watermark_time`` of the answer, preferably in the transaction that
        enqueues the runs, and pass it to the next call: no run falls between two calls and none
        is listed twice, however irregular the calls are. For the first call, ``watermark`` is
        the time since which the IDs exist. IDs of different ages take ``watermarks`` instead,
        one for each ID; then store for each ID the later of its own watermark and
        ``next_watermark_time``.

        ``catch_up_policy`` says which runs count as missed, and what happens to them.

        With a ``look_ahead`` (0 to the shortest cycle, default: 0), runs up to that long after
        now are listed too, to be enqueued with their start times. A watermark may lie up to
        ``max_clock_skew`` after now plus ``look_ahead`` (default: 60 s, or the shortest cycle if
        that is shorter). The answer's ``next_due_time`` says when to call again.

        ``weights``, ``time_zones``, ``kind``, ``id_type`` and ``return_errors`` are as in
        :meth:`assign_slots`. All pages of the answer are gathered, however many runs are due;
        ``timeout`` applies to each request.
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
        """Plan how IDs change to another schedule: none is lost or runs twice within ``min_gap``.

        Each ID runs by the old schedule before ``cutover_time`` (default: when the old
        schedule's next cycle starts) and by the new one from then on. A new run that would start
        less than ``min_gap`` (default: 0) after the ID's last old run is left out. With a
        ``sql_target``, the plan has the ``steps`` in SQL. ``kind``, ``id_type`` and
        ``return_errors`` are as in :meth:`assign_slots`; ``timeout`` applies to each request.
        All IDs are planned in the time zone of their schedule.
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

        Pass all IDs or a random sample, not the oldest IDs. Refused IDs are listed in the
        answer's ``errors``; they raise no exception. ``weights``, ``kind`` and ``id_type`` are
        as in :meth:`assign_slots`. The warnings include IDs whose runs from ``from_time``
        (default: now) on are all skipped by exclusions.
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

        Returns whether ``schedule`` (its name; a version is ignored) and ``kind`` have their own
        series: the first 100 pairs do. In jobs, use a :class:`~offbeat.LatenessRecorder`, which
        sends from a thread.
        """
        seconds = self.timeout if timeout is None else to_seconds(timeout)
        has_own_series = True
        for request in lateness_requests(schedule, lateness_of_runs, kind):
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
        for request in lateness_requests(schedule, lateness_of_runs, kind):
            response = await self._call("RecordLateness", request, seconds)
            has_own_series = bool(response.has_own_series)
        return has_own_series
