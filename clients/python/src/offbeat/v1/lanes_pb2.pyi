from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor
LANE_POLICY_EXPRESS_FIRST: LanePolicy
LANE_POLICY_SLOW_FIRST: LanePolicy
LANE_POLICY_UNSPECIFIED: LanePolicy
ROUTE_REASON_DEMOTED: RouteReason
ROUTE_REASON_IDLE_WORKER: RouteReason
ROUTE_REASON_PREDICTED_SLOW: RouteReason
ROUTE_REASON_UNSPECIFIED: RouteReason
ROUTE_REASON_UNTRIED: RouteReason
TIMEOUT_ACTION_ABORT: TimeoutAction
TIMEOUT_ACTION_SUSPEND: TimeoutAction
TIMEOUT_ACTION_UNSPECIFIED: TimeoutAction

class DispatchJobsRequest(_message.Message):
    __slots__ = ["free_workers", "jobs", "lane_set"]
    FREE_WORKERS_FIELD_NUMBER: _ClassVar[int]
    JOBS_FIELD_NUMBER: _ClassVar[int]
    LANE_SET_FIELD_NUMBER: _ClassVar[int]
    free_workers: _containers.RepeatedCompositeFieldContainer[FreeWorkers]
    jobs: _containers.RepeatedCompositeFieldContainer[PendingJob]
    lane_set: LaneSet
    def __init__(self, lane_set: _Optional[_Union[LaneSet, _Mapping]] = ..., free_workers: _Optional[_Iterable[_Union[FreeWorkers, _Mapping]]] = ..., jobs: _Optional[_Iterable[_Union[PendingJob, _Mapping]]] = ...) -> None: ...

class DispatchJobsResponse(_message.Message):
    __slots__ = ["dispatches", "failures"]
    DISPATCHES_FIELD_NUMBER: _ClassVar[int]
    FAILURES_FIELD_NUMBER: _ClassVar[int]
    dispatches: _containers.RepeatedCompositeFieldContainer[JobDispatch]
    failures: _containers.RepeatedCompositeFieldContainer[FailedJob]
    def __init__(self, dispatches: _Optional[_Iterable[_Union[JobDispatch, _Mapping]]] = ..., failures: _Optional[_Iterable[_Union[FailedJob, _Mapping]]] = ...) -> None: ...

class FailedJob(_message.Message):
    __slots__ = ["failure", "job_id", "job_index"]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    JOB_INDEX_FIELD_NUMBER: _ClassVar[int]
    failure: PermanentFailure
    job_id: str
    job_index: int
    def __init__(self, job_index: _Optional[int] = ..., job_id: _Optional[str] = ..., failure: _Optional[_Union[PermanentFailure, _Mapping]] = ...) -> None: ...

class FreeWorkers(_message.Message):
    __slots__ = ["lane_name", "worker_count"]
    LANE_NAME_FIELD_NUMBER: _ClassVar[int]
    WORKER_COUNT_FIELD_NUMBER: _ClassVar[int]
    lane_name: str
    worker_count: int
    def __init__(self, lane_name: _Optional[str] = ..., worker_count: _Optional[int] = ...) -> None: ...

class JobDispatch(_message.Message):
    __slots__ = ["job_id", "job_index", "route"]
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    JOB_INDEX_FIELD_NUMBER: _ClassVar[int]
    ROUTE_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    job_index: int
    route: LaneRoute
    def __init__(self, job_index: _Optional[int] = ..., job_id: _Optional[str] = ..., route: _Optional[_Union[LaneRoute, _Mapping]] = ...) -> None: ...

