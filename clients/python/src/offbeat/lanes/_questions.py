"""Questions about lanes, independent of how they are asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta

from .._fields import set_enum, set_integer, set_number, set_span, set_text
from .._questions import Question
from ..v1 import lanes_pb2 as pb
from ..v1beta1 import lane_planning_pb2 as planning_pb
from .plans import LanePlan
from .routes import (
    DispatchedJobs,
    LanePrediction,
    LaneRoute,
    PendingJob,
    PermanentFailure,
    add_free_workers,
    add_jobs,
    set_history,
)
from .run_times import RunTimes, set_run_times
from .sets import LaneSet, LaneState, TimeoutAction, WorkerSplit, add_states


def route_job(
    lane_set: LaneSet,
    timed_out_lane_names: Iterable[str],
    prediction: LanePrediction | None,
    worker_lane_name: str | None,
) -> Question[LaneRoute | PermanentFailure]:
    """Ask where a job's next attempt runs."""
    request = pb.RouteJobRequest(lane_set=lane_set.to_message())
    set_history(request, "", timed_out_lane_names, prediction)
    if worker_lane_name is not None:
        set_text(request, "", "worker_lane_name", worker_lane_name)
    response: pb.RouteJobResponse = yield "RouteJob", request
    if response.HasField("permanent_failure"):
        return PermanentFailure.from_message(response.permanent_failure)
    return LaneRoute.from_message(response.route)


def dispatch_jobs(
    lane_set: LaneSet, free_workers: Mapping[str, int], jobs: Iterable[PendingJob]
) -> Question[DispatchedJobs]:
    """Ask which pending jobs free workers take."""
    request = pb.DispatchJobsRequest(lane_set=lane_set.to_message())
    add_free_workers(request, free_workers)
    add_jobs(request, jobs)
    return DispatchedJobs.from_message((yield "DispatchJobs", request))


def split_workers(
    lane_set: LaneSet,
    states: Iterable[LaneState],
    worker_count: int | None,
    max_move_count: int | None,
    min_improvement_percent: int,
) -> Question[WorkerSplit]:
    """Ask how to split the workers."""
    request = pb.SplitWorkersRequest(lane_set=lane_set.to_message())
    add_states(request, states)
    if worker_count is not None:
        set_integer(request, "", "worker_count", worker_count)
    if max_move_count is not None:
        set_integer(request, "", "max_move_count", max_move_count)
    set_integer(request, "", "min_improvement_percent", min_improvement_percent)
    return WorkerSplit.from_message((yield "SplitWorkers", request))


def plan_lanes(
    run_times: RunTimes,
    arrival_rate: float,
    worker_count: int,
    tolerated_wait: timedelta | None,
    slowdown_floor: timedelta | None,
    on_timeout: TimeoutAction | None,
    max_lane_count: int | None,
    seed: int,
) -> Question[LanePlan]:
    """Ask for a plan of lanes."""
    request = planning_pb.PlanLanesRequest()
    set_run_times(request, run_times)
    set_number(request, "", "arrival_rate", arrival_rate)
    set_integer(request, "", "worker_count", worker_count)
    set_span(request, "", "tolerated_wait", tolerated_wait)
    set_span(request, "", "slowdown_floor", slowdown_floor)
    if on_timeout is not None:
        set_enum(request, "", "on_timeout", on_timeout, TimeoutAction)
    if max_lane_count is not None:
        set_integer(request, "", "max_lane_count", max_lane_count)
    set_integer(request, "", "seed", seed)
    return LanePlan.from_message((yield "PlanLanes", request))
