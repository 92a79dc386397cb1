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
LANE_VERDICT_LANES: LaneVerdict
LANE_VERDICT_NO_LANES: LaneVerdict
LANE_VERDICT_UNSPECIFIED: LaneVerdict
ROUTE_REASON_DEMOTED: RouteReason
ROUTE_REASON_IDLE_WORKER: RouteReason
ROUTE_REASON_PREDICTED_SLOW: RouteReason
ROUTE_REASON_UNSPECIFIED: RouteReason
ROUTE_REASON_UNTRIED: RouteReason
TIMEOUT_ACTION_ABORT: TimeoutAction
TIMEOUT_ACTION_SUSPEND: TimeoutAction
TIMEOUT_ACTION_UNSPECIFIED: TimeoutAction

class CutoffSlowdown(_message.Message):
    __slots__ = ["cutoff", "express_worker_count", "mean_slowdown"]
    CUTOFF_FIELD_NUMBER: _ClassVar[int]
    EXPRESS_WORKER_COUNT_FIELD_NUMBER: _ClassVar[int]
    MEAN_SLOWDOWN_FIELD_NUMBER: _ClassVar[int]
    cutoff: _duration_pb2.Duration
    express_worker_count: int
    mean_slowdown: float
    def __init__(self, cutoff: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., express_worker_count: _Optional[int] = ..., mean_slowdown: _Optional[float] = ...) -> None: ...

class DispatchJobsRequest(_message.Message):
    __slots__ = ["free_worker_counts", "jobs", "lane_set"]
    FREE_WORKER_COUNTS_FIELD_NUMBER: _ClassVar[int]
    JOBS_FIELD_NUMBER: _ClassVar[int]
    LANE_SET_FIELD_NUMBER: _ClassVar[int]
    free_worker_counts: _containers.RepeatedScalarFieldContainer[int]
    jobs: _containers.RepeatedCompositeFieldContainer[PendingJob]
    lane_set: LaneSet
    def __init__(self, lane_set: _Optional[_Union[LaneSet, _Mapping]] = ..., free_worker_counts: _Optional[_Iterable[int]] = ..., jobs: _Optional[_Iterable[_Union[PendingJob, _Mapping]]] = ...) -> None: ...

class DispatchJobsResponse(_message.Message):
    __slots__ = ["failures", "placements"]
    FAILURES_FIELD_NUMBER: _ClassVar[int]
    PLACEMENTS_FIELD_NUMBER: _ClassVar[int]
    failures: _containers.RepeatedCompositeFieldContainer[FailedJob]
    placements: _containers.RepeatedCompositeFieldContainer[JobPlacement]
    def __init__(self, placements: _Optional[_Iterable[_Union[JobPlacement, _Mapping]]] = ..., failures: _Optional[_Iterable[_Union[FailedJob, _Mapping]]] = ...) -> None: ...

class FailedJob(_message.Message):
    __slots__ = ["failure", "job_id", "job_index"]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    JOB_INDEX_FIELD_NUMBER: _ClassVar[int]
    failure: PermanentFailure
    job_id: str
    job_index: int
    def __init__(self, job_index: _Optional[int] = ..., job_id: _Optional[str] = ..., failure: _Optional[_Union[PermanentFailure, _Mapping]] = ...) -> None: ...

class JobPlacement(_message.Message):
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

class LanePerformance(_message.Message):
    __slots__ = ["is_stable", "mean_slowdown", "mean_sojourn", "mean_wait", "p95_slowdown", "p95_sojourn", "p95_wait", "wasted_share"]
    IS_STABLE_FIELD_NUMBER: _ClassVar[int]
    MEAN_SLOWDOWN_FIELD_NUMBER: _ClassVar[int]
    MEAN_SOJOURN_FIELD_NUMBER: _ClassVar[int]
    MEAN_WAIT_FIELD_NUMBER: _ClassVar[int]
    P95_SLOWDOWN_FIELD_NUMBER: _ClassVar[int]
    P95_SOJOURN_FIELD_NUMBER: _ClassVar[int]
    P95_WAIT_FIELD_NUMBER: _ClassVar[int]
    WASTED_SHARE_FIELD_NUMBER: _ClassVar[int]
    is_stable: bool
    mean_slowdown: float
    mean_sojourn: _duration_pb2.Duration
    mean_wait: _duration_pb2.Duration
    p95_slowdown: float
    p95_sojourn: _duration_pb2.Duration
    p95_wait: _duration_pb2.Duration
    wasted_share: float
    def __init__(self, mean_slowdown: _Optional[float] = ..., p95_slowdown: _Optional[float] = ..., mean_wait: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., p95_wait: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., mean_sojourn: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., p95_sojourn: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., wasted_share: _Optional[float] = ..., is_stable: bool = ...) -> None: ...

