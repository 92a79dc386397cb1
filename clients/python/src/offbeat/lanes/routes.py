"""Jobs, and where they run."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from .._fields import add_names, path, set_integer, set_number, set_span, set_text
from .._keywords import positional
from ..errors import refused
from ..times import from_optional_duration
from ..v1 import lanes_pb2 as pb

if TYPE_CHECKING:
    from dataclasses import KW_ONLY


class RouteReason(enum.IntEnum):
    """The reason for the lane of a job."""

    #: Nothing is known about it yet.
    UNTRIED = 1
    #: It has exceeded the timeout of a faster lane.
    DEMOTED = 2
    #: It was predicted to be slow.
    PREDICTED_SLOW = 3
    #: A free worker of a slower lane takes it.
    IDLE_WORKER = 4


@positional(0)
@dataclass(frozen=True)
class LanePrediction:
    """What is known about a job before it runs: exactly one of these.

    slow_probability: the probability that the job exceeds the express lane's timeout: 0 to 1.
    run_time: how long the job will run. If that is longer than the express lane's timeout, the job
        is slow.
    """

    if TYPE_CHECKING:
        _: KW_ONLY
    slow_probability: float | None = None
    run_time: timedelta | None = None

    def set_in(self, message: pb.LanePrediction, at: str) -> None:
        """Set the fields of a message; ``at`` is its place in the request."""
        if self.slow_probability is not None and self.run_time is not None:
            allowed = "must have slow_probability or run_time, not both"
            raise refused(path(at, "prediction"), self, allowed, "ERROR_REASON_CONTRADICTORY")
        message.SetInParent()  # without either, the sidecar says what is missing
        if self.slow_probability is not None:
            set_number(message, at, "slow_probability", self.slow_probability)
        set_span(message, at, "run_time", self.run_time)


@positional(2)
@dataclass(frozen=True)
class PendingJob:
    """A waiting job.

    id: returned unchanged.
    timed_out_lane_names: the lanes whose timeout it has exceeded, in any order. An attempt that
        failed otherwise does not count, and is tried again in the same lane.
    prediction: what is known about it. Untried jobs that are more likely to be slow come later.
    """

    id: str
    timed_out_lane_names: Sequence[str] = ()
    if TYPE_CHECKING:
        _: KW_ONLY
    prediction: LanePrediction | None = None


@dataclass(frozen=True)
class LaneRoute:
    """Where a job runs."""

    lane_name: str
    #: One more than the number of lanes whose timeout the job has exceeded.
    attempt: int
    #: How long the attempt may run; ``None`` without a timeout. See ``AttemptDeadline``.
    attempt_timeout: timedelta | None
    #: The lane that follows the timeout; ``None`` if the job then fails permanently.
    next_lane_name: str | None
    reason: RouteReason
    #: Whether the job continues where it was suspended.
    resumes: bool
    #: Who decided, as in :class:`~offbeat.Assignment`.
    decided_by: str = field(default="sidecar", compare=False)

    def celery_options(self, *, grace: timedelta = timedelta(seconds=10)) -> dict[str, float]:
        """Return the time limits of the attempt, for Celery's ``apply_async``.

        At the attempt timeout, Celery raises ``SoftTimeLimitExceeded`` in the task. If the task
        has not ended ``grace`` later, Celery kills its process. Without a timeout, there are no
        time limits::

            task.apply_async(args, queue=route.lane_name, **route.celery_options())
        """
        if not isinstance(grace, timedelta) or grace <= timedelta(0):
            raise refused("grace", grace, "must be a timedelta above 0 s")
        if self.attempt_timeout is None:
            return {}
        return {
            "soft_time_limit": self.attempt_timeout.total_seconds(),
            "time_limit": (self.attempt_timeout + grace).total_seconds(),
        }

    @classmethod
    def from_message(cls, message: pb.LaneRoute) -> LaneRoute:
        """Read it from a message."""
        return cls(
            lane_name=message.lane_name,
            attempt=message.attempt,
            attempt_timeout=from_optional_duration(message, "attempt_timeout"),
            next_lane_name=message.next_lane_name or None,
            reason=RouteReason(message.reason),
            resumes=message.resumes,
        )


@dataclass(frozen=True)
class PermanentFailure:
    """A job is not tried again."""

    #: The lane whose timeout the job has exceeded: no slower lane has workers.
    last_lane_name: str
    #: The timeout that the job exceeded there.
    exceeded_timeout: timedelta | None
    #: The same in a sentence.
    message: str
    #: Who decided, as in :class:`~offbeat.Assignment`.
    decided_by: str = field(default="sidecar", compare=False)

    @classmethod
    def from_message(cls, message: pb.PermanentFailure) -> PermanentFailure:
        """Read it from a message."""
        timeout = from_optional_duration(message, "exceeded_timeout")
        return cls(message.last_lane_name, timeout, message.message)


@dataclass(frozen=True)
class JobDispatch:
    """A job on a worker."""

    #: Index of the job in ``jobs``, from 0.
    job_index: int
    job_id: str
    route: LaneRoute

    @classmethod
    def from_message(cls, message: pb.JobDispatch) -> JobDispatch:
        """Read it from a message."""
        return cls(message.job_index, message.job_id, LaneRoute.from_message(message.route))


@dataclass(frozen=True)
class FailedJob:
    """A job that is not tried again."""

    #: Index of the job in ``jobs``, from 0.
    job_index: int
    job_id: str
    failure: PermanentFailure

    @classmethod
    def from_message(cls, message: pb.FailedJob) -> FailedJob:
        """Read it from a message."""
        failure = PermanentFailure.from_message(message.failure)
        return cls(message.job_index, message.job_id, failure)


@dataclass(frozen=True)
class DispatchedJobs:
    """Which job runs where."""

    #: In the order of choice.
    dispatches: tuple[JobDispatch, ...]
    #: Jobs that are not tried again, in the order of ``jobs``.
    failures: tuple[FailedJob, ...]

    @classmethod
    def from_message(cls, message: pb.DispatchJobsResponse) -> DispatchedJobs:
        """Read it from a message."""
        return cls(
            dispatches=tuple(map(JobDispatch.from_message, message.dispatches)),
            failures=tuple(map(FailedJob.from_message, message.failures)),
        )


def set_history(
    message: pb.RouteJobRequest | pb.PendingJob,
    at: str,
    timed_out_lane_names: Iterable[str],
    prediction: LanePrediction | None,
) -> None:
    """Set what is known about a job."""
    add_names(message, at, "timed_out_lane_names", timed_out_lane_names)
    if prediction is not None:
        prediction.set_in(message.prediction, path(at, "prediction"))


def add_free_workers(request: pb.DispatchJobsRequest, free_workers: Mapping[str, int]) -> None:
    """Add the free workers of each lane."""
    if not isinstance(free_workers, Mapping):
        allowed = 'must be the free workers of lanes, such as {"express": 1}'
        raise refused("free_workers", free_workers, allowed)
    for index, (lane_name, worker_count) in enumerate(free_workers.items()):
        at, message = f"free_workers[{index}]", request.free_workers.add()
        set_text(message, at, "lane_name", lane_name)
        set_integer(message, at, "worker_count", worker_count)


def add_jobs(request: pb.DispatchJobsRequest, jobs: Iterable[PendingJob]) -> None:
    """Add jobs to a request."""
    for index, job in enumerate(jobs):
        at, message = f"jobs[{index}]", request.jobs.add()
        set_text(message, at, "id", job.id)
        set_history(message, at, job.timed_out_lane_names, job.prediction)
