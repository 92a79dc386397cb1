"""How jobs fare in simulated lanes, with intervals that say how certain that is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from ..times import from_duration
from ..v1beta1 import lane_planning_pb2 as pb


@dataclass(frozen=True)
class RatioInterval:
    """A ratio of two figures over the same streams of jobs: the geometric mean of the streams."""

    estimate: float
    #: The lower end of its 95 % interval; ``high`` is the upper end.
    low: float
    high: float

    @classmethod
    def from_message(cls, message: pb.RatioInterval) -> RatioInterval:
        """Read it from a message."""
        return cls(message.estimate, message.low, message.high)


@dataclass(frozen=True)
class FigureRange:
    """The range in which a figure lies in nine of ten streams of jobs."""

    low: float
    high: float

    @classmethod
    def from_message(cls, message: pb.FigureRange) -> FigureRange:
        """Read it from a message."""
        return cls(message.low, message.high)


@dataclass(frozen=True)
class DurationRange:
    """The range in which a span lies in nine of ten streams of jobs."""

    low: timedelta
    high: timedelta

    @classmethod
    def from_message(cls, message: pb.DurationRange) -> DurationRange:
        """Read it from a message."""
        return cls(from_duration(message.low), from_duration(message.high))


@dataclass(frozen=True)
class LanePerformance:
    """How jobs fare, simulated: medians of the streams of jobs.

    A wait ends at the job's first start, a sojourn at its end. Slowdown is bounded: sojourn /
    max(run time, floor), and at least 1.
    """

    mean_slowdown: float
    p95_slowdown: float
    mean_wait: timedelta
    p95_wait: timedelta
    mean_sojourn: timedelta
    p95_sojourn: timedelta
    #: Share of the time spent on jobs that is lost because attempts are aborted: 0 to 1.
    wasted_ratio: float
    #: Whether the workers keep up with the arrivals. If not, all other figures mean nothing.
    stable: bool
    #: How the mean slowdown varies between the streams.
    mean_slowdown_range: FigureRange
    #: How the mean sojourn varies between the streams.
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


def optional_performance(message: Any, name: str) -> LanePerformance | None:
    """Read a field, if it is set."""
    known = message.HasField(name)
    return LanePerformance.from_message(getattr(message, name)) if known else None


def optional_ratio(message: Any, name: str) -> RatioInterval | None:
    """Read a field, if it is set."""
    known = message.HasField(name)
    return RatioInterval.from_message(getattr(message, name)) if known else None