class LanePrediction(_message.Message):
    __slots__ = ["run_time", "slow_probability"]
    RUN_TIME_FIELD_NUMBER: _ClassVar[int]
    SLOW_PROBABILITY_FIELD_NUMBER: _ClassVar[int]
    run_time: _duration_pb2.Duration
    slow_probability: float
    def __init__(self, slow_probability: _Optional[float] = ..., run_time: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class LaneRoute(_message.Message):
    __slots__ = ["attempt", "attempt_timeout", "lane", "lane_on_timeout", "reason", "resumes"]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    LANE_FIELD_NUMBER: _ClassVar[int]
    LANE_ON_TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    RESUMES_FIELD_NUMBER: _ClassVar[int]
    attempt: int
    attempt_timeout: _duration_pb2.Duration
    lane: str
    lane_on_timeout: str
    reason: RouteReason
    resumes: bool
    def __init__(self, lane: _Optional[str] = ..., attempt: _Optional[int] = ..., attempt_timeout: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., lane_on_timeout: _Optional[str] = ..., reason: _Optional[_Union[RouteReason, str]] = ..., resumes: bool = ...) -> None: ...

class LaneSensitivity(_message.Message):
    __slots__ = ["arrival_rate", "with_lanes", "without_lanes"]
    ARRIVAL_RATE_FIELD_NUMBER: _ClassVar[int]
    WITHOUT_LANES_FIELD_NUMBER: _ClassVar[int]
    WITH_LANES_FIELD_NUMBER: _ClassVar[int]
    arrival_rate: float
    with_lanes: LanePerformance
    without_lanes: LanePerformance
    def __init__(self, arrival_rate: _Optional[float] = ..., with_lanes: _Optional[_Union[LanePerformance, _Mapping]] = ..., without_lanes: _Optional[_Union[LanePerformance, _Mapping]] = ...) -> None: ...

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
    __slots__ = ["busy_worker_count", "longest_wait", "mean_run_time", "pending_count"]
    BUSY_WORKER_COUNT_FIELD_NUMBER: _ClassVar[int]
    LONGEST_WAIT_FIELD_NUMBER: _ClassVar[int]
    MEAN_RUN_TIME_FIELD_NUMBER: _ClassVar[int]
    PENDING_COUNT_FIELD_NUMBER: _ClassVar[int]
    busy_worker_count: int
    longest_wait: _duration_pb2.Duration
    mean_run_time: _duration_pb2.Duration
    pending_count: int
    def __init__(self, pending_count: _Optional[int] = ..., mean_run_time: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., longest_wait: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., busy_worker_count: _Optional[int] = ...) -> None: ...

class PendingJob(_message.Message):
    __slots__ = ["id", "prediction", "timed_out_lanes"]
    ID_FIELD_NUMBER: _ClassVar[int]
    PREDICTION_FIELD_NUMBER: _ClassVar[int]
    TIMED_OUT_LANES_FIELD_NUMBER: _ClassVar[int]
    id: str
    prediction: LanePrediction
    timed_out_lanes: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, id: _Optional[str] = ..., timed_out_lanes: _Optional[_Iterable[str]] = ..., prediction: _Optional[_Union[LanePrediction, _Mapping]] = ...) -> None: ...