class Lane(_message.Message):
    __slots__ = ["attempt_timeout", "name", "worker_count"]
    ATTEMPT_TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    WORKER_COUNT_FIELD_NUMBER: _ClassVar[int]
    attempt_timeout: _duration_pb2.Duration
    name: str
    worker_count: int
    def __init__(self, name: _Optional[str] = ..., worker_count: _Optional[int] = ..., attempt_timeout: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class LanePrediction(_message.Message):
    __slots__ = ["run_time", "slow_probability"]
    RUN_TIME_FIELD_NUMBER: _ClassVar[int]
    SLOW_PROBABILITY_FIELD_NUMBER: _ClassVar[int]
    run_time: _duration_pb2.Duration
    slow_probability: float
    def __init__(self, slow_probability: _Optional[float] = ..., run_time: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class LaneRoute(_message.Message):
    __slots__ = ["attempt", "attempt_timeout", "lane_name", "next_lane_name", "reason", "resumes"]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    LANE_NAME_FIELD_NUMBER: _ClassVar[int]
    NEXT_LANE_NAME_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    RESUMES_FIELD_NUMBER: _ClassVar[int]
    attempt: int
    attempt_timeout: _duration_pb2.Duration
    lane_name: str
    next_lane_name: str
    reason: RouteReason
    resumes: bool
    def __init__(self, lane_name: _Optional[str] = ..., attempt: _Optional[int] = ..., attempt_timeout: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., next_lane_name: _Optional[str] = ..., reason: _Optional[_Union[RouteReason, str]] = ..., resumes: bool = ...) -> None: ...

class LaneSet(_message.Message):
    __slots__ = ["lanes", "max_express_slow_probability", "on_timeout", "policy"]
    LANES_FIELD_NUMBER: _ClassVar[int]
    MAX_EXPRESS_SLOW_PROBABILITY_FIELD_NUMBER: _ClassVar[int]
    ON_TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    lanes: _containers.RepeatedCompositeFieldContainer[Lane]
    max_express_slow_probability: float
    on_timeout: TimeoutAction
    policy: LanePolicy
    def __init__(self, lanes: _Optional[_Iterable[_Union[Lane, _Mapping]]] = ..., policy: _Optional[_Union[LanePolicy, str]] = ..., on_timeout: _Optional[_Union[TimeoutAction, str]] = ..., max_express_slow_probability: _Optional[float] = ...) -> None: ...

class LaneState(_message.Message):
    __slots__ = ["backlog_count", "busy_worker_count", "lane_name", "longest_wait", "mean_run_time"]
    BACKLOG_COUNT_FIELD_NUMBER: _ClassVar[int]
    BUSY_WORKER_COUNT_FIELD_NUMBER: _ClassVar[int]
    LANE_NAME_FIELD_NUMBER: _ClassVar[int]
    LONGEST_WAIT_FIELD_NUMBER: _ClassVar[int]
    MEAN_RUN_TIME_FIELD_NUMBER: _ClassVar[int]
    backlog_count: int
    busy_worker_count: int
    lane_name: str
    longest_wait: _duration_pb2.Duration
    mean_run_time: _duration_pb2.Duration
    def __init__(self, lane_name: _Optional[str] = ..., backlog_count: _Optional[int] = ..., mean_run_time: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., longest_wait: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., busy_worker_count: _Optional[int] = ...) -> None: ...

class LaneWorkload(_message.Message):
    __slots__ = ["lane_name", "workload_micros"]
    LANE_NAME_FIELD_NUMBER: _ClassVar[int]
    WORKLOAD_MICROS_FIELD_NUMBER: _ClassVar[int]
    lane_name: str
    workload_micros: int
    def __init__(self, lane_name: _Optional[str] = ..., workload_micros: _Optional[int] = ...) -> None: ...

class PendingJob(_message.Message):
    __slots__ = ["id", "prediction", "timed_out_lane_names"]
    ID_FIELD_NUMBER: _ClassVar[int]
    PREDICTION_FIELD_NUMBER: _ClassVar[int]
    TIMED_OUT_LANE_NAMES_FIELD_NUMBER: _ClassVar[int]
    id: str
    prediction: LanePrediction
    timed_out_lane_names: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, id: _Optional[str] = ..., timed_out_lane_names: _Optional[_Iterable[str]] = ..., prediction: _Optional[_Union[LanePrediction, _Mapping]] = ...) -> None: ...

class PermanentFailure(_message.Message):
    __slots__ = ["exceeded_timeout", "last_lane_name", "message"]
    EXCEEDED_TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    LAST_LANE_NAME_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    exceeded_timeout: _duration_pb2.Duration
    last_lane_name: str
    message: str
    def __init__(self, last_lane_name: _Optional[str] = ..., exceeded_timeout: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., message: _Optional[str] = ...) -> None: ...

class RouteJobRequest(_message.Message):
    __slots__ = ["lane_set", "prediction", "timed_out_lane_names", "worker_lane_name"]
    LANE_SET_FIELD_NUMBER: _ClassVar[int]
    PREDICTION_FIELD_NUMBER: _ClassVar[int]
    TIMED_OUT_LANE_NAMES_FIELD_NUMBER: _ClassVar[int]
    WORKER_LANE_NAME_FIELD_NUMBER: _ClassVar[int]
    lane_set: LaneSet
    prediction: LanePrediction
    timed_out_lane_names: _containers.RepeatedScalarFieldContainer[str]
    worker_lane_name: str
    def __init__(self, lane_set: _Optional[_Union[LaneSet, _Mapping]] = ..., timed_out_lane_names: _Optional[_Iterable[str]] = ..., prediction: _Optional[_Union[LanePrediction, _Mapping]] = ..., worker_lane_name: _Optional[str] = ...) -> None: ...

class RouteJobResponse(_message.Message):
    __slots__ = ["permanent_failure", "route"]
    PERMANENT_FAILURE_FIELD_NUMBER: _ClassVar[int]
    ROUTE_FIELD_NUMBER: _ClassVar[int]
    permanent_failure: PermanentFailure
    route: LaneRoute
    def __init__(self, route: _Optional[_Union[LaneRoute, _Mapping]] = ..., permanent_failure: _Optional[_Union[PermanentFailure, _Mapping]] = ...) -> None: ...

class SplitWorkersRequest(_message.Message):
    __slots__ = ["lane_set", "max_move_count", "min_improvement_percent", "states", "worker_count"]
    LANE_SET_FIELD_NUMBER: _ClassVar[int]
    MAX_MOVE_COUNT_FIELD_NUMBER: _ClassVar[int]
    MIN_IMPROVEMENT_PERCENT_FIELD_NUMBER: _ClassVar[int]
    STATES_FIELD_NUMBER: _ClassVar[int]
    WORKER_COUNT_FIELD_NUMBER: _ClassVar[int]
    lane_set: LaneSet
    max_move_count: int
    min_improvement_percent: int
    states: _containers.RepeatedCompositeFieldContainer[LaneState]
    worker_count: int
    def __init__(self, lane_set: _Optional[_Union[LaneSet, _Mapping]] = ..., worker_count: _Optional[int] = ..., states: _Optional[_Iterable[_Union[LaneState, _Mapping]]] = ..., max_move_count: _Optional[int] = ..., min_improvement_percent: _Optional[int] = ...) -> None: ...

class SplitWorkersResponse(_message.Message):
    __slots__ = ["lane_set", "workloads"]
    LANE_SET_FIELD_NUMBER: _ClassVar[int]
    WORKLOADS_FIELD_NUMBER: _ClassVar[int]
    lane_set: LaneSet
    workloads: _containers.RepeatedCompositeFieldContainer[LaneWorkload]
    def __init__(self, lane_set: _Optional[_Union[LaneSet, _Mapping]] = ..., workloads: _Optional[_Iterable[_Union[LaneWorkload, _Mapping]]] = ...) -> None: ...

class LanePolicy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class TimeoutAction(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class RouteReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []
