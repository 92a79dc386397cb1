from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class IntervalHistogram(_message.Message):
    __slots__ = ["edge_seconds", "interval_counts"]
    EDGE_SECONDS_FIELD_NUMBER: _ClassVar[int]
    INTERVAL_COUNTS_FIELD_NUMBER: _ClassVar[int]
    edge_seconds: _containers.RepeatedScalarFieldContainer[float]
    interval_counts: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, edge_seconds: _Optional[_Iterable[float]] = ..., interval_counts: _Optional[_Iterable[int]] = ...) -> None: ...

class LateRunsResult(_message.Message):
    __slots__ = ["dropped_run_count", "late_run_count", "superseded_run_count"]
    DROPPED_RUN_COUNT_FIELD_NUMBER: _ClassVar[int]
    LATE_RUN_COUNT_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDED_RUN_COUNT_FIELD_NUMBER: _ClassVar[int]
    dropped_run_count: float
    late_run_count: float
    superseded_run_count: float
    def __init__(self, late_run_count: _Optional[float] = ..., superseded_run_count: _Optional[float] = ..., dropped_run_count: _Optional[float] = ...) -> None: ...

class PartnerPhase(_message.Message):
    __slots__ = ["is_down", "max_calls_per_second", "mean_wait", "needed_calls_per_second", "unanswered_worker_count"]
    IS_DOWN_FIELD_NUMBER: _ClassVar[int]
    MAX_CALLS_PER_SECOND_FIELD_NUMBER: _ClassVar[int]
    MEAN_WAIT_FIELD_NUMBER: _ClassVar[int]
    NEEDED_CALLS_PER_SECOND_FIELD_NUMBER: _ClassVar[int]
    UNANSWERED_WORKER_COUNT_FIELD_NUMBER: _ClassVar[int]
    is_down: bool
    max_calls_per_second: float
    mean_wait: _duration_pb2.Duration
    needed_calls_per_second: float
    unanswered_worker_count: float
    def __init__(self, is_down: bool = ..., needed_calls_per_second: _Optional[float] = ..., max_calls_per_second: _Optional[float] = ..., unanswered_worker_count: _Optional[float] = ..., mean_wait: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class PartnerResult(_message.Message):
    __slots__ = ["failed_attempt_count", "finished_job_count", "mean_wait", "name", "throttled_attempt_count"]
    FAILED_ATTEMPT_COUNT_FIELD_NUMBER: _ClassVar[int]
    FINISHED_JOB_COUNT_FIELD_NUMBER: _ClassVar[int]
    MEAN_WAIT_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    THROTTLED_ATTEMPT_COUNT_FIELD_NUMBER: _ClassVar[int]
    failed_attempt_count: float
    finished_job_count: float
    mean_wait: _duration_pb2.Duration
    name: str
    throttled_attempt_count: float
    def __init__(self, name: _Optional[str] = ..., finished_job_count: _Optional[float] = ..., throttled_attempt_count: _Optional[float] = ..., failed_attempt_count: _Optional[float] = ..., mean_wait: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class SimulateRequest(_message.Message):
    __slots__ = ["include_json", "scenario"]
    INCLUDE_JSON_FIELD_NUMBER: _ClassVar[int]
    SCENARIO_FIELD_NUMBER: _ClassVar[int]
    include_json: bool
    scenario: str
    def __init__(self, scenario: _Optional[str] = ..., include_json: bool = ...) -> None: ...

class SimulateResponse(_message.Message):
    __slots__ = ["progress", "results"]
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    progress: SimulationProgress
    results: SimulationResults
    def __init__(self, progress: _Optional[_Union[SimulationProgress, _Mapping]] = ..., results: _Optional[_Union[SimulationResults, _Mapping]] = ...) -> None: ...

class SimulationFigures(_message.Message):
    __slots__ = ["failed_job_count", "finished_job_count", "interval_variation", "left_job_count", "lock_conflict_count", "max_backlog_count", "max_enqueued_per_second", "mean_interval", "mean_slowdown", "mean_sojourn", "mean_wait", "p05_interval", "p50_wait", "p95_interval", "p95_sojourn", "p95_wait", "p99_wait", "throughput_variation", "unserved_user_count", "utilization", "wasted_ratio"]
    FAILED_JOB_COUNT_FIELD_NUMBER: _ClassVar[int]
    FINISHED_JOB_COUNT_FIELD_NUMBER: _ClassVar[int]
    INTERVAL_VARIATION_FIELD_NUMBER: _ClassVar[int]
    LEFT_JOB_COUNT_FIELD_NUMBER: _ClassVar[int]
    LOCK_CONFLICT_COUNT_FIELD_NUMBER: _ClassVar[int]
    MAX_BACKLOG_COUNT_FIELD_NUMBER: _ClassVar[int]
    MAX_ENQUEUED_PER_SECOND_FIELD_NUMBER: _ClassVar[int]
    MEAN_INTERVAL_FIELD_NUMBER: _ClassVar[int]
    MEAN_SLOWDOWN_FIELD_NUMBER: _ClassVar[int]
    MEAN_SOJOURN_FIELD_NUMBER: _ClassVar[int]
    MEAN_WAIT_FIELD_NUMBER: _ClassVar[int]
    P05_INTERVAL_FIELD_NUMBER: _ClassVar[int]
    P50_WAIT_FIELD_NUMBER: _ClassVar[int]
    P95_INTERVAL_FIELD_NUMBER: _ClassVar[int]
    P95_SOJOURN_FIELD_NUMBER: _ClassVar[int]
    P95_WAIT_FIELD_NUMBER: _ClassVar[int]
    P99_WAIT_FIELD_NUMBER: _ClassVar[int]
    THROUGHPUT_VARIATION_FIELD_NUMBER: _ClassVar[int]
    UNSERVED_USER_COUNT_FIELD_NUMBER: _ClassVar[int]
    UTILIZATION_FIELD_NUMBER: _ClassVar[int]
    WASTED_RATIO_FIELD_NUMBER: _ClassVar[int]
    failed_job_count: float
    finished_job_count: float
    interval_variation: float
    left_job_count: float
    lock_conflict_count: float
    max_backlog_count: float
    max_enqueued_per_second: float
    mean_interval: _duration_pb2.Duration
    mean_slowdown: float
    mean_sojourn: _duration_pb2.Duration
    mean_wait: _duration_pb2.Duration
    p05_interval: _duration_pb2.Duration
    p50_wait: _duration_pb2.Duration
    p95_interval: _duration_pb2.Duration
    p95_sojourn: _duration_pb2.Duration
    p95_wait: _duration_pb2.Duration
    p99_wait: _duration_pb2.Duration
    throughput_variation: float
    unserved_user_count: float
    utilization: float
    wasted_ratio: float
    def __init__(self, finished_job_count: _Optional[float] = ..., failed_job_count: _Optional[float] = ..., left_job_count: _Optional[float] = ..., mean_wait: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., p50_wait: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., p95_wait: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., p99_wait: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., mean_sojourn: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., p95_sojourn: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., max_backlog_count: _Optional[float] = ..., max_enqueued_per_second: _Optional[float] = ..., utilization: _Optional[float] = ..., throughput_variation: _Optional[float] = ..., mean_interval: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., interval_variation: _Optional[float] = ..., p05_interval: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., p95_interval: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., unserved_user_count: _Optional[float] = ..., lock_conflict_count: _Optional[float] = ..., wasted_ratio: _Optional[float] = ..., mean_slowdown: _Optional[float] = ...) -> None: ...

class SimulationPhase(_message.Message):
    __slots__ = ["available_worker_count", "end_offset", "max_backlog_count", "mean_busy_worker_count", "mean_wait", "needed_worker_count", "partners", "producer_is_down", "start_offset"]
    AVAILABLE_WORKER_COUNT_FIELD_NUMBER: _ClassVar[int]
    END_OFFSET_FIELD_NUMBER: _ClassVar[int]
    MAX_BACKLOG_COUNT_FIELD_NUMBER: _ClassVar[int]
    MEAN_BUSY_WORKER_COUNT_FIELD_NUMBER: _ClassVar[int]
    MEAN_WAIT_FIELD_NUMBER: _ClassVar[int]
    NEEDED_WORKER_COUNT_FIELD_NUMBER: _ClassVar[int]
    PARTNERS_FIELD_NUMBER: _ClassVar[int]
    PRODUCER_IS_DOWN_FIELD_NUMBER: _ClassVar[int]
    START_OFFSET_FIELD_NUMBER: _ClassVar[int]
    available_worker_count: float
    end_offset: _duration_pb2.Duration
    max_backlog_count: float
    mean_busy_worker_count: float
    mean_wait: _duration_pb2.Duration
    needed_worker_count: float
    partners: _containers.RepeatedCompositeFieldContainer[PartnerPhase]
    producer_is_down: bool
    start_offset: _duration_pb2.Duration
    def __init__(self, start_offset: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., end_offset: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., needed_worker_count: _Optional[float] = ..., available_worker_count: _Optional[float] = ..., mean_busy_worker_count: _Optional[float] = ..., mean_wait: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., max_backlog_count: _Optional[float] = ..., producer_is_down: bool = ..., partners: _Optional[_Iterable[_Union[PartnerPhase, _Mapping]]] = ...) -> None: ...

class SimulationProgress(_message.Message):
    __slots__ = ["simulated_duration", "total_duration"]
    SIMULATED_DURATION_FIELD_NUMBER: _ClassVar[int]
    TOTAL_DURATION_FIELD_NUMBER: _ClassVar[int]
    simulated_duration: _duration_pb2.Duration
    total_duration: _duration_pb2.Duration
    def __init__(self, simulated_duration: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., total_duration: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class SimulationResults(_message.Message):
    __slots__ = ["findings", "json", "notes", "strategies"]
    FINDINGS_FIELD_NUMBER: _ClassVar[int]
    JSON_FIELD_NUMBER: _ClassVar[int]
    NOTES_FIELD_NUMBER: _ClassVar[int]
    STRATEGIES_FIELD_NUMBER: _ClassVar[int]
    findings: _containers.RepeatedScalarFieldContainer[str]
    json: str
    notes: _containers.RepeatedScalarFieldContainer[str]
    strategies: _containers.RepeatedCompositeFieldContainer[StrategyResult]
    def __init__(self, strategies: _Optional[_Iterable[_Union[StrategyResult, _Mapping]]] = ..., notes: _Optional[_Iterable[str]] = ..., findings: _Optional[_Iterable[str]] = ..., json: _Optional[str] = ...) -> None: ...

class SimulationSeries(_message.Message):
    __slots__ = ["max_backlog_counts", "max_enqueued_per_second", "max_worker_counts", "mean_busy_worker_counts", "mean_finished_per_second", "step_duration"]
    MAX_BACKLOG_COUNTS_FIELD_NUMBER: _ClassVar[int]
    MAX_ENQUEUED_PER_SECOND_FIELD_NUMBER: _ClassVar[int]
    MAX_WORKER_COUNTS_FIELD_NUMBER: _ClassVar[int]
    MEAN_BUSY_WORKER_COUNTS_FIELD_NUMBER: _ClassVar[int]
    MEAN_FINISHED_PER_SECOND_FIELD_NUMBER: _ClassVar[int]
    STEP_DURATION_FIELD_NUMBER: _ClassVar[int]
    max_backlog_counts: _containers.RepeatedScalarFieldContainer[int]
    max_enqueued_per_second: _containers.RepeatedScalarFieldContainer[int]
    max_worker_counts: _containers.RepeatedScalarFieldContainer[int]
    mean_busy_worker_counts: _containers.RepeatedScalarFieldContainer[float]
    mean_finished_per_second: _containers.RepeatedScalarFieldContainer[float]
    step_duration: _duration_pb2.Duration
    def __init__(self, step_duration: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., max_backlog_counts: _Optional[_Iterable[int]] = ..., mean_finished_per_second: _Optional[_Iterable[float]] = ..., max_enqueued_per_second: _Optional[_Iterable[int]] = ..., mean_busy_worker_counts: _Optional[_Iterable[float]] = ..., max_worker_counts: _Optional[_Iterable[int]] = ...) -> None: ...

class StrategyRanks(_message.Message):
    __slots__ = ["consistent_delay", "even_throughput", "no_conflicts", "no_spikes"]
    CONSISTENT_DELAY_FIELD_NUMBER: _ClassVar[int]
    EVEN_THROUGHPUT_FIELD_NUMBER: _ClassVar[int]
    NO_CONFLICTS_FIELD_NUMBER: _ClassVar[int]
    NO_SPIKES_FIELD_NUMBER: _ClassVar[int]
    consistent_delay: int
    even_throughput: int
    no_conflicts: int
    no_spikes: int
    def __init__(self, consistent_delay: _Optional[int] = ..., no_spikes: _Optional[int] = ..., even_throughput: _Optional[int] = ..., no_conflicts: _Optional[int] = ...) -> None: ...

class StrategyResult(_message.Message):
    __slots__ = ["available_worker_count", "enqueued_job_count", "figures", "intervals", "jobs_pile_up", "late_runs", "least_kind_distance", "name", "needed_worker_count", "overall_rank", "partners", "phases", "ranks", "series", "slot_loads"]
    AVAILABLE_WORKER_COUNT_FIELD_NUMBER: _ClassVar[int]
    ENQUEUED_JOB_COUNT_FIELD_NUMBER: _ClassVar[int]
    FIGURES_FIELD_NUMBER: _ClassVar[int]
    INTERVALS_FIELD_NUMBER: _ClassVar[int]
    JOBS_PILE_UP_FIELD_NUMBER: _ClassVar[int]
    LATE_RUNS_FIELD_NUMBER: _ClassVar[int]
    LEAST_KIND_DISTANCE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    NEEDED_WORKER_COUNT_FIELD_NUMBER: _ClassVar[int]
    OVERALL_RANK_FIELD_NUMBER: _ClassVar[int]
    PARTNERS_FIELD_NUMBER: _ClassVar[int]
    PHASES_FIELD_NUMBER: _ClassVar[int]
    RANKS_FIELD_NUMBER: _ClassVar[int]
    SERIES_FIELD_NUMBER: _ClassVar[int]
    SLOT_LOADS_FIELD_NUMBER: _ClassVar[int]
    available_worker_count: float
    enqueued_job_count: float
    figures: SimulationFigures
    intervals: IntervalHistogram
    jobs_pile_up: bool
    late_runs: LateRunsResult
    least_kind_distance: _duration_pb2.Duration
    name: str
    needed_worker_count: float
    overall_rank: int
    partners: _containers.RepeatedCompositeFieldContainer[PartnerResult]
    phases: _containers.RepeatedCompositeFieldContainer[SimulationPhase]
    ranks: StrategyRanks
    series: SimulationSeries
    slot_loads: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, name: _Optional[str] = ..., overall_rank: _Optional[int] = ..., figures: _Optional[_Union[SimulationFigures, _Mapping]] = ..., ranks: _Optional[_Union[StrategyRanks, _Mapping]] = ..., series: _Optional[_Union[SimulationSeries, _Mapping]] = ..., intervals: _Optional[_Union[IntervalHistogram, _Mapping]] = ..., slot_loads: _Optional[_Iterable[float]] = ..., partners: _Optional[_Iterable[_Union[PartnerResult, _Mapping]]] = ..., late_runs: _Optional[_Union[LateRunsResult, _Mapping]] = ..., least_kind_distance: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., jobs_pile_up: bool = ..., enqueued_job_count: _Optional[float] = ..., needed_worker_count: _Optional[float] = ..., available_worker_count: _Optional[float] = ..., phases: _Optional[_Iterable[_Union[SimulationPhase, _Mapping]]] = ...) -> None: ...
