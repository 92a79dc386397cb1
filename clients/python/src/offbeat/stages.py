"""Stages of a pipeline, and the workers that each of them gets."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from ._fields import set_enum, set_flag, set_integer, set_span, set_text
from ._questions import Question
from .times import from_duration, from_micros, to_duration
from .v1 import stages_pb2 as pb


class AllocationRule(enum.IntEnum):
    """By which rule workers are shared out."""

    #: The sum of workload / (workers + 1) over the stages is the smallest there is.
    MINIMUM_SCORE = 1
    #: Highest averages, the method of D'Hondt; kinder to large stages.
    D_HONDT = 2


class StageWeighting(enum.IntEnum):
    """What a stage's place in the pipeline is worth."""

    #: Nothing.
    EVEN = 1
    #: The workload of the i-th stage counts i times: what is nearly through goes first.
    LATENCY = 2


class NextStageReason(enum.IntEnum):
    """Why a worker goes where it goes."""

    #: It is worth most there.
    WORTH_MOST = 1
    #: That stage has fewer workers than its minimum, or would have without it.
    BELOW_MINIMUM = 2
    #: It would be worth more elsewhere, but not by ``minimum_improvement_percent``.
    IMPROVEMENT_TOO_SMALL = 3
    #: No stage may have it: all that are not done have their maximum.
    ALL_FULL = 4


@dataclass(frozen=True)
class Stage:
    """A stage of a pipeline, as it is now.

    name: another for each stage of a call.
    backlog_count: jobs that wait; those that run do not count.
    mean_service_time: how long a job takes on average. Stages that were never measured
        take the mean of those that were; if none was, 1 s.
    service_times: instead of ``mean_service_time``: how long some jobs took.
    done: no more work will come; it gets no workers but those that are busy.
    minimum_worker_count, maximum_worker_count: it gets no fewer, and no more.
    current_worker_count: how many workers it has, busy ones included.
    busy_worker_count: how many of those are in the middle of a job, and so stay.
    """

    name: str
    backlog_count: int = 0
    mean_service_time: timedelta | None = None
    service_times: Sequence[timedelta] = ()
    done: bool = False
    minimum_worker_count: int = 0
    maximum_worker_count: int | None = None
    current_worker_count: int = 0
    busy_worker_count: int = 0

    def to_message(self, path: str) -> pb.Stage:
        """Turn the stage into its message; ``path`` is its place in the request."""
        message = pb.Stage()
        set_text(message, path, "name", self.name)
        set_flag(message, path, "done", self.done)
        set_span(message, path, "mean_service_time", self.mean_service_time)
        message.service_times.extend(
            [
                to_duration(f"{path}.service_times[{index}]", time)
                for index, time in enumerate(self.service_times)
            ]
        )
        for name in _COUNTS:
            count = getattr(self, name)
            if count is not None:
                set_integer(message, path, name, count)
        return message


_COUNTS = (
    "backlog_count",
    "minimum_worker_count",
    "maximum_worker_count",
    "current_worker_count",
    "busy_worker_count",
)


@dataclass(frozen=True)
class StageAllocation:
    """What a stage gets, and why."""

    name: str
    worker_count: int
    #: The backlog times the mean service time.
    workload: timedelta
    #: How many times the workload counts: its place with ``StageWeighting.LATENCY``, or 1.
    weight: int
    #: What was reckoned with.
    mean_service_time: timedelta
    #: Whether that is the mean of the other stages, for want of its own.
    service_time_is_estimated: bool
    #: weight · workload / (worker_count + 1), in microseconds; to be read.
    score: float
    #: What one worker more would be worth by the rule, in microseconds; to be read.
    next_quotient: float

    @classmethod
    def from_message(cls, message: pb.StageAllocation) -> StageAllocation:
        """Read it from a message."""
        return cls(
            name=message.name,
            worker_count=message.worker_count,
            workload=from_micros(message.workload_micros),
            weight=message.weight,
            mean_service_time=from_duration(message.mean_service_time),
            service_time_is_estimated=message.service_time_is_estimated,
            score=message.score,
            next_quotient=message.next_quotient,
        )


@dataclass(frozen=True)
class WorkerMove:
    """Workers who change their stage."""

    #: The stage that they leave; ``None`` for new ones.
    from_stage: str | None
    #: The stage that they go to; ``None`` for those who are not needed any more.
    to_stage: str | None
    worker_count: int

    @classmethod
    def from_message(cls, message: pb.WorkerMove) -> WorkerMove:
        """Read it from a message."""
        return cls(message.from_stage or None, message.to_stage or None, message.worker_count)


@dataclass(frozen=True)
class WorkerAllocation:
    """Who gets how many workers."""

    #: One for each stage, in the order of the question.
    stages: tuple[StageAllocation, ...]
    #: From the current allocation to this one, with as few workers moved as can be.
    moves: tuple[WorkerMove, ...]
    #: Workers whom no stage may have.
    unassigned_worker_count: int
    #: The sum of the scores of all stages.
    score: float
    #: What the score would be if nobody moved but for what is forced.
    current_score: float
    #: Whether a better allocation was turned down for ``minimum_improvement_percent``.
    improvement_too_small: bool

    @property
    def worker_counts(self) -> dict[str, int]:
        """The workers of each stage, by its name."""
        return {stage.name: stage.worker_count for stage in self.stages}

    @classmethod
    def from_message(cls, message: pb.WorkerAllocation) -> WorkerAllocation:
        """Read it from a message."""
        return cls(
            stages=tuple(map(StageAllocation.from_message, message.stages)),
            moves=tuple(map(WorkerMove.from_message, message.moves)),
            unassigned_worker_count=message.unassigned_worker_count,
            score=message.score,
            current_score=message.current_score,
            improvement_too_small=message.improvement_too_small,
        )


@dataclass(frozen=True)
class NextStage:
    """Where a worker goes, and why."""

    #: The stage; ``None`` if no stage may have it.
    stage: str | None
    #: Whether it is another than its current one.
    moves: bool
    reason: NextStageReason
    #: What the worker is worth in that stage by the rule, in microseconds; to be read.
    quotient: float
    #: What it is worth in its current stage; 0 for a new worker, and where it may not stay.
    current_quotient: float

    @classmethod
    def from_message(cls, message: pb.NextStage) -> NextStage:
        """Read it from a message."""
        return cls(
            stage=message.stage or None,
            moves=message.moves,
            reason=NextStageReason(message.reason),
            quotient=message.quotient,
            current_quotient=message.current_quotient,
        )


def allocate_workers(
    stages: Iterable[Stage],
    worker_count: int,
    rule: AllocationRule | None,
    weighting: StageWeighting | None,
    max_moves: int | None,
    minimum_improvement_percent: int,
) -> Question[WorkerAllocation | None]:
    """Ask who gets how many workers."""
    request = pb.AllocateWorkersRequest()
    _set_shared(request, stages, rule, weighting, minimum_improvement_percent)
    set_integer(request, "", "worker_count", worker_count)
    if max_moves is not None:
        set_integer(request, "", "max_moves", max_moves)
    response: pb.AllocateWorkersResponse = yield "AllocateWorkers", request
    if response.HasField("all_stages_done"):
        return None
    return WorkerAllocation.from_message(response.allocation)


def next_stage(
    stages: Iterable[Stage],
    current_stage: str | None,
    rule: AllocationRule | None,
    weighting: StageWeighting | None,
    minimum_improvement_percent: int,
) -> Question[NextStage | None]:
    """Ask where one worker goes."""
    request = pb.NextStageRequest()
    _set_shared(request, stages, rule, weighting, minimum_improvement_percent)
    if current_stage is not None:
        set_text(request, "", "current_stage", current_stage)
    response: pb.NextStageResponse = yield "NextStage", request
    if response.HasField("all_stages_done"):
        return None
    return NextStage.from_message(response.next)


def _set_shared(
    request: pb.AllocateWorkersRequest | pb.NextStageRequest,
    stages: Iterable[Stage],
    rule: AllocationRule | None,
    weighting: StageWeighting | None,
    minimum_improvement_percent: int,
) -> None:
    """Set what both questions have."""
    request.stages.extend(
        [stage.to_message(f"stages[{index}]") for index, stage in enumerate(stages)]
    )
    if rule is not None:
        set_enum(request, "", "rule", rule, AllocationRule)
    if weighting is not None:
        set_enum(request, "", "weighting", weighting, StageWeighting)
    set_integer(request, "", "minimum_improvement_percent", minimum_improvement_percent)
