"""Lanes, in which short jobs do not wait behind long ones."""

from .by_type import JobTypeFigures, LanesByType
from .deadlines import AttemptDeadline, AttemptTimedOut
from .performance import DurationRange, FigureRange, LanePerformance, RatioInterval
from .plans import CutoffFigures, LanePlan, LaneSensitivity, LaneVerdict, RunTimeClass
from .routes import (
    DispatchedJobs,
    FailedJob,
    JobDispatch,
    LanePrediction,
    LaneRoute,
    PendingJob,
    PermanentFailure,
    RouteReason,
)
from .run_times import RunTimeHistogram, RunTimePercentiles, RunTimes
from .sets import (
    Lane,
    LanePolicy,
    LaneSet,
    LaneState,
    LaneWorkload,
    TimeoutAction,
    WorkerSplit,
)

__all__ = [
    "AttemptDeadline",
    "AttemptTimedOut",
    "CutoffFigures",
    "DispatchedJobs",
    "DurationRange",
    "FailedJob",
    "FigureRange",
    "JobDispatch",
    "JobTypeFigures",
    "Lane",
    "LanePerformance",
    "LanePlan",
    "LanePolicy",
    "LanePrediction",
    "LaneRoute",
    "LaneSensitivity",
    "LaneSet",
    "LaneState",
    "LaneVerdict",
    "LaneWorkload",
    "LanesByType",
    "PendingJob",
    "PermanentFailure",
    "RatioInterval",
    "RouteReason",
    "RunTimeClass",
    "RunTimeHistogram",
    "RunTimePercentiles",
    "RunTimes",
    "TimeoutAction",
    "WorkerSplit",
]
