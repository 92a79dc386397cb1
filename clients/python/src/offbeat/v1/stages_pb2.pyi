from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

ALLOCATION_RULE_D_HONDT: AllocationRule
ALLOCATION_RULE_MINIMUM_SCORE: AllocationRule
ALLOCATION_RULE_UNSPECIFIED: AllocationRule
DESCRIPTOR: _descriptor.FileDescriptor
STAGE_CHOICE_REASON_ALL_FULL: StageChoiceReason
STAGE_CHOICE_REASON_BELOW_MINIMUM: StageChoiceReason
STAGE_CHOICE_REASON_GAIN_TOO_SMALL: StageChoiceReason
STAGE_CHOICE_REASON_UNSPECIFIED: StageChoiceReason
STAGE_CHOICE_REASON_WORTH_MOST: StageChoiceReason
STAGE_WEIGHTING_EVEN: StageWeighting
STAGE_WEIGHTING_LATENCY: StageWeighting
STAGE_WEIGHTING_UNSPECIFIED: StageWeighting

class AllStagesDone(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class AllocateWorkersRequest(_message.Message):
    __slots__ = ["max_move_count", "min_improvement_percent", "prevent_starvation", "rule", "stages", "weighting", "worker_count"]
    MAX_MOVE_COUNT_FIELD_NUMBER: _ClassVar[int]
    MIN_IMPROVEMENT_PERCENT_FIELD_NUMBER: _ClassVar[int]
    PREVENT_STARVATION_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    STAGES_FIELD_NUMBER: _ClassVar[int]
    WEIGHTING_FIELD_NUMBER: _ClassVar[int]
    WORKER_COUNT_FIELD_NUMBER: _ClassVar[int]
    max_move_count: int
    min_improvement_percent: int
    prevent_starvation: bool
    rule: AllocationRule
    stages: _containers.RepeatedCompositeFieldContainer[Stage]
    weighting: StageWeighting
    worker_count: int
    def __init__(self, stages: _Optional[_Iterable[_Union[Stage, _Mapping]]] = ..., worker_count: _Optional[int] = ..., rule: _Optional[_Union[AllocationRule, str]] = ..., weighting: _Optional[_Union[StageWeighting, str]] = ..., max_move_count: _Optional[int] = ..., min_improvement_percent: _Optional[int] = ..., prevent_starvation: bool = ...) -> None: ...

class AllocateWorkersResponse(_message.Message):
    __slots__ = ["all_stages_done", "allocation"]
    ALLOCATION_FIELD_NUMBER: _ClassVar[int]
    ALL_STAGES_DONE_FIELD_NUMBER: _ClassVar[int]
    all_stages_done: AllStagesDone
    allocation: WorkerAllocation
    def __init__(self, allocation: _Optional[_Union[WorkerAllocation, _Mapping]] = ..., all_stages_done: _Optional[_Union[AllStagesDone, _Mapping]] = ...) -> None: ...

class ChooseStageRequest(_message.Message):
    __slots__ = ["current_stage_name", "min_gain_percent", "prevent_starvation", "rule", "stages", "weighting"]
    CURRENT_STAGE_NAME_FIELD_NUMBER: _ClassVar[int]
    MIN_GAIN_PERCENT_FIELD_NUMBER: _ClassVar[int]
    PREVENT_STARVATION_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    STAGES_FIELD_NUMBER: _ClassVar[int]
    WEIGHTING_FIELD_NUMBER: _ClassVar[int]
    current_stage_name: str
    min_gain_percent: int
    prevent_starvation: bool
    rule: AllocationRule
    stages: _containers.RepeatedCompositeFieldContainer[Stage]
    weighting: StageWeighting
    def __init__(self, stages: _Optional[_Iterable[_Union[Stage, _Mapping]]] = ..., current_stage_name: _Optional[str] = ..., rule: _Optional[_Union[AllocationRule, str]] = ..., weighting: _Optional[_Union[StageWeighting, str]] = ..., min_gain_percent: _Optional[int] = ..., prevent_starvation: bool = ...) -> None: ...

class ChooseStageResponse(_message.Message):
    __slots__ = ["all_stages_done", "choice"]
    ALL_STAGES_DONE_FIELD_NUMBER: _ClassVar[int]
    CHOICE_FIELD_NUMBER: _ClassVar[int]
    all_stages_done: AllStagesDone
    choice: StageChoice
    def __init__(self, choice: _Optional[_Union[StageChoice, _Mapping]] = ..., all_stages_done: _Optional[_Union[AllStagesDone, _Mapping]] = ...) -> None: ...

class Stage(_message.Message):
    __slots__ = ["arrival_count", "arrival_period", "backlog_count", "busy_worker_count", "current_worker_count", "done", "max_worker_count", "mean_run_time", "min_worker_count", "name", "run_times"]
    ARRIVAL_COUNT_FIELD_NUMBER: _ClassVar[int]
    ARRIVAL_PERIOD_FIELD_NUMBER: _ClassVar[int]
    BACKLOG_COUNT_FIELD_NUMBER: _ClassVar[int]
    BUSY_WORKER_COUNT_FIELD_NUMBER: _ClassVar[int]
    CURRENT_WORKER_COUNT_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    MAX_WORKER_COUNT_FIELD_NUMBER: _ClassVar[int]
    MEAN_RUN_TIME_FIELD_NUMBER: _ClassVar[int]
    MIN_WORKER_COUNT_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    RUN_TIMES_FIELD_NUMBER: _ClassVar[int]
    arrival_count: int
    arrival_period: _duration_pb2.Duration
    backlog_count: int
    busy_worker_count: int
    current_worker_count: int
    done: bool
    max_worker_count: int
    mean_run_time: _duration_pb2.Duration
    min_worker_count: int
    name: str
    run_times: _containers.RepeatedCompositeFieldContainer[_duration_pb2.Duration]
    def __init__(self, name: _Optional[str] = ..., backlog_count: _Optional[int] = ..., mean_run_time: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., run_times: _Optional[_Iterable[_Union[_duration_pb2.Duration, _Mapping]]] = ..., done: bool = ..., min_worker_count: _Optional[int] = ..., max_worker_count: _Optional[int] = ..., current_worker_count: _Optional[int] = ..., busy_worker_count: _Optional[int] = ..., arrival_count: _Optional[int] = ..., arrival_period: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class StageAllocation(_message.Message):
    __slots__ = ["drain_time_micros", "mean_run_time", "min_stable_worker_count", "next_quotient", "run_time_estimated", "score", "stage_name", "weight", "worker_count", "workload_micros"]
    DRAIN_TIME_MICROS_FIELD_NUMBER: _ClassVar[int]
    MEAN_RUN_TIME_FIELD_NUMBER: _ClassVar[int]
    MIN_STABLE_WORKER_COUNT_FIELD_NUMBER: _ClassVar[int]
    NEXT_QUOTIENT_FIELD_NUMBER: _ClassVar[int]
    RUN_TIME_ESTIMATED_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    STAGE_NAME_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FIELD_NUMBER: _ClassVar[int]
    WORKER_COUNT_FIELD_NUMBER: _ClassVar[int]
    WORKLOAD_MICROS_FIELD_NUMBER: _ClassVar[int]
    drain_time_micros: int
    mean_run_time: _duration_pb2.Duration
    min_stable_worker_count: int
    next_quotient: float
    run_time_estimated: bool
    score: float
    stage_name: str
    weight: int
    worker_count: int
    workload_micros: int
    def __init__(self, stage_name: _Optional[str] = ..., worker_count: _Optional[int] = ..., workload_micros: _Optional[int] = ..., weight: _Optional[int] = ..., mean_run_time: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., run_time_estimated: bool = ..., score: _Optional[float] = ..., next_quotient: _Optional[float] = ..., drain_time_micros: _Optional[int] = ..., min_stable_worker_count: _Optional[int] = ...) -> None: ...

class StageChoice(_message.Message):
    __slots__ = ["changes_stage", "current_quotient", "quotient", "reason", "stage_name"]
    CHANGES_STAGE_FIELD_NUMBER: _ClassVar[int]
    CURRENT_QUOTIENT_FIELD_NUMBER: _ClassVar[int]
    QUOTIENT_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    STAGE_NAME_FIELD_NUMBER: _ClassVar[int]
    changes_stage: bool
    current_quotient: float
    quotient: float
    reason: StageChoiceReason
    stage_name: str
    def __init__(self, stage_name: _Optional[str] = ..., changes_stage: bool = ..., reason: _Optional[_Union[StageChoiceReason, str]] = ..., quotient: _Optional[float] = ..., current_quotient: _Optional[float] = ...) -> None: ...

class StarvedStage(_message.Message):
    __slots__ = ["backlog_count", "cost", "stage_name"]
    BACKLOG_COUNT_FIELD_NUMBER: _ClassVar[int]
    COST_FIELD_NUMBER: _ClassVar[int]
    STAGE_NAME_FIELD_NUMBER: _ClassVar[int]
    backlog_count: int
    cost: float
    stage_name: str
    def __init__(self, stage_name: _Optional[str] = ..., backlog_count: _Optional[int] = ..., cost: _Optional[float] = ...) -> None: ...

class WorkerAllocation(_message.Message):
    __slots__ = ["current_score", "improvement_too_small", "min_stable_worker_count", "moves", "score", "stages", "starvation_prevention_cost", "starved_stages", "unassigned_worker_count"]
    CURRENT_SCORE_FIELD_NUMBER: _ClassVar[int]
    IMPROVEMENT_TOO_SMALL_FIELD_NUMBER: _ClassVar[int]
    MIN_STABLE_WORKER_COUNT_FIELD_NUMBER: _ClassVar[int]
    MOVES_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    STAGES_FIELD_NUMBER: _ClassVar[int]
    STARVATION_PREVENTION_COST_FIELD_NUMBER: _ClassVar[int]
    STARVED_STAGES_FIELD_NUMBER: _ClassVar[int]
    UNASSIGNED_WORKER_COUNT_FIELD_NUMBER: _ClassVar[int]
    current_score: float
    improvement_too_small: bool
    min_stable_worker_count: int
    moves: _containers.RepeatedCompositeFieldContainer[WorkerMove]
    score: float
    stages: _containers.RepeatedCompositeFieldContainer[StageAllocation]
    starvation_prevention_cost: float
    starved_stages: _containers.RepeatedCompositeFieldContainer[StarvedStage]
    unassigned_worker_count: int
    def __init__(self, stages: _Optional[_Iterable[_Union[StageAllocation, _Mapping]]] = ..., moves: _Optional[_Iterable[_Union[WorkerMove, _Mapping]]] = ..., unassigned_worker_count: _Optional[int] = ..., score: _Optional[float] = ..., current_score: _Optional[float] = ..., improvement_too_small: bool = ..., starved_stages: _Optional[_Iterable[_Union[StarvedStage, _Mapping]]] = ..., starvation_prevention_cost: _Optional[float] = ..., min_stable_worker_count: _Optional[int] = ...) -> None: ...

class WorkerMove(_message.Message):
    __slots__ = ["from_stage_name", "to_stage_name", "worker_count"]
    FROM_STAGE_NAME_FIELD_NUMBER: _ClassVar[int]
    TO_STAGE_NAME_FIELD_NUMBER: _ClassVar[int]
    WORKER_COUNT_FIELD_NUMBER: _ClassVar[int]
    from_stage_name: str
    to_stage_name: str
    worker_count: int
    def __init__(self, from_stage_name: _Optional[str] = ..., to_stage_name: _Optional[str] = ..., worker_count: _Optional[int] = ...) -> None: ...

class AllocationRule(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class StageWeighting(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class StageChoiceReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []
