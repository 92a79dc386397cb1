from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class IntervalHistogram(_message.Message):
    __slots__ = ["counts", "edges"]
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    EDGES_FIELD_NUMBER: _ClassVar[int]
    counts: _containers.RepeatedScalarFieldContainer[int]
    edges: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, edges: _Optional[_Iterable[float]] = ..., counts: _Optional[_Iterable[int]] = ...) -> None: ...

class LateRunsResult(_message.Message):
    __slots__ = ["dropped", "late", "superseded"]
    DROPPED_FIELD_NUMBER: _ClassVar[int]
    LATE_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDED_FIELD_NUMBER: _ClassVar[int]
    dropped: float
    late: float
    superseded: float
    def __init__(self, late: _Optional[float] = ..., superseded: _Optional[float] = ..., dropped: _Optional[float] = ...) -> None: ...

class PartnerResult(_message.Message):
    __slots__ = ["failed", "jobs_finished", "mean_wait", "name", "throttled"]
    FAILED_FIELD_NUMBER: _ClassVar[int]
    JOBS_FINISHED_FIELD_NUMBER: _ClassVar[int]
    MEAN_WAIT_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    THROTTLED_FIELD_NUMBER: _ClassVar[int]
    failed: float
    jobs_finished: float
    mean_wait: float
    name: str
    throttled: float
    def __init__(self, name: _Optional[str] = ..., jobs_finished: _Optional[float] = ..., throttled: _Optional[float] = ..., failed: _Optional[float] = ..., mean_wait: _Optional[float] = ...) -> None: ...

class SimulateRequest(_message.Message):
    __slots__ = ["scenario"]
    SCENARIO_FIELD_NUMBER: _ClassVar[int]
    scenario: str
    def __init__(self, scenario: _Optional[str] = ...) -> None: ...

class SimulateResponse(_message.Message):
    __slots__ = ["progress", "results"]
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    progress: SimulationProgress
    results: SimulationResults
    def __init__(self, progress: _Optional[_Union[SimulationProgress, _Mapping]] = ..., results: _Optional[_Union[SimulationResults, _Mapping]] = ...) -> None: ...

class SimulationFigures(_message.Message):
    __slots__ = ["interval_mean", "interval_p05", "interval_p95", "interval_variation", "jobs_failed", "jobs_finished", "jobs_left", "lock_conflicts", "max_queue_depth", "mean_slowdown", "mean_sojourn", "mean_wait", "never_served", "p50_wait", "p95_sojourn", "p95_wait", "p99_wait", "peak_enqueued_per_second", "throughput_variation", "utilization", "wasted_share"]
    INTERVAL_MEAN_FIELD_NUMBER: _ClassVar[int]
    INTERVAL_P05_FIELD_NUMBER: _ClassVar[int]
    INTERVAL_P95_FIELD_NUMBER: _ClassVar[int]
    INTERVAL_VARIATION_FIELD_NUMBER: _ClassVar[int]
    JOBS_FAILED_FIELD_NUMBER: _ClassVar[int]
    JOBS_FINISHED_FIELD_NUMBER: _ClassVar[int]
    JOBS_LEFT_FIELD_NUMBER: _ClassVar[int]
    LOCK_CONFLICTS_FIELD_NUMBER: _ClassVar[int]
    MAX_QUEUE_DEPTH_FIELD_NUMBER: _ClassVar[int]
    MEAN_SLOWDOWN_FIELD_NUMBER: _ClassVar[int]
    MEAN_SOJOURN_FIELD_NUMBER: _ClassVar[int]
    MEAN_WAIT_FIELD_NUMBER: _ClassVar[int]
    NEVER_SERVED_FIELD_NUMBER: _ClassVar[int]
    P50_WAIT_FIELD_NUMBER: _ClassVar[int]
    P95_SOJOURN_FIELD_NUMBER: _ClassVar[int]
    P95_WAIT_FIELD_NUMBER: _ClassVar[int]
    P99_WAIT_FIELD_NUMBER: _ClassVar[int]
    PEAK_ENQUEUED_PER_SECOND_FIELD_NUMBER: _ClassVar[int]
    THROUGHPUT_VARIATION_FIELD_NUMBER: _ClassVar[int]
    UTILIZATION_FIELD_NUMBER: _ClassVar[int]
    WASTED_SHARE_FIELD_NUMBER: _ClassVar[int]
    interval_mean: float
    interval_p05: float
    interval_p95: float
    interval_variation: float
    jobs_failed: float
    jobs_finished: float
    jobs_left: float
    lock_conflicts: float
    max_queue_depth: float
    mean_slowdown: float
    mean_sojourn: float
    mean_wait: float
    never_served: float
    p50_wait: float
    p95_sojourn: float
    p95_wait: float
    p99_wait: float
    peak_enqueued_per_second: float
    throughput_variation: float
    utilization: float
    wasted_share: float
    def __init__(self, jobs_finished: _Optional[float] = ..., jobs_failed: _Optional[float] = ..., mean_wait: _Optional[float] = ..., p50_wait: _Optional[float] = ..., p95_wait: _Optional[float] = ..., p99_wait: _Optional[float] = ..., mean_sojourn: _Optional[float] = ..., p95_sojourn: _Optional[float] = ..., max_queue_depth: _Optional[float] = ..., peak_enqueued_per_second: _Optional[float] = ..., utilization: _Optional[float] = ..., throughput_variation: _Optional[float] = ..., interval_mean: _Optional[float] = ..., interval_variation: _Optional[float] = ..., interval_p05: _Optional[float] = ..., interval_p95: _Optional[float] = ..., never_served: _Optional[float] = ..., lock_conflicts: _Optional[float] = ..., wasted_share: _Optional[float] = ..., jobs_left: _Optional[float] = ..., mean_slowdown: _Optional[float] = ...) -> None: ...

class SimulationProgress(_message.Message):
    __slots__ = ["simulated", "total"]
    SIMULATED_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    simulated: _duration_pb2.Duration
    total: _duration_pb2.Duration
    def __init__(self, simulated: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., total: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class SimulationResults(_message.Message):
    __slots__ = ["notes", "ranking", "strategies"]
    NOTES_FIELD_NUMBER: _ClassVar[int]
    RANKING_FIELD_NUMBER: _ClassVar[int]
    STRATEGIES_FIELD_NUMBER: _ClassVar[int]
    notes: _containers.RepeatedScalarFieldContainer[str]
    ranking: _containers.RepeatedScalarFieldContainer[str]
    strategies: _containers.RepeatedCompositeFieldContainer[StrategyResult]
    def __init__(self, ranking: _Optional[_Iterable[str]] = ..., strategies: _Optional[_Iterable[_Union[StrategyResult, _Mapping]]] = ..., notes: _Optional[_Iterable[str]] = ...) -> None: ...

class SimulationSeries(_message.Message):
    __slots__ = ["busy_workers", "enqueued_per_second", "finished_per_second", "queue_depths", "step", "workers"]
    BUSY_WORKERS_FIELD_NUMBER: _ClassVar[int]
    ENQUEUED_PER_SECOND_FIELD_NUMBER: _ClassVar[int]
    FINISHED_PER_SECOND_FIELD_NUMBER: _ClassVar[int]
    QUEUE_DEPTHS_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    WORKERS_FIELD_NUMBER: _ClassVar[int]
    busy_workers: _containers.RepeatedScalarFieldContainer[float]
    enqueued_per_second: _containers.RepeatedScalarFieldContainer[int]
    finished_per_second: _containers.RepeatedScalarFieldContainer[float]
    queue_depths: _containers.RepeatedScalarFieldContainer[int]
    step: _duration_pb2.Duration
    workers: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, step: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., queue_depths: _Optional[_Iterable[int]] = ..., finished_per_second: _Optional[_Iterable[float]] = ..., enqueued_per_second: _Optional[_Iterable[int]] = ..., busy_workers: _Optional[_Iterable[float]] = ..., workers: _Optional[_Iterable[int]] = ...) -> None: ...

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
    __slots__ = ["figures", "intervals", "late_runs", "least_kind_distance", "name", "partners", "ranks", "series", "slot_loads"]
    FIGURES_FIELD_NUMBER: _ClassVar[int]
    INTERVALS_FIELD_NUMBER: _ClassVar[int]
    LATE_RUNS_FIELD_NUMBER: _ClassVar[int]
    LEAST_KIND_DISTANCE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PARTNERS_FIELD_NUMBER: _ClassVar[int]
    RANKS_FIELD_NUMBER: _ClassVar[int]
    SERIES_FIELD_NUMBER: _ClassVar[int]
    SLOT_LOADS_FIELD_NUMBER: _ClassVar[int]
    figures: SimulationFigures
    intervals: IntervalHistogram
    late_runs: LateRunsResult
    least_kind_distance: _duration_pb2.Duration
    name: str
    partners: _containers.RepeatedCompositeFieldContainer[PartnerResult]
    ranks: StrategyRanks
    series: SimulationSeries
    slot_loads: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, name: _Optional[str] = ..., figures: _Optional[_Union[SimulationFigures, _Mapping]] = ..., ranks: _Optional[_Union[StrategyRanks, _Mapping]] = ..., series: _Optional[_Union[SimulationSeries, _Mapping]] = ..., intervals: _Optional[_Union[IntervalHistogram, _Mapping]] = ..., slot_loads: _Optional[_Iterable[int]] = ..., partners: _Optional[_Iterable[_Union[PartnerResult, _Mapping]]] = ..., late_runs: _Optional[_Union[LateRunsResult, _Mapping]] = ..., least_kind_distance: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...
