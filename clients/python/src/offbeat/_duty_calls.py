"""What clients ask about duties: runs that are due, migrations, audits; and what they report."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from . import audit, due_runs, lateness, migration
from ._asking import Asking, AsyncAsking
from ._settings import to_seconds
from ._zones import TimeZones
from .audit import Audit
from .due_runs import CatchUp, DueRuns, MissedRunPolicy
from .ids import IdType, IdValue
from .migration import MigrationPlan
from .schedule import AnySchedule, ScheduleVersion
from .sql import SqlColumn


class DutyCalls(Asking):
    """The other calls of ``SlotService``, and those of ``LatenessService``."""

    def list_due_runs(
        self,
        schedule: AnySchedule,
        ids: Iterable[IdValue],
        *,
        watermark: datetime | None = None,
        watermarks: Iterable[datetime] | None = None,
        now_time: datetime | None = None,
        missed_run_policy: MissedRunPolicy | None = None,
        on_time_tolerance: timedelta | None = None,
        catch_up_horizon: timedelta | None = None,
        smear_span: timedelta | None = None,
        max_clock_skew: timedelta | None = None,
        look_ahead: timedelta | None = None,
        min_gap: timedelta | None = None,
        weights: Iterable[int] | None = None,
        time_zones: TimeZones | None = None,
        kind: str = "",
        id_type: IdType | None = None,
        return_errors: bool = False,
        timeout: float | timedelta | None = None,
    ) -> DueRuns:
        """Say which runs of any number of IDs are due: those from ``watermark`` to now.

        Keep the ``next_watermark`` of the answer, best in the transaction that enqueues the
        runs, and give it back the next time: no run falls between two questions and none is
        listed twice, whatever the rhythm. The first time, the ``watermark`` is when the IDs
        began. IDs of different ages have ``watermarks`` instead, one for each; then keep, for
        each, its own or ``next_watermark``, whichever is later.

        Runs that are late by more than ``on_time_tolerance`` (0 to one period, default: 60 s)
        were missed: take at least the time between two questions, and with kinds at most what
        a run time leaves of its run budget. ``missed_run_policy`` says what becomes of them
        (default: ``RUN_ONCE``), if they are no older than ``catch_up_horizon`` (default: one
        period). They start smeared over ``smear_span`` from now on (default: at once); where
        the schedule declares kinds, its ``catch_up_span`` decides, so that kinds keep apart,
        and ``smear_span`` is refused. Under ``RUN_ONCE``, one that would start at or after the
        next run of its ID, or less than ``min_gap`` (0 to one period, default: 0) before it, is
        superseded by that.

        With a ``look_ahead`` (0 to one period, default: 0), runs up to so long after now are
        listed too, to be enqueued with their start times. A watermark may lie after the end of
        that by up to ``max_clock_skew`` (default: 60 s). The answer's ``next_due_time`` says when
        to ask again.

        ``weights``, ``time_zones``, ``kind``, ``id_type`` and ``return_errors`` are as in
        :meth:`assign_slots`. However many runs are due, all pages of the answer are gathered;
        ``timeout`` bounds each call.
        """
        catch_up = CatchUp(
            watermark,
            now_time,
            missed_run_policy,
            on_time_tolerance,
            catch_up_horizon,
            smear_span,
            max_clock_skew,
            look_ahead,
            min_gap,
        )
        question = due_runs.list_due_runs(
            schedule, ids, catch_up, watermarks, weights, time_zones, kind, id_type, return_errors
        )
        return self._ask(question, timeout)

    def plan_migration(
        self,
        old_schedule: AnySchedule,
        new_schedule: AnySchedule,
        ids: Iterable[IdValue] = (),
        *,
        cutover_time: datetime | None = None,
        min_gap: timedelta | None = None,
        kind: str = "",
        id_type: IdType | None = None,
        sql_column: SqlColumn | None = None,
        return_errors: bool = False,
        timeout: float | timedelta | None = None,
    ) -> MigrationPlan:
        """Say how IDs go over to another schedule: none is lost, and none runs twice in a span.

        Each ID runs by the old schedule before ``cutover_time`` (default: when the old
        schedule's next cycle starts) and by the new one from then on, but for new runs that come
        less than ``min_gap`` after its last old one (default: 0). With a ``sql_column`` the
        plan has the ``steps`` in SQL. ``kind``, ``id_type`` and ``return_errors`` are as in
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
            sql_column,
            return_errors,
        )
        return self._ask(question, timeout)

    def audit_ids(
        self,
        schedule: AnySchedule,
        ids: Iterable[IdValue],
        *,
        weights: Iterable[int] | None = None,
        id_type: IdType | None = None,
        from_time: datetime | None = None,
        timeout: float | timedelta | None = None,
    ) -> Audit:
        """Say how evenly a sample of up to 65,536 IDs fills the slots, and what is wrong.

        Better all of the IDs, or a random sample, than the oldest. Refused IDs stand in the
        answer's ``errors``; nothing is raised for them. ``weights`` and ``id_type`` are as in
        :meth:`assign_slots`. IDs that exclusions leave no run from ``from_time`` (default: now)
        on are warned of.
        """
        return self._ask(audit.audit_ids(schedule, ids, weights, id_type, from_time), timeout)

    def record_lateness(
        self,
        schedule: str | ScheduleVersion,
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
        own_series = True
        for request in lateness.lateness_requests(schedule, lateness_of_runs, kind):
            own_series = bool(self._call("RecordLateness", request, seconds).own_series)
        return own_series


class AsyncDutyCalls(AsyncAsking):
    """The other calls of ``SlotService``, and those of ``LatenessService``, as coroutines."""

    async def list_due_runs(
        self,
        schedule: AnySchedule,
        ids: Iterable[IdValue],
        *,
        watermark: datetime | None = None,
        watermarks: Iterable[datetime] | None = None,
        now_time: datetime | None = None,
        missed_run_policy: MissedRunPolicy | None = None,
        on_time_tolerance: timedelta | None = None,
        catch_up_horizon: timedelta | None = None,
        smear_span: timedelta | None = None,
        max_clock_skew: timedelta | None = None,
        look_ahead: timedelta | None = None,
        min_gap: timedelta | None = None,
        weights: Iterable[int] | None = None,
        time_zones: TimeZones | None = None,
        kind: str = "",
        id_type: IdType | None = None,
        return_errors: bool = False,
        timeout: float | timedelta | None = None,
    ) -> DueRuns:
        """See :meth:`offbeat.Client.list_due_runs`."""
        catch_up = CatchUp(
            watermark,
            now_time,
            missed_run_policy,
            on_time_tolerance,
            catch_up_horizon,
            smear_span,
            max_clock_skew,
            look_ahead,
            min_gap,
        )
        question = due_runs.list_due_runs(
            schedule, ids, catch_up, watermarks, weights, time_zones, kind, id_type, return_errors
        )
        return await self._ask(question, timeout)

    async def plan_migration(
        self,
        old_schedule: AnySchedule,
        new_schedule: AnySchedule,
        ids: Iterable[IdValue] = (),
        *,
        cutover_time: datetime | None = None,
        min_gap: timedelta | None = None,
        kind: str = "",
        id_type: IdType | None = None,
        sql_column: SqlColumn | None = None,
        return_errors: bool = False,
        timeout: float | timedelta | None = None,
    ) -> MigrationPlan:
        """See :meth:`offbeat.Client.plan_migration`."""
        question = migration.plan_migration(
            old_schedule,
            new_schedule,
            ids,
            cutover_time,
            min_gap,
            kind,
            id_type,
            sql_column,
            return_errors,
        )
        return await self._ask(question, timeout)

    async def audit_ids(
        self,
        schedule: AnySchedule,
        ids: Iterable[IdValue],
        *,
        weights: Iterable[int] | None = None,
        id_type: IdType | None = None,
        from_time: datetime | None = None,
        timeout: float | timedelta | None = None,
    ) -> Audit:
        """See :meth:`offbeat.Client.audit_ids`."""
        return await self._ask(audit.audit_ids(schedule, ids, weights, id_type, from_time), timeout)

    async def record_lateness(
        self,
        schedule: str | ScheduleVersion,
        lateness_of_runs: Iterable[timedelta],
        *,
        kind: str = "",
        timeout: float | timedelta | None = None,
    ) -> bool:
        """See :meth:`offbeat.Client.record_lateness`."""
        seconds = self.timeout if timeout is None else to_seconds(timeout)
        own_series = True
        for request in lateness.lateness_requests(schedule, lateness_of_runs, kind):
            response = await self._call("RecordLateness", request, seconds)
            own_series = bool(response.own_series)
        return own_series
