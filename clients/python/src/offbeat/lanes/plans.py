"""Plans: which lanes there should be, if any."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import timedelta

from ..times import from_duration, from_optional_duration
from ..v1beta1 import lane_planning_pb2 as pb
from .by_type import JobTypeFigures, LanesByType
from .performance import (
    FigureRange,
    LanePerformance,
    RatioInterval,
    optional_performance,
    optional_ratio,
)
from .sets import LaneSet


class LaneVerdict(enum.IntEnum):
    """Lanes, or no lanes."""

    #: Lanes make it better.
    LANES = 1
    #: Lanes make it no better, or worse: use one queue for all workers.
    NO_LANES = 2
    #: Not known: the simulated streams of jobs differ too much, because a few long jobs decide.
    #: Lanes may help much, or not at all.
    UNDECIDED = 3
    #: Lanes by type make it better, and lanes with timeouts are not clearly better still. Only if
    #: the types of jobs were given.
    LANES_BY_TYPE = 4


@dataclass(frozen=True)
class LaneSensitivity:
    """How jobs fare at another arrival rate."""

    #: Jobs per second.
    arrival_rate: float
    #: With the ``lane_set`` of the plan; ``None`` if there is none.
    with_lanes: LanePerformance | None
    #: With one queue for all workers.
    without_lanes: LanePerformance
    #: With the ``lanes_by_type`` of the plan; ``None`` if there are none.
    by_type: LanePerformance | None

    @classmethod
    def from_message(cls, message: pb.LaneSensitivity) -> LaneSensitivity:
        """Read it from a message."""
        return cls(
            arrival_rate=message.arrival_rate,
            with_lanes=optional_performance(message, "with_lanes"),
            without_lanes=LanePerformance.from_message(message.without_lanes),
            by_type=optional_performance(message, "by_type"),
        )


@dataclass(frozen=True)
class CutoffFigures:
    """Figures of a cutoff between two lanes, from four streams of jobs."""

    #: The express lane's attempt timeout.
    cutoff: timedelta
    #: Workers of the express lane, in the split that is best by formula.
    express_worker_count: int
    #: The mean bounded slowdown; ``None`` if the workers do not keep up.
    mean_slowdown: float | None
    #: The mean time from arrival to end; ``None`` if the workers do not keep up.
    mean_sojourn: timedelta | None
    #: Whether the workers keep up with the arrivals.
    stable: bool
    #: Whether they also keep up with a fifth more arrivals, or one queue would then fill 90 % of
    #: their time. Other lanes are not planned.
    stable_with_more_arrivals: bool
    #: How the mean slowdown varies between the streams; ``None`` if the workers do not keep up.
    mean_slowdown_range: FigureRange | None

    @classmethod
    def from_message(cls, message: pb.CutoffFigures) -> CutoffFigures:
        """Read it from a message."""
        known = message.HasField("mean_slowdown_range")
        slowdowns = FigureRange.from_message(message.mean_slowdown_range) if known else None
        return cls(
            cutoff=from_duration(message.cutoff),
            express_worker_count=message.express_worker_count,
            mean_slowdown=message.mean_slowdown if message.HasField("mean_slowdown") else None,
            mean_sojourn=from_optional_duration(message, "mean_sojourn"),
            stable=message.stable,
            stable_with_more_arrivals=message.stable_with_more_arrivals,
            mean_slowdown_range=slowdowns,
        )


@dataclass(frozen=True)
class RunTimeClass:
    """Jobs of about the same run time, and how they fare: medians of the streams of jobs.

    A wait ends at the job's first start, a sojourn at its end. Without lanes there is one queue.
    """

    #: The longest run time; ``None`` in the last class.
    max_run_time: timedelta | None
    #: The class's share of all jobs: 0 to 1.
    job_ratio: float
    #: How many of the samples are in this class; ``None`` if no samples were given.
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

    #: ``LANES`` if lanes certainly lower the mean slowdown by at least a twentieth, certainly lower
    #: the mean slowdown times the fourth root of the mean sojourn, and are stable with a fifth
    #: more arrivals (if one queue then fills less than 90 % of the workers' time).
    #: ``LANES_BY_TYPE`` if the same holds for lanes by type, and lanes with timeouts are not
    #: clearly better.
    verdict: LaneVerdict
    #: The best lanes with timeouts that were found, also with other verdicts; ``None`` if none keep
    #: up. They have the least mean slowdown times the fourth root of the mean sojourn, so that
    #: short jobs come first, but not at any price for long ones.
    lane_set: LaneSet | None
    #: How jobs fare with ``lane_set``; ``None`` if there is none.
    with_lanes: LanePerformance | None
    #: How the same jobs fare with one queue for all workers.
    without_lanes: LanePerformance
    #: How jobs fare with arrival rates that are 20 % lower and 20 % higher.
    sensitivities: tuple[LaneSensitivity, ...]
    #: Cutoffs between two lanes, rising, each with its best split of the workers.
    cutoffs: tuple[CutoffFigures, ...]
    #: The lower bound on run times that was used to compute slowdown.
    slowdown_floor: timedelta
    mean_run_time: timedelta
    #: The share of the workers' time that the run times fill: 0 to 1.
    utilization: float
    #: How many streams of jobs were simulated with ``lane_set``, and with one queue.
    stream_count: int
    #: How many jobs each stream has.
    stream_job_count: int
    #: The mean slowdown with lanes divided by that without; ``None`` without a ``lane_set``.
    slowdown_ratio: RatioInterval | None
    #: The mean sojourn with lanes divided by that without; ``None`` without a ``lane_set``.
    sojourn_ratio: RatioInterval | None
    #: Jobs by the lane in which their run time ends: which of them wait less, and which longer.
    run_time_classes: tuple[RunTimeClass, ...]
    #: The verdict and the arguments against lanes, one sentence each.
    messages: tuple[str, ...]
    #: The best lanes by type that were found, also with other verdicts; ``None`` without types, or
    #: if none keep up.
    lanes_by_type: LanesByType | None
    #: The types of job, those with the longest mean run times first.
    job_types: tuple[JobTypeFigures, ...]

    @classmethod
    def from_message(cls, message: pb.PlanLanesResponse) -> LanePlan:
        """Read it from a message."""
        has_lanes = message.HasField("lane_set")
        has_types = message.HasField("lanes_by_type")
        return cls(
            verdict=LaneVerdict(message.verdict),
            lane_set=LaneSet.from_message(message.lane_set) if has_lanes else None,
            with_lanes=optional_performance(message, "with_lanes"),
            without_lanes=LanePerformance.from_message(message.without_lanes),
            sensitivities=tuple(map(LaneSensitivity.from_message, message.sensitivities)),
            cutoffs=tuple(map(CutoffFigures.from_message, message.cutoffs)),
            slowdown_floor=from_duration(message.slowdown_floor),
            mean_run_time=from_duration(message.mean_run_time),
            utilization=message.utilization,
            stream_count=message.stream_count,
            stream_job_count=message.stream_job_count,
            slowdown_ratio=optional_ratio(message, "slowdown_ratio"),
            sojourn_ratio=optional_ratio(message, "sojourn_ratio"),
            run_time_classes=tuple(map(RunTimeClass.from_message, message.run_time_classes)),
            messages=tuple(message.messages),
            lanes_by_type=LanesByType.from_message(message.lanes_by_type) if has_types else None,
            job_types=tuple(map(JobTypeFigures.from_message, message.job_types)),
        )