class PermanentFailure(_message.Message):
    __slots__ = ["exceeded_timeout", "last_lane", "message"]
    EXCEEDED_TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    LAST_LANE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    exceeded_timeout: _duration_pb2.Duration
    last_lane: str
    message: str
    def __init__(self, last_lane: _Optional[str] = ..., exceeded_timeout: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., message: _Optional[str] = ...) -> None: ...

class PlanLanesRequest(_message.Message):
    __slots__ = ["arrival_rate", "histogram", "max_lane_count", "on_timeout", "percentiles", "samples", "seed", "slowdown_floor", "tolerated_wait", "worker_count"]
    ARRIVAL_RATE_FIELD_NUMBER: _ClassVar[int]
    HISTOGRAM_FIELD_NUMBER: _ClassVar[int]
    MAX_LANE_COUNT_FIELD_NUMBER: _ClassVar[int]
    ON_TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    PERCENTILES_FIELD_NUMBER: _ClassVar[int]
    SAMPLES_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    SLOWDOWN_FLOOR_FIELD_NUMBER: _ClassVar[int]
    TOLERATED_WAIT_FIELD_NUMBER: _ClassVar[int]
    WORKER_COUNT_FIELD_NUMBER: _ClassVar[int]
    arrival_rate: float
    histogram: RunTimeHistogram
    max_lane_count: int
    on_timeout: TimeoutAction
    percentiles: RunTimePercentiles
    samples: RunTimeSamples
    seed: int
    slowdown_floor: _duration_pb2.Duration
    tolerated_wait: _duration_pb2.Duration
    worker_count: int
    def __init__(self, samples: _Optional[_Union[RunTimeSamples, _Mapping]] = ..., histogram: _Optional[_Union[RunTimeHistogram, _Mapping]] = ..., percentiles: _Optional[_Union[RunTimePercentiles, _Mapping]] = ..., arrival_rate: _Optional[float] = ..., worker_count: _Optional[int] = ..., tolerated_wait: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., slowdown_floor: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., on_timeout: _Optional[_Union[TimeoutAction, str]] = ..., max_lane_count: _Optional[int] = ..., seed: _Optional[int] = ...) -> None: ...

class PlanLanesResponse(_message.Message):
    __slots__ = ["cutoffs", "lane_set", "mean_run_time", "sensitivities", "simulated_job_count", "slowdown_floor", "utilization", "verdict", "with_lanes", "without_lanes"]
    CUTOFFS_FIELD_NUMBER: _ClassVar[int]
    LANE_SET_FIELD_NUMBER: _ClassVar[int]
    MEAN_RUN_TIME_FIELD_NUMBER: _ClassVar[int]
    SENSITIVITIES_FIELD_NUMBER: _ClassVar[int]
    SIMULATED_JOB_COUNT_FIELD_NUMBER: _ClassVar[int]
    SLOWDOWN_FLOOR_FIELD_NUMBER: _ClassVar[int]
    UTILIZATION_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    WITHOUT_LANES_FIELD_NUMBER: _ClassVar[int]
    WITH_LANES_FIELD_NUMBER: _ClassVar[int]
    cutoffs: _containers.RepeatedCompositeFieldContainer[CutoffSlowdown]
    lane_set: LaneSet
    mean_run_time: _duration_pb2.Duration
    sensitivities: _containers.RepeatedCompositeFieldContainer[LaneSensitivity]
    simulated_job_count: int
    slowdown_floor: _duration_pb2.Duration
    utilization: float
    verdict: LaneVerdict
    with_lanes: LanePerformance
    without_lanes: LanePerformance
    def __init__(self, verdict: _Optional[_Union[LaneVerdict, str]] = ..., lane_set: _Optional[_Union[LaneSet, _Mapping]] = ..., with_lanes: _Optional[_Union[LanePerformance, _Mapping]] = ..., without_lanes: _Optional[_Union[LanePerformance, _Mapping]] = ..., sensitivities: _Optional[_Iterable[_Union[LaneSensitivity, _Mapping]]] = ..., cutoffs: _Optional[_Iterable[_Union[CutoffSlowdown, _Mapping]]] = ..., slowdown_floor: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., mean_run_time: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., utilization: _Optional[float] = ..., simulated_job_count: _Optional[int] = ...) -> None: ...

