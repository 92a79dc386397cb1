from google.protobuf import duration_pb2 as _duration_pb2
from offbeat.v1 import lanes_pb2 as _lanes_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor
LANE_VERDICT_LANES: LaneVerdict
LANE_VERDICT_LANES_BY_TYPE: LaneVerdict
LANE_VERDICT_NO_LANES: LaneVerdict
LANE_VERDICT_UNDECIDED: LaneVerdict
LANE_VERDICT_UNSPECIFIED: LaneVerdict

class CutoffFigures(_message.Message):
    __slots__ = ["cutoff", "express_worker_count", "mean_slowdown", "mean_slowdown_range", "mean_sojourn", "stable", "stable_with_more_arrivals"]
    CUTOFF_FIELD_NUMBER: _ClassVar[int]
    EXPRESS_WORKER_COUNT_FIELD_NUMBER: _ClassVar[int]
    MEAN_SLOWDOWN_FIELD_NUMBER: _ClassVar[int]
    MEAN_SLOWDOWN_RANGE_FIELD_NUMBER: _ClassVar[int]
    MEAN_SOJOURN_FIELD_NUMBER: _ClassVar[int]
    STABLE_FIELD_NUMBER: _ClassVar[int]
    STABLE_WITH_MORE_ARRIVALS_FIELD_NUMBER: _ClassVar[int]
    cutoff: _duration_pb2.Duration
    express_worker_count: int
    mean_slowdown: float
    mean_slowdown_range: FigureRange
    mean_sojourn: _duration_pb2.Duration
    stable: bool
    stable_with_more_arrivals: bool
    def __init__(self, cutoff: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., express_worker_count: _Optional[int] = ..., mean_slowdown: _Optional[float] = ..., mean_sojourn: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., stable: bool = ..., stable_with_more_arrivals: bool = ..., mean_slowdown_range: _Optional[_Union[FigureRange, _Mapping]] = ...) -> None: ...

