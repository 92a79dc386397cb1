from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from offbeat.v1 import id_pb2 as _id_pb2
from offbeat.v1 import schedule_pb2 as _schedule_pb2
from offbeat.v1 import sql_pb2 as _sql_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor
MIGRATION_PATH_NEW_PLACES: MigrationPath
MIGRATION_PATH_SAME_ORDER: MigrationPath
MIGRATION_PATH_SAME_TIMES: MigrationPath
MIGRATION_PATH_UNCHANGED: MigrationPath
MIGRATION_PATH_UNSPECIFIED: MigrationPath

class MigratedIds(_message.Message):
    __slots__ = ["errors", "first_new_cycle_indexes", "first_new_unix_millis", "last_old_cycle_indexes", "last_old_unix_millis", "left_out_run_count", "moved_id_count", "moved_ratio", "new_run_key_prefix", "observed_max_gap", "observed_min_gap", "old_run_key_prefix"]
    ERRORS_FIELD_NUMBER: _ClassVar[int]
    FIRST_NEW_CYCLE_INDEXES_FIELD_NUMBER: _ClassVar[int]
    FIRST_NEW_UNIX_MILLIS_FIELD_NUMBER: _ClassVar[int]
    LAST_OLD_CYCLE_INDEXES_FIELD_NUMBER: _ClassVar[int]
    LAST_OLD_UNIX_MILLIS_FIELD_NUMBER: _ClassVar[int]
    LEFT_OUT_RUN_COUNT_FIELD_NUMBER: _ClassVar[int]
    MOVED_ID_COUNT_FIELD_NUMBER: _ClassVar[int]
    MOVED_RATIO_FIELD_NUMBER: _ClassVar[int]
    NEW_RUN_KEY_PREFIX_FIELD_NUMBER: _ClassVar[int]
    OBSERVED_MAX_GAP_FIELD_NUMBER: _ClassVar[int]
    OBSERVED_MIN_GAP_FIELD_NUMBER: _ClassVar[int]
    OLD_RUN_KEY_PREFIX_FIELD_NUMBER: _ClassVar[int]
    errors: _containers.RepeatedCompositeFieldContainer[_id_pb2.IdError]
    first_new_cycle_indexes: _containers.RepeatedScalarFieldContainer[int]
    first_new_unix_millis: _containers.RepeatedScalarFieldContainer[int]
    last_old_cycle_indexes: _containers.RepeatedScalarFieldContainer[int]
    last_old_unix_millis: _containers.RepeatedScalarFieldContainer[int]
    left_out_run_count: int
    moved_id_count: int
    moved_ratio: float
    new_run_key_prefix: str
    observed_max_gap: _duration_pb2.Duration
    observed_min_gap: _duration_pb2.Duration
    old_run_key_prefix: str
    def __init__(self, last_old_unix_millis: _Optional[_Iterable[int]] = ..., last_old_cycle_indexes: _Optional[_Iterable[int]] = ..., first_new_unix_millis: _Optional[_Iterable[int]] = ..., first_new_cycle_indexes: _Optional[_Iterable[int]] = ..., moved_id_count: _Optional[int] = ..., moved_ratio: _Optional[float] = ..., observed_min_gap: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., observed_max_gap: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., left_out_run_count: _Optional[int] = ..., old_run_key_prefix: _Optional[str] = ..., new_run_key_prefix: _Optional[str] = ..., errors: _Optional[_Iterable[_Union[_id_pb2.IdError, _Mapping]]] = ...) -> None: ...

class MigrationStep(_message.Message):
    __slots__ = ["by_new_schedule", "end_time", "predicate", "start_time"]
    BY_NEW_SCHEDULE_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    PREDICATE_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    by_new_schedule: bool
    end_time: _timestamp_pb2.Timestamp
    predicate: _sql_pb2.SqlPredicate
    start_time: _timestamp_pb2.Timestamp
    def __init__(self, start_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., end_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., by_new_schedule: bool = ..., predicate: _Optional[_Union[_sql_pb2.SqlPredicate, _Mapping]] = ...) -> None: ...

class PlanMigrationRequest(_message.Message):
    __slots__ = ["cutover_time", "ids", "kind", "min_gap", "new_schedule", "old_schedule", "sql_target"]
    CUTOVER_TIME_FIELD_NUMBER: _ClassVar[int]
    IDS_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    MIN_GAP_FIELD_NUMBER: _ClassVar[int]
    NEW_SCHEDULE_FIELD_NUMBER: _ClassVar[int]
    OLD_SCHEDULE_FIELD_NUMBER: _ClassVar[int]
    SQL_TARGET_FIELD_NUMBER: _ClassVar[int]
    cutover_time: _timestamp_pb2.Timestamp
    ids: _id_pb2.IdBatch
    kind: str
    min_gap: _duration_pb2.Duration
    new_schedule: _schedule_pb2.Schedule
    old_schedule: _schedule_pb2.Schedule
    sql_target: _sql_pb2.SqlTarget
    def __init__(self, old_schedule: _Optional[_Union[_schedule_pb2.Schedule, _Mapping]] = ..., new_schedule: _Optional[_Union[_schedule_pb2.Schedule, _Mapping]] = ..., cutover_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., min_gap: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., ids: _Optional[_Union[_id_pb2.IdBatch, _Mapping]] = ..., kind: _Optional[str] = ..., sql_target: _Optional[_Union[_sql_pb2.SqlTarget, _Mapping]] = ...) -> None: ...

class PlanMigrationResponse(_message.Message):
    __slots__ = ["advice", "cutover_time", "ids", "max_gap_bound", "new_identity", "old_identity", "path", "sql_indexes", "steps"]
    ADVICE_FIELD_NUMBER: _ClassVar[int]
    CUTOVER_TIME_FIELD_NUMBER: _ClassVar[int]
    IDS_FIELD_NUMBER: _ClassVar[int]
    MAX_GAP_BOUND_FIELD_NUMBER: _ClassVar[int]
    NEW_IDENTITY_FIELD_NUMBER: _ClassVar[int]
    OLD_IDENTITY_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    SQL_INDEXES_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    advice: str
    cutover_time: _timestamp_pb2.Timestamp
    ids: MigratedIds
    max_gap_bound: _duration_pb2.Duration
    new_identity: _schedule_pb2.ScheduleIdentity
    old_identity: _schedule_pb2.ScheduleIdentity
    path: MigrationPath
    sql_indexes: _containers.RepeatedCompositeFieldContainer[_sql_pb2.SqlIndex]
    steps: _containers.RepeatedCompositeFieldContainer[MigrationStep]
    def __init__(self, old_identity: _Optional[_Union[_schedule_pb2.ScheduleIdentity, _Mapping]] = ..., new_identity: _Optional[_Union[_schedule_pb2.ScheduleIdentity, _Mapping]] = ..., cutover_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., path: _Optional[_Union[MigrationPath, str]] = ..., advice: _Optional[str] = ..., max_gap_bound: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., ids: _Optional[_Union[MigratedIds, _Mapping]] = ..., steps: _Optional[_Iterable[_Union[MigrationStep, _Mapping]]] = ..., sql_indexes: _Optional[_Iterable[_Union[_sql_pb2.SqlIndex, _Mapping]]] = ...) -> None: ...

class MigrationPath(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []
