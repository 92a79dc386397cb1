"""Plans: which lanes there should be, if any."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Union

from .._fields import OUT_OF_RANGE, set_integer, set_span
from .._keywords import positional
from ..errors import refused
from ..times import from_duration, to_micros
from ..v1beta1 import lane_planning_pb2 as pb
from .sets import LaneSet

if TYPE_CHECKING:
    from dataclasses import KW_ONLY


class LaneVerdict(enum.IntEnum):
    """Lanes, or no lanes."""

    #: Lanes make it better.
    LANES = 1
    #: Lanes make it no better, or worse: one queue for all workers.
    NO_LANES = 2


@dataclass(frozen=True)
class RunTimeHistogram:
    """How many jobs ran how long.

    job_counts: by the upper bound of each bucket, in rising order; the first begins at 0 s.

    >>> from datetime import timedelta
    >>> RunTimeHistogram({timedelta(seconds=1): 980, timedelta(minutes=5): 20}).job_counts[
    ...     timedelta(minutes=5)
    ... ]
    20
    """

    job_counts: Mapping[timedelta, int]


@positional(0)
@dataclass(frozen=True)
class RunTimePercentiles:
    """Two figures of a lognormal distribution of run times: ``p90``, and ``p50`` or ``mean``."""

    if TYPE_CHECKING:
        _: KW_ONLY
    p90: timedelta
    p50: timedelta | None = None
    mean: timedelta | None = None


#: How long jobs run: samples in any order, or what sums them up.
RunTimes = Union[Iterable[timedelta], RunTimeHistogram, RunTimePercentiles]


@dataclass(frozen=True)
class LanePerformance:
    """How jobs fare, simulated. A wait ends at the first start, a sojourn at the end.

    Slowdown is bounded: sojourn / max(run time, floor), and at least 1.
    """

    mean_slowdown: float
    p95_slowdown: float
    mean_wait: timedelta
    p95_wait: timedelta
    mean_sojourn: timedelta
    p95_sojourn: timedelta
    #: Of the time that workers spend, the share that is lost by aborting: 0 to 1.
    wasted_ratio: float
    #: Whether the workers keep up. If not, all other figures are worth nothing.
    stable: bool

    @classmethod
    def from_message(cls, message: pb.LanePerformance) -> LanePerformance:
        """Read it from a message."""
        return cls(
            mean_slowdown=message.mean_slowdown,
            p95_slowdown=message.p95_slowdown,
            mean_wait=from_duration(message.mean_wait),
            p95_wait=from_duration(message.p95_wait),
            mean_sojourn=from_duration(message.mean_sojourn),
            p95_sojourn=from_duration(message.p95_sojourn),
            wasted_ratio=message.wasted_ratio,
            stable=message.stable,
        )


@dataclass(frozen=True)
class LaneSensitivity:
    """How jobs fare at another rate."""

    #: Jobs per second.
    arrival_rate: float
    #: With the lanes of the plan; ``None`` if there are none.
    with_lanes: LanePerformance | None
    #: With one queue for all workers.
    without_lanes: LanePerformance

    @classmethod
    def from_message(cls, message: pb.LaneSensitivity) -> LaneSensitivity:
        """Read it from a message."""
        without_lanes = LanePerformance.from_message(message.without_lanes)
        return cls(message.arrival_rate, _with_lanes(message), without_lanes)


@dataclass(frozen=True)
class CutoffSlowdown:
    """What a cutoff does, by formula."""

    #: The express lane's attempt timeout.
    cutoff: timedelta
    #: Workers of the express lane.
    express_worker_count: int
    #: The mean bounded slowdown.
    mean_slowdown: float

    @classmethod
    def from_message(cls, message: pb.CutoffSlowdown) -> CutoffSlowdown:
        """Read it from a message."""
        cutoff = from_duration(message.cutoff)
        return cls(cutoff, message.express_worker_count, message.mean_slowdown)


@dataclass(frozen=True)
class LanePlan:
    """Lanes, or no lanes, and why."""

    verdict: LaneVerdict
    #: The best that were found, also with ``NO_LANES``; ``None`` if none keep up.
    lane_set: LaneSet | None
    #: What they do; ``None`` if there are none.
    with_lanes: LanePerformance | None
    #: What one queue for all workers does, with the same jobs.
    without_lanes: LanePerformance
    #: The same for other rates of arrival, 20 % lower and 20 % higher.
    sensitivities: tuple[LaneSensitivity, ...]
    #: What slowdown each cutoff has, with the best split between two lanes: by formula.
    cutoffs: tuple[CutoffSlowdown, ...]
    #: The lower bound on run times that slowdown was computed with.
    slowdown_floor: timedelta
    mean_run_time: timedelta
    #: The share of the workers' time that the run times fill, from 0 to 1.
    utilization: float
    #: How many jobs were simulated for each figure.
    simulated_job_count: int

    @classmethod
    def from_message(cls, message: pb.PlanLanesResponse) -> LanePlan:
        """Read it from a message."""
        has_lanes = message.HasField("lane_set")
        return cls(
            verdict=LaneVerdict(message.verdict),
            lane_set=LaneSet.from_message(message.lane_set) if has_lanes else None,
            with_lanes=_with_lanes(message),
            without_lanes=LanePerformance.from_message(message.without_lanes),
            sensitivities=tuple(map(LaneSensitivity.from_message, message.sensitivities)),
            cutoffs=tuple(map(CutoffSlowdown.from_message, message.cutoffs)),
            slowdown_floor=from_duration(message.slowdown_floor),
            mean_run_time=from_duration(message.mean_run_time),
            utilization=message.utilization,
            simulated_job_count=message.simulated_job_count,
        )


def set_run_times(request: pb.PlanLanesRequest, run_times: RunTimes) -> None:
    """Set how long jobs run, in whichever form it is known."""
    if isinstance(run_times, RunTimeHistogram):
        request.histogram.SetInParent()
        for index, (upper_bound, count) in enumerate(run_times.job_counts.items()):
            path, bucket = f"histogram.buckets[{index}]", request.histogram.buckets.add()
            set_span(bucket, path, "upper_bound", upper_bound)
            set_integer(bucket, path, "job_count", count)
    elif isinstance(run_times, RunTimePercentiles):
        request.percentiles.SetInParent()
        for name in ("p50", "p90", "mean"):
            set_span(request.percentiles, "percentiles", name, getattr(run_times, name))
    else:
        request.samples.SetInParent()
        for index, run_time in enumerate(run_times):
            path = f"samples.run_time_micros[{index}]"
            micros = to_micros(path, run_time)
            try:
                request.samples.run_time_micros.append(micros)
            except ValueError as error:  # more microseconds than 64 bits hold
                allowed = "must be 1 us to 366 days"
                raise refused(path, run_time, allowed, OUT_OF_RANGE) from error


def _with_lanes(message: pb.PlanLanesResponse | pb.LaneSensitivity) -> LanePerformance | None:
    known = message.HasField("with_lanes")
    return LanePerformance.from_message(message.with_lanes) if known else None
