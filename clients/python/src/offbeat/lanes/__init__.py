"""Lanes: short jobs do not wait behind long ones."""

from .deadlines import AttemptDeadline, AttemptTimedOut
from .plans import (
    CutoffSlowdown,
    LanePerformance,
    LanePlan,
    LaneSensitivity,
    LaneVerdict,
    RunTimeHistogram,
    RunTimePercentiles,
    RunTimes,
)
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
    "CutoffSlowdown",
    "DispatchedJobs",
    "FailedJob",
    "JobDispatch",
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
    "PendingJob",
    "PermanentFailure",
    "RouteReason",
    "RunTimeHistogram",
    "RunTimePercentiles",
    "RunTimes",
    "TimeoutAction",
    "WorkerSplit",
]
