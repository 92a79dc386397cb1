"""How jobs fare, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from ..times import from_duration
from ..v1beta1 import lane_planning_pb2 as pb


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
    """The range of a figure in nine of ten streams of jobs."""

    low: float
    high: float

    @classmethod
    def from_message(cls, message: pb.FigureRange) -> FigureRange:
        """Read it from a message."""
        return cls(message.low, message.high)


@dataclass(frozen=True)
class DurationRange:
    """The range of a span in nine of ten streams of jobs."""

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


def optional_performance(message: Any, name: str) -> LanePerformance | None:
    """Read a field, if it is set."""
    known = message.HasField(name)
    return LanePerformance.from_message(getattr(message, name)) if known else None


def optional_ratio(message: Any, name: str) -> RatioInterval | None:
    """Read a field, if it is set."""
    known = message.HasField(name)
    return RatioInterval.from_message(getattr(message, name)) if known else None
