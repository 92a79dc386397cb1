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
from ..times import from_duration, from_optional_duration, to_micros
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
    #: Not known: the simulated streams of jobs differ too much, because a few long jobs decide.
    #: Lanes may help much, or not at all.
    UNDECIDED = 3


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
class RatioInterval:
    """A ratio of figures with the same streams of jobs: their geometric mean."""

    estimate: float
    #: The ends of its 95 % interval.
    low: float
    high: float

    @classmethod
    def from_message(cls, message: pb.RatioInterval) -> RatioInterval:
        """Read it from a message."""
        return cls(message.estimate, message.low, message.high)


@dataclass(frozen=True)
class FigureRange:
    """What a figure of nine of ten streams of jobs lies within."""

    low: float
    high: float

    @classmethod
    def from_message(cls, message: pb.FigureRange) -> FigureRange:
        """Read it from a message."""
        return cls(message.low, message.high)


@dataclass(frozen=True)
class DurationRange:
    """What a span of nine of ten streams of jobs lies within."""

    low: timedelta
    high: timedelta

    @classmethod
    def from_message(cls, message: pb.DurationRange) -> DurationRange:
        """Read it from a message."""
        return cls(from_duration(message.low), from_duration(message.high))


@dataclass(frozen=True)
class LanePerformance:
    """How jobs fare, simulated: medians of the streams of jobs.

    A wait ends at the first start, a sojourn at the end. Slowdown is bounded: sojourn /
    max(run time, floor), and at least 1.
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
    #: The means, from stream to stream.
    mean_slowdown_range: FigureRange
    mean_sojourn_range: DurationRange

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
            mean_slowdown_range=FigureRange.from_message(message.mean_slowdown_range),
            mean_sojourn_range=DurationRange.from_message(message.mean_sojourn_range),
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
class CutoffFigures:
    """What a cutoff between two lanes does: figures of four streams of jobs."""

    #: The express lane's attempt timeout.
    cutoff: timedelta
    #: Workers of the express lane: the split that is best by formula.
    express_worker_count: int
    #: The mean bounded slowdown; ``None`` if the workers do not keep up.
    mean_slowdown: float | None
    #: The mean time from arrival to end; ``None`` if the workers do not keep up.
    mean_sojourn: timedelta | None
    #: Whether the workers keep up with the arrivals.
    stable: bool
    #: Whether they also keep up with a fifth more, or one queue would then fill 90 % of their
    #: time. Lanes that do not are not planned.
    stable_with_more_arrivals: bool

    @classmethod
    def from_message(cls, message: pb.CutoffFigures) -> CutoffFigures:
        """Read it from a message."""
        return cls(
            cutoff=from_duration(message.cutoff),
            express_worker_count=message.express_worker_count,
            mean_slowdown=message.mean_slowdown if message.HasField("mean_slowdown") else None,
            mean_sojourn=from_optional_duration(message, "mean_sojourn"),
            stable=message.stable,
            stable_with_more_arrivals=message.stable_with_more_arrivals,
        )


@dataclass(frozen=True)
class RunTimeClass:
    """Jobs of about one length, and how they fare: medians of the streams of jobs.

    A wait ends at the first start, a sojourn at the end. Without lanes there is one queue.
    """

    #: The longest run time; ``None`` in the last class.
    max_run_time: timedelta | None
    #: The share of all jobs: 0 to 1.
    job_ratio: float
    #: How many of the samples are in this class; ``None`` if none were given.
    sample_count: int | None
    mean_wait_with_lanes: timedelta
    mean_wait_without_lanes: timedelta
    mean_sojourn_with_lanes: timedelta
    mean_sojourn_without_lanes: timedelta

    @classmethod
    def from_message(cls, message: pb.RunTimeClass) -> RunTimeClass:
        """Read it from a message."""
        return cls(
            max_run_time=from_optional_duration(message, "max_run_time"),
            job_ratio=message.job_ratio,
            sample_count=message.sample_count if message.HasField("sample_count") else None,
            mean_wait_with_lanes=from_duration(message.mean_wait_with_lanes),
            mean_wait_without_lanes=from_duration(message.mean_wait_without_lanes),
            mean_sojourn_with_lanes=from_duration(message.mean_sojourn_with_lanes),
            mean_sojourn_without_lanes=from_duration(message.mean_sojourn_without_lanes),
        )


@dataclass(frozen=True)
class LanePlan:
    """Lanes, or no lanes, and why.

    Everything that is compared runs the same streams of jobs, which arrive independently of one
    another. Figures are medians of the streams.
    """

    #: ``LANES`` if it is certain that they lower the mean slowdown by a twentieth at least, and
    #: the mean slowdown times the fourth root of the mean sojourn, and are stable with a fifth
    #: more arrivals, if one queue then fills less than 90 % of the workers' time.
    verdict: LaneVerdict
    #: The best that were found, with other verdicts too; ``None`` if none keep up. They have the
    #: least mean slowdown times the fourth root of the mean sojourn, so that short jobs come
    #: first, but not at any price for long ones.
    lane_set: LaneSet | None
    #: What they do; ``None`` if there are none.
    with_lanes: LanePerformance | None
    #: What one queue for all workers does, with the same jobs.
    without_lanes: LanePerformance
    #: The same for other rates of arrival, 20 % lower and 20 % higher.
    sensitivities: tuple[LaneSensitivity, ...]
    #: Cutoffs between two lanes, rising, each with its best split of the workers.
    cutoffs: tuple[CutoffFigures, ...]
    #: The lower bound on run times that slowdown was computed with.
    slowdown_floor: timedelta
    mean_run_time: timedelta
    #: The share of the workers' time that the run times fill, from 0 to 1.
    utilization: float
    #: How many streams of jobs were simulated with these lanes, and with one queue.
    stream_count: int
    #: How many jobs each stream has.
    stream_job_count: int
    #: The mean slowdown with lanes over that without; ``None`` without a ``lane_set``.
    slowdown_ratio: RatioInterval | None
    #: The mean sojourn with lanes over that without; ``None`` without a ``lane_set``.
    sojourn_ratio: RatioInterval | None
    #: Jobs by the lane that their run time ends in: who waits less, and who more.
    run_time_classes: tuple[RunTimeClass, ...]
    #: The verdict and what speaks against the lanes, one sentence each.
    messages: tuple[str, ...]

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
            cutoffs=tuple(map(CutoffFigures.from_message, message.cutoffs)),
            slowdown_floor=from_duration(message.slowdown_floor),
            mean_run_time=from_duration(message.mean_run_time),
            utilization=message.utilization,
            stream_count=message.stream_count,
            stream_job_count=message.stream_job_count,
            slowdown_ratio=_ratio(message, "slowdown_ratio"),
            sojourn_ratio=_ratio(message, "sojourn_ratio"),
            run_time_classes=tuple(map(RunTimeClass.from_message, message.run_time_classes)),
            messages=tuple(message.messages),
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


def _ratio(message: pb.PlanLanesResponse, name: str) -> RatioInterval | None:
    known = message.HasField(name)
    return RatioInterval.from_message(getattr(message, name)) if known else None
