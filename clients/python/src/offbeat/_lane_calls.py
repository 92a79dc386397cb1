"""What clients ask about lanes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
    """The calls of ``LaneService``."""

    def route_job(
        self,
        lane_set: LaneSet,
        *,
        timed_out_lanes: Sequence[str] = (),
        prediction: LanePrediction | None = None,
        worker_lane: str | None = None,
        timeout: float | timedelta | None = None,
    ) -> LaneRoute | PermanentFailure:
        """Say in which lane a job's next attempt runs, for how long, and what then follows.

        A job that reached the timeout of the last lane has failed for good: the answer is a
        ``PermanentFailure``. ``timed_out_lanes`` and ``prediction`` are as in ``PendingJob``.
        ``worker_lane`` is the lane of the free worker that has taken the job from a queue: the
        route is there, unless the job begins in a slower lane.
        """
        question = questions.route_job(lane_set, timed_out_lanes, prediction, worker_lane)
        return self._ask(question, timeout)

    def dispatch_jobs(
        self,
        lane_set: LaneSet,
        free_worker_counts: Sequence[int],
        jobs: Iterable[PendingJob],
        *,
        timeout: float | timedelta | None = None,
    ) -> DispatchedJobs:
        """Place pending jobs, up to 65,536, on the free workers of each lane.

        ``free_worker_counts`` and ``jobs`` are in their order. Ask whenever a worker is free or
        a job comes.
        """
        question = questions.dispatch_jobs(lane_set, free_worker_counts, jobs)
        return self._ask(question, timeout)

    def split_workers(
        self,
        lane_set: LaneSet,
        states: Sequence[LaneState],
        *,
        worker_count: int | None = None,
        timeout: float | timedelta | None = None,
    ) -> WorkerSplit:
        """Split workers between the lanes anew, by what waits in each.

        There is a state for each lane. By default there are as many workers as the lanes have.
        """
        question = questions.split_workers(lane_set, states, worker_count)
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

        ``run_times`` are up to 400,000 samples, a ``RunTimeHistogram`` or
        ``RunTimePercentiles``; ``arrival_rate`` is in jobs per second. No express timeout is
        longer than ``tolerated_wait`` (default: no bound), how long people tolerate to wait.
        Run times below ``slowdown_floor`` count as it (default: their 10th percentile). There
        are at most ``max_lane_count`` lanes (default: 3). The plan is simulated: the same
        question with the same ``seed`` has the same answer.
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
    """The calls of ``LaneService``, as coroutines."""

    async def route_job(
        self,
        lane_set: LaneSet,
        *,
        timed_out_lanes: Sequence[str] = (),
        prediction: LanePrediction | None = None,
        worker_lane: str | None = None,
        timeout: float | timedelta | None = None,
    ) -> LaneRoute | PermanentFailure:
        """See :meth:`offbeat.Client.route_job`."""
        question = questions.route_job(lane_set, timed_out_lanes, prediction, worker_lane)
        return await self._ask(question, timeout)

    async def dispatch_jobs(
        self,
        lane_set: LaneSet,
        free_worker_counts: Sequence[int],
        jobs: Iterable[PendingJob],
        *,
        timeout: float | timedelta | None = None,
    ) -> DispatchedJobs:
        """See :meth:`offbeat.Client.dispatch_jobs`."""
        question = questions.dispatch_jobs(lane_set, free_worker_counts, jobs)
        return await self._ask(question, timeout)

    async def split_workers(
        self,
        lane_set: LaneSet,
        states: Sequence[LaneState],
        *,
        worker_count: int | None = None,
        timeout: float | timedelta | None = None,
    ) -> WorkerSplit:
        """See :meth:`offbeat.Client.split_workers`."""
        question = questions.split_workers(lane_set, states, worker_count)
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