class RouteJobRequest(_message.Message):
    __slots__ = ["lane_set", "prediction", "timed_out_lanes", "worker_lane"]
    LANE_SET_FIELD_NUMBER: _ClassVar[int]
    PREDICTION_FIELD_NUMBER: _ClassVar[int]
    TIMED_OUT_LANES_FIELD_NUMBER: _ClassVar[int]
    WORKER_LANE_FIELD_NUMBER: _ClassVar[int]
    lane_set: LaneSet
    prediction: LanePrediction
    timed_out_lanes: _containers.RepeatedScalarFieldContainer[str]
    worker_lane: str
    def __init__(self, lane_set: _Optional[_Union[LaneSet, _Mapping]] = ..., timed_out_lanes: _Optional[_Iterable[str]] = ..., prediction: _Optional[_Union[LanePrediction, _Mapping]] = ..., worker_lane: _Optional[str] = ...) -> None: ...

class RouteJobResponse(_message.Message):
    __slots__ = ["permanent_failure", "route"]
    PERMANENT_FAILURE_FIELD_NUMBER: _ClassVar[int]
    ROUTE_FIELD_NUMBER: _ClassVar[int]
    permanent_failure: PermanentFailure
    route: LaneRoute
    def __init__(self, route: _Optional[_Union[LaneRoute, _Mapping]] = ..., permanent_failure: _Optional[_Union[PermanentFailure, _Mapping]] = ...) -> None: ...

class RunTimeBucket(_message.Message):
    __slots__ = ["count", "upper_bound"]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    UPPER_BOUND_FIELD_NUMBER: _ClassVar[int]
    count: int
    upper_bound: _duration_pb2.Duration
    def __init__(self, upper_bound: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., count: _Optional[int] = ...) -> None: ...

class RunTimeHistogram(_message.Message):
    __slots__ = ["buckets"]
    BUCKETS_FIELD_NUMBER: _ClassVar[int]
    buckets: _containers.RepeatedCompositeFieldContainer[RunTimeBucket]
    def __init__(self, buckets: _Optional[_Iterable[_Union[RunTimeBucket, _Mapping]]] = ...) -> None: ...

class RunTimePercentiles(_message.Message):
    __slots__ = ["mean", "p50", "p90"]
    MEAN_FIELD_NUMBER: _ClassVar[int]
    P50_FIELD_NUMBER: _ClassVar[int]
    P90_FIELD_NUMBER: _ClassVar[int]
    mean: _duration_pb2.Duration
    p50: _duration_pb2.Duration
    p90: _duration_pb2.Duration
    def __init__(self, p50: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., p90: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., mean: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class RunTimeSamples(_message.Message):
    __slots__ = ["micros"]
    MICROS_FIELD_NUMBER: _ClassVar[int]
    micros: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, micros: _Optional[_Iterable[int]] = ...) -> None: ...

class SplitWorkersRequest(_message.Message):
    __slots__ = ["lane_set", "states", "worker_count"]
    LANE_SET_FIELD_NUMBER: _ClassVar[int]
    STATES_FIELD_NUMBER: _ClassVar[int]
    WORKER_COUNT_FIELD_NUMBER: _ClassVar[int]
    lane_set: LaneSet
    states: _containers.RepeatedCompositeFieldContainer[LaneState]
    worker_count: int
    def __init__(self, lane_set: _Optional[_Union[LaneSet, _Mapping]] = ..., worker_count: _Optional[int] = ..., states: _Optional[_Iterable[_Union[LaneState, _Mapping]]] = ...) -> None: ...

class SplitWorkersResponse(_message.Message):
    __slots__ = ["lane_set", "waiting_micros"]
    LANE_SET_FIELD_NUMBER: _ClassVar[int]
    WAITING_MICROS_FIELD_NUMBER: _ClassVar[int]
    lane_set: LaneSet
    waiting_micros: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, lane_set: _Optional[_Union[LaneSet, _Mapping]] = ..., waiting_micros: _Optional[_Iterable[int]] = ...) -> None: ...

class LanePolicy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class TimeoutAction(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class RouteReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class LaneVerdict(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []
