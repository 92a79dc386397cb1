from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from offbeat.v1 import id_pb2 as _id_pb2
from offbeat.v1 import schedule_pb2 as _schedule_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor
MISSED_RUN_POLICY_DROP: MissedRunPolicy
MISSED_RUN_POLICY_RUN_ALL: MissedRunPolicy
MISSED_RUN_POLICY_RUN_ONCE: MissedRunPolicy
MISSED_RUN_POLICY_UNSPECIFIED: MissedRunPolicy

class CatchUpPolicy(_message.Message):
    __slots__ = ["horizon", "min_gap", "missed_run_policy", "on_time_tolerance", "smear_span"]
    HORIZON_FIELD_NUMBER: _ClassVar[int]
    MIN_GAP_FIELD_NUMBER: _ClassVar[int]
    MISSED_RUN_POLICY_FIELD_NUMBER: _ClassVar[int]
    ON_TIME_TOLERANCE_FIELD_NUMBER: _ClassVar[int]
    SMEAR_SPAN_FIELD_NUMBER: _ClassVar[int]
    horizon: _duration_pb2.Duration
    min_gap: _duration_pb2.Duration
    missed_run_policy: MissedRunPolicy
    on_time_tolerance: _duration_pb2.Duration
    smear_span: _duration_pb2.Duration
    def __init__(self, missed_run_policy: _Optional[_Union[MissedRunPolicy, str]] = ..., on_time_tolerance: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., horizon: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., smear_span: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., min_gap: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class DueRuns(_message.Message):
    __slots__ = ["cycle_indexes", "errors", "id_indexes", "piece_indexes", "run_key_prefix", "scheduled_unix_millis", "start_unix_millis"]
    CYCLE_INDEXES_FIELD_NUMBER: _ClassVar[int]
    ERRORS_FIELD_NUMBER: _ClassVar[int]
    ID_INDEXES_FIELD_NUMBER: _ClassVar[int]
    PIECE_INDEXES_FIELD_NUMBER: _ClassVar[int]
    RUN_KEY_PREFIX_FIELD_NUMBER: _ClassVar[int]
    SCHEDULED_UNIX_MILLIS_FIELD_NUMBER: _ClassVar[int]
    START_UNIX_MILLIS_FIELD_NUMBER: _ClassVar[int]
    cycle_indexes: _containers.RepeatedScalarFieldContainer[int]
    errors: _containers.RepeatedCompositeFieldContainer[_id_pb2.IdError]
    id_indexes: _containers.RepeatedScalarFieldContainer[int]
    piece_indexes: _containers.RepeatedScalarFieldContainer[int]
    run_key_prefix: str
    scheduled_unix_millis: _containers.RepeatedScalarFieldContainer[int]
    start_unix_millis: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, id_indexes: _Optional[_Iterable[int]] = ..., piece_indexes: _Optional[_Iterable[int]] = ..., cycle_indexes: _Optional[_Iterable[int]] = ..., scheduled_unix_millis: _Optional[_Iterable[int]] = ..., start_unix_millis: _Optional[_Iterable[int]] = ..., run_key_prefix: _Optional[str] = ..., errors: _Optional[_Iterable[_Union[_id_pb2.IdError, _Mapping]]] = ...) -> None: ...

class ListDueRunsRequest(_message.Message):
    __slots__ = ["catch_up_policy", "ids", "kind", "look_ahead", "max_clock_skew", "now_time", "page_size", "page_token", "schedule", "watermark_time", "watermark_unix_millis", "weights"]
    CATCH_UP_POLICY_FIELD_NUMBER: _ClassVar[int]
    IDS_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    LOOK_AHEAD_FIELD_NUMBER: _ClassVar[int]
    MAX_CLOCK_SKEW_FIELD_NUMBER: _ClassVar[int]
    NOW_TIME_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    SCHEDULE_FIELD_NUMBER: _ClassVar[int]
    WATERMARK_TIME_FIELD_NUMBER: _ClassVar[int]
    WATERMARK_UNIX_MILLIS_FIELD_NUMBER: _ClassVar[int]
    WEIGHTS_FIELD_NUMBER: _ClassVar[int]
    catch_up_policy: CatchUpPolicy
    ids: _id_pb2.IdBatch
    kind: str
    look_ahead: _duration_pb2.Duration
    max_clock_skew: _duration_pb2.Duration
    now_time: _timestamp_pb2.Timestamp
    page_size: int
    page_token: str
    schedule: _schedule_pb2.Schedule
    watermark_time: _timestamp_pb2.Timestamp
    watermark_unix_millis: _containers.RepeatedScalarFieldContainer[int]
    weights: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, schedule: _Optional[_Union[_schedule_pb2.Schedule, _Mapping]] = ..., ids: _Optional[_Union[_id_pb2.IdBatch, _Mapping]] = ..., weights: _Optional[_Iterable[int]] = ..., kind: _Optional[str] = ..., watermark_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., watermark_unix_millis: _Optional[_Iterable[int]] = ..., now_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., catch_up_policy: _Optional[_Union[CatchUpPolicy, _Mapping]] = ..., max_clock_skew: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., look_ahead: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListDueRunsResponse(_message.Message):
    __slots__ = ["dropped_run_count", "identity", "late_run_count", "next_due_time", "next_page_token", "next_watermark_time", "runs", "skipped_run_count", "superseded_run_count"]
    DROPPED_RUN_COUNT_FIELD_NUMBER: _ClassVar[int]
    IDENTITY_FIELD_NUMBER: _ClassVar[int]
    LATE_RUN_COUNT_FIELD_NUMBER: _ClassVar[int]
    NEXT_DUE_TIME_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    NEXT_WATERMARK_TIME_FIELD_NUMBER: _ClassVar[int]
    RUNS_FIELD_NUMBER: _ClassVar[int]
    SKIPPED_RUN_COUNT_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDED_RUN_COUNT_FIELD_NUMBER: _ClassVar[int]
    dropped_run_count: int
    identity: _schedule_pb2.ScheduleIdentity
    late_run_count: int
    next_due_time: _timestamp_pb2.Timestamp
    next_page_token: str
    next_watermark_time: _timestamp_pb2.Timestamp
    runs: DueRuns
    skipped_run_count: int
    superseded_run_count: int
    def __init__(self, identity: _Optional[_Union[_schedule_pb2.ScheduleIdentity, _Mapping]] = ..., runs: _Optional[_Union[DueRuns, _Mapping]] = ..., next_watermark_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., late_run_count: _Optional[int] = ..., dropped_run_count: _Optional[int] = ..., superseded_run_count: _Optional[int] = ..., skipped_run_count: _Optional[int] = ..., next_due_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class MissedRunPolicy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []
