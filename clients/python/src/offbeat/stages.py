"""Stages of a pipeline, and the workers that each of them gets."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from ._fields import set_enum, set_flag, set_integer, set_span, set_text
from ._keywords import positional
from ._questions import Question
from .times import from_duration, from_micros, to_duration
from .v1 import stages_pb2 as pb

if TYPE_CHECKING:
    from dataclasses import KW_ONLY


class AllocationRule(enum.IntEnum):
    """The rule by which workers are allocated."""

    #: The sum of workload / (workers + 1) over the stages is as small as possible.
    MINIMUM_SCORE = 1
    #: Highest averages, the method of D'Hondt; favours large stages more.
    D_HONDT = 2


class StageWeighting(enum.IntEnum):
    """How the position of a stage in the pipeline counts."""

    #: The position does not count: every workload counts once.
    EVEN = 1
    #: The workload of the i-th stage, from 1, counts i times: jobs that are nearly through come
    #: first.
    LATENCY = 2


class StageChoiceReason(enum.IntEnum):
    """The reason for the next stage of a worker."""

    #: The worker is worth most there.
    WORTH_MOST = 1
    #: The stage has fewer workers than its minimum, or would have without this worker.
    BELOW_MINIMUM = 2
    #: The worker would be worth more elsewhere, but not by ``min_gain_percent``.
    GAIN_TOO_SMALL = 3
    #: No stage may have the worker: all that are not done have their maximum.
    ALL_FULL = 4


@positional(3)
@dataclass(frozen=True)
class Stage:
    """A stage of a pipeline, as it is now.

    name: unique in the call.
    backlog_count: jobs that wait; jobs that run do not count.
    mean_run_time: how long a job takes on average. Default: the mean of the stages that have
        one; if none has, 1 s.
    run_times: instead of ``mean_run_time``: how long some jobs took.
    done: no more work will come; the stage keeps its busy workers and gets no others.
    min_worker_count, max_worker_count: the fewest and the most workers. A stage that is done
        has no minimum, and busy workers above the maximum stay.
    current_worker_count: how many workers the stage has, busy ones included.
    busy_worker_count: how many of these run a job, and so stay.
    arrival_count, arrival_period: how many jobs arrive on average in every period (default:
        1 s). Default: as many as at the stage before; none at the first stage, and if the stage
        is done. They decide ``drain_time`` and ``min_stable_worker_count`` of the answer, not how
        many workers a stage gets.
    """

    name: str
    backlog_count: int = 0
    mean_run_time: timedelta | None = None
    if TYPE_CHECKING:
        _: KW_ONLY
    run_times: Sequence[timedelta] = ()
    done: bool = False
    min_worker_count: int = 0
    max_worker_count: int | None = None
    current_worker_count: int = 0
    busy_worker_count: int = 0
    arrival_count: int | None = None
    arrival_period: timedelta | None = None

    def to_message(self, path: str) -> pb.Stage:
        """Turn the stage into its message; ``path`` is its place in the request."""
        message = pb.Stage()
        set_text(message, path, "name", self.name)
        set_flag(message, path, "done", self.done)
        set_span(message, path, "mean_run_time", self.mean_run_time)
        set_span(message, path, "arrival_period", self.arrival_period)
        message.run_times.extend(
            [
                to_duration(f"{path}.run_times[{index}]", time)
                for index, time in enumerate(self.run_times)
            ]
        )
        for name in _COUNTS:
            count = getattr(self, name)
            if count is not None:
                set_integer(message, path, name, count)
        return message


_COUNTS = (
    "backlog_count",
    "min_worker_count",
    "max_worker_count",
    "current_worker_count",
    "busy_worker_count",
    "arrival_count",
)


@dataclass(frozen=True)
class StageAllocation:
    """The workers of a stage, and why."""

    stage_name: str
    worker_count: int
    #: The backlog times the mean run time.
    workload: timedelta
    #: How many times the workload counts: the position of the stage with
    #: ``StageWeighting.LATENCY``, or 1.
    weight: int
    #: The mean run time that was used for the workload.
    mean_run_time: timedelta
    #: Whether ``mean_run_time`` is the mean of other stages, or 1 s, because the stage has none.
    run_time_estimated: bool
    #: weight · workload / (worker_count + 1), in microseconds; for display only.
    score: float
    #: What one worker more would be worth by the rule, in microseconds; for display only.
    next_quotient: float
    #: The time in which the workers do the backlog and the jobs that arrive meanwhile; ``None`` if
    #: the backlog never drains.
    drain_time: timedelta | None
    #: The fewest workers that keep up with the arrivals; 0 if no job arrives.
    min_stable_worker_count: int

    @property
    def grows(self) -> bool:
        """Whether the workers do not keep up with the arrivals, so that the backlog grows."""
        return self.worker_count < self.min_stable_worker_count

    @classmethod
    def from_message(cls, message: pb.StageAllocation) -> StageAllocation:
        """Read it from a message."""
        return cls(
            stage_name=message.stage_name,
            worker_count=message.worker_count,
            workload=from_micros(message.workload_micros),
            weight=message.weight,
            mean_run_time=from_duration(message.mean_run_time),
            run_time_estimated=message.run_time_estimated,
            score=message.score,
            next_quotient=message.next_quotient,
            drain_time=(
                from_micros(message.drain_time_micros)
                if message.HasField("drain_time_micros")
                else None
            ),
            min_stable_worker_count=message.min_stable_worker_count,
        )


@dataclass(frozen=True)
class WorkerMove:
    """Workers that change their stage."""

    #: The stage that they leave; ``None`` for new workers.
    from_stage_name: str | None
    #: The stage that they go to; ``None`` for workers that are no longer needed.
    to_stage_name: str | None
    worker_count: int

    @classmethod
    def from_message(cls, message: pb.WorkerMove) -> WorkerMove:
        """Read it from a message."""
        from_stage_name, to_stage_name = message.from_stage_name, message.to_stage_name
        return cls(from_stage_name or None, to_stage_name or None, message.worker_count)


@dataclass(frozen=True)
class StarvedStage:
    """A stage with waiting jobs and no worker, although it may have one."""

    stage_name: str
    backlog_count: int
    #: By how many microseconds the score rises if one worker moves there from the stage where it
    #: is worth least; ``None`` if no worker may move.
    cost: float | None

    @classmethod
    def from_message(cls, message: pb.StarvedStage) -> StarvedStage:
        """Read it from a message."""
        cost = message.cost if message.HasField("cost") else None
        return cls(message.stage_name, message.backlog_count, cost)


@dataclass(frozen=True)
class WorkerAllocation:
    """The workers of each stage."""

    #: One for each stage, in the order of the call.
    stages: tuple[StageAllocation, ...]
    #: From the current allocation to this one, with as few moved workers as possible.
    moves: tuple[WorkerMove, ...]
    #: Workers that no stage may have.
    unassigned_worker_count: int
    #: The sum of the scores of all stages.
    score: float
    #: The same sum if only forced moves happened.
    current_score: float
    #: Whether a better allocation was rejected because of ``min_improvement_percent``.
    improvement_too_small: bool
    #: Stages with waiting jobs and no worker, although they may have one.
    starved_stages: tuple[StarvedStage, ...]
    #: By how many microseconds the score would rise with ``prevent_starvation``; 0 if it is set,
    #: or if no stage is starved.
    starvation_prevention_cost: float
    #: The workers that keep up with all arrivals; with fewer, some backlog grows without end.
    min_stable_worker_count: int

    @property
    def worker_counts(self) -> dict[str, int]:
        """The workers of each stage, by its name."""
        return {stage.stage_name: stage.worker_count for stage in self.stages}

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
            starved_stages=tuple(map(StarvedStage.from_message, message.starved_stages)),
            starvation_prevention_cost=message.starvation_prevention_cost,
            min_stable_worker_count=message.min_stable_worker_count,
        )


@dataclass(frozen=True)
class StageChoice:
    """The next stage of a worker, and the reason."""

    #: The stage; ``None`` if no stage may have the worker.
    stage_name: str | None
    #: Whether it is not the current stage.
    changes_stage: bool
    reason: StageChoiceReason
    #: What the worker is worth in that stage by the rule, in microseconds; for display only.
    quotient: float
    #: What it is worth in its current stage; 0 for a new worker, and if it may not stay.
    current_quotient: float

    @classmethod
    def from_message(cls, message: pb.StageChoice) -> StageChoice:
        """Read it from a message."""
        return cls(
            stage_name=message.stage_name or None,
            changes_stage=message.changes_stage,
            reason=StageChoiceReason(message.reason),
            quotient=message.quotient,
            current_quotient=message.current_quotient,
        )


def allocate_workers(
    stages: Iterable[Stage],
    worker_count: int,
    rule: AllocationRule | None,
    weighting: StageWeighting | None,
    max_move_count: int | None,
    min_improvement_percent: int,
    prevent_starvation: bool,
) -> Question[WorkerAllocation | None]:
    """Ask how many workers each stage gets."""
    request = pb.AllocateWorkersRequest()
    _set_shared(request, stages, rule, weighting)
    set_integer(request, "", "min_improvement_percent", min_improvement_percent)
    set_flag(request, "", "prevent_starvation", prevent_starvation)
    set_integer(request, "", "worker_count", worker_count)
    if max_move_count is not None:
        set_integer(request, "", "max_move_count", max_move_count)
    response: pb.AllocateWorkersResponse = yield "AllocateWorkers", request
    if response.HasField("all_stages_done"):
        return None
    return WorkerAllocation.from_message(response.allocation)


def choose_stage(
    stages: Iterable[Stage],
    current_stage_name: str | None,
    rule: AllocationRule | None,
    weighting: StageWeighting | None,
    min_gain_percent: int,
    prevent_starvation: bool,
) -> Question[StageChoice | None]:
    """Ask for the next stage of one worker."""
    request = pb.ChooseStageRequest()
    _set_shared(request, stages, rule, weighting)
    set_integer(request, "", "min_gain_percent", min_gain_percent)
    set_flag(request, "", "prevent_starvation", prevent_starvation)
    if current_stage_name is not None:
        set_text(request, "", "current_stage_name", current_stage_name)
    response: pb.ChooseStageResponse = yield "ChooseStage", request
    if response.HasField("all_stages_done"):
        return None
    return StageChoice.from_message(response.choice)


def _set_shared(
    request: pb.AllocateWorkersRequest | pb.ChooseStageRequest,
    stages: Iterable[Stage],
    rule: AllocationRule | None,
    weighting: StageWeighting | None,
) -> None:
    """Set the fields that both requests have."""
    request.stages.extend(
        [stage.to_message(f"stages[{index}]") for index, stage in enumerate(stages)]
    )
    if rule is not None:
        set_enum(request, "", "rule", rule, AllocationRule)
    if weighting is not None:
        set_enum(request, "", "weighting", weighting, StageWeighting)
