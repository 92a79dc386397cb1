"""Calls about lanes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta

from ._asking import Asking, AsyncAsking
from .lanes import (
    DispatchedJobs,
    LanePlan,
    LanePrediction,
    LaneRoute,
    LaneSet,
    LaneState,
    PendingJob,
    PermanentFailure,
    RunTimes,
    TimeoutAction,
    WorkerSplit,
)
from .lanes import _questions as questions


class LaneCalls(Asking):
    """The calls of ``LaneService`` and of ``LanePlanningService``."""

    def route_job(
        self,
        lane_set: LaneSet,
        *,
        timed_out_lane_names: Sequence[str] = (),
        prediction: LanePrediction | None = None,
        worker_lane_name: str | None = None,
        timeout: float | timedelta | None = None,
    ) -> LaneRoute | PermanentFailure:
        """Say in which lane a job's next attempt runs, for how long, and what follows a timeout.

        A job that has exceeded the timeout of the last lane has failed permanently: the answer is
        a ``PermanentFailure``. ``timed_out_lane_names`` and ``prediction`` are as in
        ``PendingJob``. ``worker_lane_name`` is the lane of the free worker that has taken the job
        from a queue: the route is in this lane, unless the job must start in a slower one.
        """
        question = questions.route_job(lane_set, timed_out_lane_names, prediction, worker_lane_name)
        return self._ask(question, timeout)

    def dispatch_jobs(
        self,
        lane_set: LaneSet,
        free_workers: Mapping[str, int],
        jobs: Iterable[PendingJob],
        *,
        timeout: float | timedelta | None = None,
    ) -> DispatchedJobs:
        """Assign up to 65,536 pending jobs to free workers.

        ``free_workers`` maps the names of lanes to their free workers; a lane that is not named
        has none. ``jobs`` are in the order of the queue. Call this each time that a worker becomes
        free or a job arrives.
        """
        question = questions.dispatch_jobs(lane_set, free_workers, jobs)
        return self._ask(question, timeout)

    def split_workers(
        self,
        lane_set: LaneSet,
        states: Iterable[LaneState],
        *,
        worker_count: int | None = None,
        max_move_count: int | None = None,
        min_improvement_percent: int = 0,
        timeout: float | timedelta | None = None,
    ) -> WorkerSplit:
        """Split the workers among the lanes by the work that waits in each.

        A lane without a state has no backlog and no busy worker. ``worker_count`` is by default
        the number of workers that the lanes have. Hysteresis: at most ``max_move_count`` workers
        move, and none moves unless the score falls by at least ``min_improvement_percent``.
        Moves that a new ``worker_count`` forces always happen.
        """
        question = questions.split_workers(
            lane_set, states, worker_count, max_move_count, min_improvement_percent
        )
        return self._ask(question, timeout)

    def plan_lanes(
        self,
        run_times: RunTimes,
        *,
        arrival_rate: float,
        worker_count: int,
        tolerated_wait: timedelta | None = None,
        slowdown_floor: timedelta | None = None,
        on_timeout: TimeoutAction | None = None,
        max_lane_count: int | None = None,
        seed: int = 0,
        timeout: float | timedelta | None = None,
    ) -> LanePlan:
        """Plan lanes from observed run times, or say that there should be none.

        ``run_times`` are up to 400,000 samples, or a mapping from types of job to samples, a
        ``RunTimeHistogram`` or ``RunTimePercentiles``. With types, lanes by type are compared too.
        ``arrival_rate`` is in jobs per second. ``tolerated_wait`` is how long people are
        willing to wait; no express timeout is longer (default: no bound). Run times below
        ``slowdown_floor`` count as ``slowdown_floor`` (default: the 10th percentile of the run
        times). There are at most ``max_lane_count`` lanes (default: 3). The plan is simulated:
        the same arguments with the same ``seed`` give the same answer. (Beta: the figures may
        change.)
        """
        question = questions.plan_lanes(
            run_times,
            arrival_rate,
            worker_count,
            tolerated_wait,
            slowdown_floor,
            on_timeout,
            max_lane_count,
            seed,
        )
        return self._ask(question, timeout)


class AsyncLaneCalls(AsyncAsking):
    """The calls of ``LaneService`` and of ``LanePlanningService``, as coroutines."""

    async def route_job(
        self,
        lane_set: LaneSet,
        *,
        timed_out_lane_names: Sequence[str] = (),
        prediction: LanePrediction | None = None,
        worker_lane_name: str | None = None,
        timeout: float | timedelta | None = None,
    ) -> LaneRoute | PermanentFailure:
        """See :meth:`offbeat.Client.route_job`."""
        question = questions.route_job(lane_set, timed_out_lane_names, prediction, worker_lane_name)
        return await self._ask(question, timeout)

    async def dispatch_jobs(
        self,
        lane_set: LaneSet,
        free_workers: Mapping[str, int],
        jobs: Iterable[PendingJob],
        *,
        timeout: float | timedelta | None = None,
    ) -> DispatchedJobs:
        """See :meth:`offbeat.Client.dispatch_jobs`."""
        question = questions.dispatch_jobs(lane_set, free_workers, jobs)
        return await self._ask(question, timeout)

    async def split_workers(
        self,
        lane_set: LaneSet,
        states: Iterable[LaneState],
        *,
        worker_count: int | None = None,
        max_move_count: int | None = None,
        min_improvement_percent: int = 0,
        timeout: float | timedelta | None = None,
    ) -> WorkerSplit:
        """See :meth:`offbeat.Client.split_workers`."""
        question = questions.split_workers(
            lane_set, states, worker_count, max_move_count, min_improvement_percent
        )
        return await self._ask(question, timeout)

    async def plan_lanes(
        self,
        run_times: RunTimes,
        *,
        arrival_rate: float,
        worker_count: int,
        tolerated_wait: timedelta | None = None,
        slowdown_floor: timedelta | None = None,
        on_timeout: TimeoutAction | None = None,
        max_lane_count: int | None = None,
        seed: int = 0,
        timeout: float | timedelta | None = None,
    ) -> LanePlan:
        """See :meth:`offbeat.Client.plan_lanes`."""
        question = questions.plan_lanes(
            run_times,
            arrival_rate,
            worker_count,
            tolerated_wait,
            slowdown_floor,
            on_timeout,
            max_lane_count,
            seed,
        )
        return await self._ask(question, timeout)