class DurationRange(_message.Message):
    __slots__ = ["high", "low"]
    HIGH_FIELD_NUMBER: _ClassVar[int]
    LOW_FIELD_NUMBER: _ClassVar[int]
    high: _duration_pb2.Duration
    low: _duration_pb2.Duration
    def __init__(self, low: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., high: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class FigureRange(_message.Message):
    __slots__ = ["high", "low"]
    HIGH_FIELD_NUMBER: _ClassVar[int]
    LOW_FIELD_NUMBER: _ClassVar[int]
    high: float
    low: float
    def __init__(self, low: _Optional[float] = ..., high: _Optional[float] = ...) -> None: ...

class JobTypeFigures(_message.Message):
    __slots__ = ["job_ratio", "max_run_time", "mean_run_time", "mean_sojourn_by_type", "mean_sojourn_with_lanes", "mean_sojourn_without_lanes", "name", "p50_run_time", "p99_run_time", "sample_count", "timeout_ratio", "work_ratio"]
    JOB_RATIO_FIELD_NUMBER: _ClassVar[int]
    MAX_RUN_TIME_FIELD_NUMBER: _ClassVar[int]
    MEAN_RUN_TIME_FIELD_NUMBER: _ClassVar[int]
    MEAN_SOJOURN_BY_TYPE_FIELD_NUMBER: _ClassVar[int]
    MEAN_SOJOURN_WITHOUT_LANES_FIELD_NUMBER: _ClassVar[int]
    MEAN_SOJOURN_WITH_LANES_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    P50_RUN_TIME_FIELD_NUMBER: _ClassVar[int]
    P99_RUN_TIME_FIELD_NUMBER: _ClassVar[int]
    SAMPLE_COUNT_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_RATIO_FIELD_NUMBER: _ClassVar[int]
    WORK_RATIO_FIELD_NUMBER: _ClassVar[int]
    job_ratio: float
    max_run_time: _duration_pb2.Duration
    mean_run_time: _duration_pb2.Duration
    mean_sojourn_by_type: _duration_pb2.Duration
    mean_sojourn_with_lanes: _duration_pb2.Duration
    mean_sojourn_without_lanes: _duration_pb2.Duration
    name: str
    p50_run_time: _duration_pb2.Duration
    p99_run_time: _duration_pb2.Duration
    sample_count: int
    timeout_ratio: float
    work_ratio: float
    def __init__(self, name: _Optional[str] = ..., sample_count: _Optional[int] = ..., job_ratio: _Optional[float] = ..., work_ratio: _Optional[float] = ..., mean_run_time: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., p50_run_time: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., p99_run_time: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., max_run_time: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., timeout_ratio: _Optional[float] = ..., mean_sojourn_with_lanes: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., mean_sojourn_by_type: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., mean_sojourn_without_lanes: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class JobTypeSamples(_message.Message):
    __slots__ = ["name", "run_time_micros"]
    NAME_FIELD_NUMBER: _ClassVar[int]
    RUN_TIME_MICROS_FIELD_NUMBER: _ClassVar[int]
    name: str
    run_time_micros: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, name: _Optional[str] = ..., run_time_micros: _Optional[_Iterable[int]] = ...) -> None: ...

class LanePerformance(_message.Message):
    __slots__ = ["mean_slowdown", "mean_slowdown_range", "mean_sojourn", "mean_sojourn_range", "mean_wait", "p95_slowdown", "p95_sojourn", "p95_wait", "stable", "wasted_ratio"]
    MEAN_SLOWDOWN_FIELD_NUMBER: _ClassVar[int]
    MEAN_SLOWDOWN_RANGE_FIELD_NUMBER: _ClassVar[int]
    MEAN_SOJOURN_FIELD_NUMBER: _ClassVar[int]
    MEAN_SOJOURN_RANGE_FIELD_NUMBER: _ClassVar[int]
    MEAN_WAIT_FIELD_NUMBER: _ClassVar[int]
    P95_SLOWDOWN_FIELD_NUMBER: _ClassVar[int]
    P95_SOJOURN_FIELD_NUMBER: _ClassVar[int]
    P95_WAIT_FIELD_NUMBER: _ClassVar[int]
    STABLE_FIELD_NUMBER: _ClassVar[int]
    WASTED_RATIO_FIELD_NUMBER: _ClassVar[int]
    mean_slowdown: float
    mean_slowdown_range: FigureRange
    mean_sojourn: _duration_pb2.Duration
    mean_sojourn_range: DurationRange
    mean_wait: _duration_pb2.Duration
    p95_slowdown: float
    p95_sojourn: _duration_pb2.Duration
    p95_wait: _duration_pb2.Duration
    stable: bool
    wasted_ratio: float
    def __init__(self, mean_slowdown: _Optional[float] = ..., p95_slowdown: _Optional[float] = ..., mean_wait: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., p95_wait: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., mean_sojourn: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., p95_sojourn: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., wasted_ratio: _Optional[float] = ..., stable: bool = ..., mean_slowdown_range: _Optional[_Union[FigureRange, _Mapping]] = ..., mean_sojourn_range: _Optional[_Union[DurationRange, _Mapping]] = ...) -> None: ...

class LaneSensitivity(_message.Message):
    __slots__ = ["arrival_rate", "by_type", "with_lanes", "without_lanes"]
    ARRIVAL_RATE_FIELD_NUMBER: _ClassVar[int]
    BY_TYPE_FIELD_NUMBER: _ClassVar[int]
    WITHOUT_LANES_FIELD_NUMBER: _ClassVar[int]
    WITH_LANES_FIELD_NUMBER: _ClassVar[int]
    arrival_rate: float
    by_type: LanePerformance
    with_lanes: LanePerformance
    without_lanes: LanePerformance
    def __init__(self, arrival_rate: _Optional[float] = ..., with_lanes: _Optional[_Union[LanePerformance, _Mapping]] = ..., without_lanes: _Optional[_Union[LanePerformance, _Mapping]] = ..., by_type: _Optional[_Union[LanePerformance, _Mapping]] = ...) -> None: ...

class LanesByType(_message.Message):
    __slots__ = ["express_worker_count", "performance", "slow_type_names", "slow_worker_count", "slowdown_ratio", "slowdown_ratio_to_timeouts", "sojourn_ratio", "sojourn_ratio_to_timeouts", "stable_with_more_arrivals"]
    EXPRESS_WORKER_COUNT_FIELD_NUMBER: _ClassVar[int]
    PERFORMANCE_FIELD_NUMBER: _ClassVar[int]
    SLOWDOWN_RATIO_FIELD_NUMBER: _ClassVar[int]
    SLOWDOWN_RATIO_TO_TIMEOUTS_FIELD_NUMBER: _ClassVar[int]
    SLOW_TYPE_NAMES_FIELD_NUMBER: _ClassVar[int]
    SLOW_WORKER_COUNT_FIELD_NUMBER: _ClassVar[int]
    SOJOURN_RATIO_FIELD_NUMBER: _ClassVar[int]
    SOJOURN_RATIO_TO_TIMEOUTS_FIELD_NUMBER: _ClassVar[int]
    STABLE_WITH_MORE_ARRIVALS_FIELD_NUMBER: _ClassVar[int]
    express_worker_count: int
    performance: LanePerformance
    slow_type_names: _containers.RepeatedScalarFieldContainer[str]
    slow_worker_count: int
    slowdown_ratio: RatioInterval
    slowdown_ratio_to_timeouts: RatioInterval
    sojourn_ratio: RatioInterval
    sojourn_ratio_to_timeouts: RatioInterval
    stable_with_more_arrivals: bool
    def __init__(self, slow_type_names: _Optional[_Iterable[str]] = ..., express_worker_count: _Optional[int] = ..., slow_worker_count: _Optional[int] = ..., performance: _Optional[_Union[LanePerformance, _Mapping]] = ..., stable_with_more_arrivals: bool = ..., slowdown_ratio: _Optional[_Union[RatioInterval, _Mapping]] = ..., sojourn_ratio: _Optional[_Union[RatioInterval, _Mapping]] = ..., slowdown_ratio_to_timeouts: _Optional[_Union[RatioInterval, _Mapping]] = ..., sojourn_ratio_to_timeouts: _Optional[_Union[RatioInterval, _Mapping]] = ...) -> None: ...

class PlanLanesRequest(_message.Message):
    __slots__ = ["arrival_rate", "histogram", "max_lane_count", "on_timeout", "percentiles", "samples", "samples_by_type", "seed", "slowdown_floor", "tolerated_wait", "worker_count"]
    ARRIVAL_RATE_FIELD_NUMBER: _ClassVar[int]
    HISTOGRAM_FIELD_NUMBER: _ClassVar[int]
    MAX_LANE_COUNT_FIELD_NUMBER: _ClassVar[int]
    ON_TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    PERCENTILES_FIELD_NUMBER: _ClassVar[int]
    SAMPLES_BY_TYPE_FIELD_NUMBER: _ClassVar[int]
    SAMPLES_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    SLOWDOWN_FLOOR_FIELD_NUMBER: _ClassVar[int]
    TOLERATED_WAIT_FIELD_NUMBER: _ClassVar[int]
    WORKER_COUNT_FIELD_NUMBER: _ClassVar[int]
    arrival_rate: float
    histogram: RunTimeHistogram
    max_lane_count: int
    on_timeout: _lanes_pb2.TimeoutAction
    percentiles: RunTimePercentiles
    samples: RunTimeSamples
    samples_by_type: RunTimeSamplesByType
    seed: int
    slowdown_floor: _duration_pb2.Duration
    tolerated_wait: _duration_pb2.Duration
    worker_count: int
    def __init__(self, samples: _Optional[_Union[RunTimeSamples, _Mapping]] = ..., histogram: _Optional[_Union[RunTimeHistogram, _Mapping]] = ..., percentiles: _Optional[_Union[RunTimePercentiles, _Mapping]] = ..., samples_by_type: _Optional[_Union[RunTimeSamplesByType, _Mapping]] = ..., arrival_rate: _Optional[float] = ..., worker_count: _Optional[int] = ..., tolerated_wait: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., slowdown_floor: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., on_timeout: _Optional[_Union[_lanes_pb2.TimeoutAction, str]] = ..., max_lane_count: _Optional[int] = ..., seed: _Optional[int] = ...) -> None: ...

class PlanLanesResponse(_message.Message):
    __slots__ = ["cutoffs", "job_types", "lane_set", "lanes_by_type", "mean_run_time", "messages", "run_time_classes", "sensitivities", "slowdown_floor", "slowdown_ratio", "sojourn_ratio", "stream_count", "stream_job_count", "utilization", "verdict", "with_lanes", "without_lanes"]
    CUTOFFS_FIELD_NUMBER: _ClassVar[int]
    JOB_TYPES_FIELD_NUMBER: _ClassVar[int]
    LANES_BY_TYPE_FIELD_NUMBER: _ClassVar[int]
    LANE_SET_FIELD_NUMBER: _ClassVar[int]
    MEAN_RUN_TIME_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    RUN_TIME_CLASSES_FIELD_NUMBER: _ClassVar[int]
    SENSITIVITIES_FIELD_NUMBER: _ClassVar[int]
    SLOWDOWN_FLOOR_FIELD_NUMBER: _ClassVar[int]
    SLOWDOWN_RATIO_FIELD_NUMBER: _ClassVar[int]
    SOJOURN_RATIO_FIELD_NUMBER: _ClassVar[int]
    STREAM_COUNT_FIELD_NUMBER: _ClassVar[int]
    STREAM_JOB_COUNT_FIELD_NUMBER: _ClassVar[int]
    UTILIZATION_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    WITHOUT_LANES_FIELD_NUMBER: _ClassVar[int]
    WITH_LANES_FIELD_NUMBER: _ClassVar[int]
    cutoffs: _containers.RepeatedCompositeFieldContainer[CutoffFigures]
    job_types: _containers.RepeatedCompositeFieldContainer[JobTypeFigures]
    lane_set: _lanes_pb2.LaneSet
    lanes_by_type: LanesByType
    mean_run_time: _duration_pb2.Duration
    messages: _containers.RepeatedScalarFieldContainer[str]
    run_time_classes: _containers.RepeatedCompositeFieldContainer[RunTimeClass]
    sensitivities: _containers.RepeatedCompositeFieldContainer[LaneSensitivity]
    slowdown_floor: _duration_pb2.Duration
    slowdown_ratio: RatioInterval
    sojourn_ratio: RatioInterval
    stream_count: int
    stream_job_count: int
    utilization: float
    verdict: LaneVerdict
    with_lanes: LanePerformance
    without_lanes: LanePerformance
    def __init__(self, verdict: _Optional[_Union[LaneVerdict, str]] = ..., lane_set: _Optional[_Union[_lanes_pb2.LaneSet, _Mapping]] = ..., with_lanes: _Optional[_Union[LanePerformance, _Mapping]] = ..., without_lanes: _Optional[_Union[LanePerformance, _Mapping]] = ..., sensitivities: _Optional[_Iterable[_Union[LaneSensitivity, _Mapping]]] = ..., cutoffs: _Optional[_Iterable[_Union[CutoffFigures, _Mapping]]] = ..., slowdown_floor: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., mean_run_time: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., utilization: _Optional[float] = ..., stream_count: _Optional[int] = ..., stream_job_count: _Optional[int] = ..., slowdown_ratio: _Optional[_Union[RatioInterval, _Mapping]] = ..., sojourn_ratio: _Optional[_Union[RatioInterval, _Mapping]] = ..., run_time_classes: _Optional[_Iterable[_Union[RunTimeClass, _Mapping]]] = ..., messages: _Optional[_Iterable[str]] = ..., lanes_by_type: _Optional[_Union[LanesByType, _Mapping]] = ..., job_types: _Optional[_Iterable[_Union[JobTypeFigures, _Mapping]]] = ...) -> None: ...

class RatioInterval(_message.Message):
    __slots__ = ["estimate", "high", "low"]
    ESTIMATE_FIELD_NUMBER: _ClassVar[int]
    HIGH_FIELD_NUMBER: _ClassVar[int]
    LOW_FIELD_NUMBER: _ClassVar[int]
    estimate: float
    high: float
    low: float
    def __init__(self, estimate: _Optional[float] = ..., low: _Optional[float] = ..., high: _Optional[float] = ...) -> None: ...

class RunTimeBucket(_message.Message):
    __slots__ = ["job_count", "upper_bound"]
    JOB_COUNT_FIELD_NUMBER: _ClassVar[int]
    UPPER_BOUND_FIELD_NUMBER: _ClassVar[int]
    job_count: int
    upper_bound: _duration_pb2.Duration
    def __init__(self, upper_bound: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., job_count: _Optional[int] = ...) -> None: ...

class RunTimeClass(_message.Message):
    __slots__ = ["job_ratio", "max_run_time", "mean_sojourn_with_lanes", "mean_sojourn_without_lanes", "mean_wait_with_lanes", "mean_wait_without_lanes", "sample_count"]
    JOB_RATIO_FIELD_NUMBER: _ClassVar[int]
    MAX_RUN_TIME_FIELD_NUMBER: _ClassVar[int]
    MEAN_SOJOURN_WITHOUT_LANES_FIELD_NUMBER: _ClassVar[int]
    MEAN_SOJOURN_WITH_LANES_FIELD_NUMBER: _ClassVar[int]
    MEAN_WAIT_WITHOUT_LANES_FIELD_NUMBER: _ClassVar[int]
    MEAN_WAIT_WITH_LANES_FIELD_NUMBER: _ClassVar[int]
    SAMPLE_COUNT_FIELD_NUMBER: _ClassVar[int]
    job_ratio: float
    max_run_time: _duration_pb2.Duration
    mean_sojourn_with_lanes: _duration_pb2.Duration
    mean_sojourn_without_lanes: _duration_pb2.Duration
    mean_wait_with_lanes: _duration_pb2.Duration
    mean_wait_without_lanes: _duration_pb2.Duration
    sample_count: int
    def __init__(self, max_run_time: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., job_ratio: _Optional[float] = ..., sample_count: _Optional[int] = ..., mean_wait_with_lanes: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., mean_wait_without_lanes: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., mean_sojourn_with_lanes: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., mean_sojourn_without_lanes: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

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
    __slots__ = ["run_time_micros"]
    RUN_TIME_MICROS_FIELD_NUMBER: _ClassVar[int]
    run_time_micros: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, run_time_micros: _Optional[_Iterable[int]] = ...) -> None: ...

class RunTimeSamplesByType(_message.Message):
    __slots__ = ["types"]
    TYPES_FIELD_NUMBER: _ClassVar[int]
    types: _containers.RepeatedCompositeFieldContainer[JobTypeSamples]
    def __init__(self, types: _Optional[_Iterable[_Union[JobTypeSamples, _Mapping]]] = ...) -> None: ...

class LaneVerdict(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []
