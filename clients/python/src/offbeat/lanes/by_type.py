"""Types of job, and lanes without timeouts for them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from ..times import from_duration, from_optional_duration
from ..v1beta1 import lane_planning_pb2 as pb
from .performance import LanePerformance, RatioInterval, optional_ratio


@dataclass(frozen=True)
class LanesByType:
    """Two lanes without timeouts: jobs of some types go to the slow lane, others to the express.

    Workers of the slow lane take jobs of its types first, and others if there are none. Workers of
    the express lane take no jobs of the slow types.
    """

    #: Types whose jobs go to the slow lane, those with the longest mean run times first.
    slow_type_names: tuple[str, ...]
    express_worker_count: int
    slow_worker_count: int
    #: How jobs fare in these lanes.
    performance: LanePerformance
    #: Whether the workers also keep up with a fifth more arrivals, or one queue would then fill
    #: 90 % of their time.
    stable_with_more_arrivals: bool
    #: The mean slowdown divided by that with one queue.
    slowdown_ratio: RatioInterval
    #: The mean sojourn divided by that with one queue.
    sojourn_ratio: RatioInterval
    #: The mean slowdown divided by that with the ``lane_set`` of the plan; ``None`` without one.
    slowdown_ratio_to_timeouts: RatioInterval | None
    #: The mean sojourn divided by that with the ``lane_set`` of the plan; ``None`` without one.
    sojourn_ratio_to_timeouts: RatioInterval | None

    @classmethod
    def from_message(cls, message: pb.LanesByType) -> LanesByType:
        """Read it from a message."""
        return cls(
            slow_type_names=tuple(message.slow_type_names),
            express_worker_count=message.express_worker_count,
            slow_worker_count=message.slow_worker_count,
            performance=LanePerformance.from_message(message.performance),
            stable_with_more_arrivals=message.stable_with_more_arrivals,
            slowdown_ratio=RatioInterval.from_message(message.slowdown_ratio),
            sojourn_ratio=RatioInterval.from_message(message.sojourn_ratio),
            slowdown_ratio_to_timeouts=optional_ratio(message, "slowdown_ratio_to_timeouts"),
            sojourn_ratio_to_timeouts=optional_ratio(message, "sojourn_ratio_to_timeouts"),
        )


@dataclass(frozen=True)
class JobTypeFigures:
    """A type of job, and how its jobs fare. Mean sojourns are medians of the streams of jobs."""

    name: str
    #: How many of the samples are of this type.
    sample_count: int
    #: Its share of all jobs: 0 to 1.
    job_ratio: float
    #: Its share of all run time: 0 to 1.
    work_ratio: float
    mean_run_time: timedelta
    p50_run_time: timedelta
    p99_run_time: timedelta
    max_run_time: timedelta
    #: The share of its jobs that run longer than the timeout of the express lane of ``lane_set``,
    #: 0 to 1; ``None`` without one.
    timeout_ratio: float | None
    #: Mean time from arrival to end, with the ``lane_set`` of the plan; ``None`` without one.
    mean_sojourn_with_lanes: timedelta | None
    #: Mean time from arrival to end, with the ``lanes_by_type`` of the plan; ``None`` without
    #: these.
    mean_sojourn_by_type: timedelta | None
    #: Mean time from arrival to end, with one queue.
    mean_sojourn_without_lanes: timedelta

    @classmethod
    def from_message(cls, message: pb.JobTypeFigures) -> JobTypeFigures:
        """Read it from a message."""
        return cls(
            name=message.name,
            sample_count=message.sample_count,
            job_ratio=message.job_ratio,
            work_ratio=message.work_ratio,
            mean_run_time=from_duration(message.mean_run_time),
            p50_run_time=from_duration(message.p50_run_time),
            p99_run_time=from_duration(message.p99_run_time),
            max_run_time=from_duration(message.max_run_time),
            timeout_ratio=message.timeout_ratio if message.HasField("timeout_ratio") else None,
            mean_sojourn_with_lanes=from_optional_duration(message, "mean_sojourn_with_lanes"),
            mean_sojourn_by_type=from_optional_duration(message, "mean_sojourn_by_type"),
            mean_sojourn_without_lanes=from_duration(message.mean_sojourn_without_lanes),
        )
