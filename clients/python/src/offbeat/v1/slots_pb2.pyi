from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from offbeat.v1 import error_reason_pb2 as _error_reason_pb2
from offbeat.v1 import sql_pb2 as _sql_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor
KIND_SPACING_EVEN: KindSpacing
KIND_SPACING_STABLE: KindSpacing
KIND_SPACING_UNSPECIFIED: KindSpacing
PLACEMENT_FRACTION: Placement
PLACEMENT_HASH: Placement
PLACEMENT_TWISTER: Placement
PLACEMENT_UNSPECIFIED: Placement
TWISTER_PROFILE_PHP: TwisterProfile
TWISTER_PROFILE_PYTHON: TwisterProfile
TWISTER_PROFILE_RUBY: TwisterProfile
TWISTER_PROFILE_RUBY_3_0_TO_3_1: TwisterProfile
TWISTER_PROFILE_UNSPECIFIED: TwisterProfile

class AssignSlotRequest(_message.Message):
    __slots__ = ["from_time", "id", "kind", "next_run_count", "schedule"]
    FROM_TIME_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    NEXT_RUN_COUNT_FIELD_NUMBER: _ClassVar[int]
    SCHEDULE_FIELD_NUMBER: _ClassVar[int]
    from_time: _timestamp_pb2.Timestamp
    id: Id
    kind: str
    next_run_count: int
    schedule: Schedule
    def __init__(self, schedule: _Optional[_Union[Schedule, _Mapping]] = ..., id: _Optional[_Union[Id, _Mapping]] = ..., from_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., next_run_count: _Optional[int] = ..., kind: _Optional[str] = ...) -> None: ...

class AssignSlotResponse(_message.Message):
    __slots__ = ["cycle_offset", "identity", "last_run", "next_runs", "reason", "slot_index", "slot_offset"]
    CYCLE_OFFSET_FIELD_NUMBER: _ClassVar[int]
    IDENTITY_FIELD_NUMBER: _ClassVar[int]
    LAST_RUN_FIELD_NUMBER: _ClassVar[int]
    NEXT_RUNS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    SLOT_INDEX_FIELD_NUMBER: _ClassVar[int]
    SLOT_OFFSET_FIELD_NUMBER: _ClassVar[int]
    cycle_offset: _duration_pb2.Duration
    identity: ScheduleIdentity
    last_run: Run
    next_runs: _containers.RepeatedCompositeFieldContainer[Run]
    reason: PlacementReason
    slot_index: int
    slot_offset: _duration_pb2.Duration
    def __init__(self, identity: _Optional[_Union[ScheduleIdentity, _Mapping]] = ..., slot_index: _Optional[int] = ..., slot_offset: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., cycle_offset: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., last_run: _Optional[_Union[Run, _Mapping]] = ..., next_runs: _Optional[_Iterable[_Union[Run, _Mapping]]] = ..., reason: _Optional[_Union[PlacementReason, _Mapping]] = ...) -> None: ...

class AssignSlotsRequest(_message.Message):
    __slots__ = ["from_time", "ids", "kind", "schedule"]
    FROM_TIME_FIELD_NUMBER: _ClassVar[int]
    IDS_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    SCHEDULE_FIELD_NUMBER: _ClassVar[int]
    from_time: _timestamp_pb2.Timestamp
    ids: IdColumn
    kind: str
    schedule: Schedule
    def __init__(self, schedule: _Optional[_Union[Schedule, _Mapping]] = ..., ids: _Optional[_Union[IdColumn, _Mapping]] = ..., from_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., kind: _Optional[str] = ...) -> None: ...

class AssignSlotsResponse(_message.Message):
    __slots__ = ["assignments", "identity"]
    ASSIGNMENTS_FIELD_NUMBER: _ClassVar[int]
    IDENTITY_FIELD_NUMBER: _ClassVar[int]
    assignments: SlotAssignments
    identity: ScheduleIdentity
    def __init__(self, identity: _Optional[_Union[ScheduleIdentity, _Mapping]] = ..., assignments: _Optional[_Union[SlotAssignments, _Mapping]] = ...) -> None: ...

class BucketShare(_message.Message):
    __slots__ = ["imbalance", "max_bucket_count", "min_bucket_count"]
    IMBALANCE_FIELD_NUMBER: _ClassVar[int]
    MAX_BUCKET_COUNT_FIELD_NUMBER: _ClassVar[int]
    MIN_BUCKET_COUNT_FIELD_NUMBER: _ClassVar[int]
    imbalance: float
    max_bucket_count: int
    min_bucket_count: int
    def __init__(self, min_bucket_count: _Optional[int] = ..., max_bucket_count: _Optional[int] = ..., imbalance: _Optional[float] = ...) -> None: ...

class DescribeScheduleRequest(_message.Message):
    __slots__ = ["at_time", "population", "schedule"]
    AT_TIME_FIELD_NUMBER: _ClassVar[int]
    POPULATION_FIELD_NUMBER: _ClassVar[int]
    SCHEDULE_FIELD_NUMBER: _ClassVar[int]
    at_time: _timestamp_pb2.Timestamp
    population: int
    schedule: Schedule
    def __init__(self, schedule: _Optional[_Union[Schedule, _Mapping]] = ..., at_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., population: _Optional[int] = ...) -> None: ...

class DescribeScheduleResponse(_message.Message):
    __slots__ = ["bucket_share", "canonical_text", "cycle_start_time", "identity", "second_load", "slot", "slot_duration", "slot_load", "spec"]
    BUCKET_SHARE_FIELD_NUMBER: _ClassVar[int]
    CANONICAL_TEXT_FIELD_NUMBER: _ClassVar[int]
    CYCLE_START_TIME_FIELD_NUMBER: _ClassVar[int]
    IDENTITY_FIELD_NUMBER: _ClassVar[int]
    SECOND_LOAD_FIELD_NUMBER: _ClassVar[int]
    SLOT_DURATION_FIELD_NUMBER: _ClassVar[int]
    SLOT_FIELD_NUMBER: _ClassVar[int]
    SLOT_LOAD_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    bucket_share: BucketShare
    canonical_text: str
    cycle_start_time: _timestamp_pb2.Timestamp
    identity: ScheduleIdentity
    second_load: ExpectedLoad
    slot: Slot
    slot_duration: _duration_pb2.Duration
    slot_load: ExpectedLoad
    spec: ScheduleSpec
    def __init__(self, identity: _Optional[_Union[ScheduleIdentity, _Mapping]] = ..., spec: _Optional[_Union[ScheduleSpec, _Mapping]] = ..., canonical_text: _Optional[str] = ..., slot_duration: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., slot: _Optional[_Union[Slot, _Mapping]] = ..., cycle_start_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., bucket_share: _Optional[_Union[BucketShare, _Mapping]] = ..., slot_load: _Optional[_Union[ExpectedLoad, _Mapping]] = ..., second_load: _Optional[_Union[ExpectedLoad, _Mapping]] = ...) -> None: ...

class ExpectedLoad(_message.Message):
    __slots__ = ["fullest_median", "fullest_p99", "mean"]
    FULLEST_MEDIAN_FIELD_NUMBER: _ClassVar[int]
    FULLEST_P99_FIELD_NUMBER: _ClassVar[int]
    MEAN_FIELD_NUMBER: _ClassVar[int]
    fullest_median: int
    fullest_p99: int
    mean: float
    def __init__(self, mean: _Optional[float] = ..., fullest_median: _Optional[int] = ..., fullest_p99: _Optional[int] = ...) -> None: ...

class GetReciprocalSlotsRequest(_message.Message):
    __slots__ = ["kind_count", "run_times", "schedule", "slot_index", "spacing"]
    KIND_COUNT_FIELD_NUMBER: _ClassVar[int]
    RUN_TIMES_FIELD_NUMBER: _ClassVar[int]
    SCHEDULE_FIELD_NUMBER: _ClassVar[int]
    SLOT_INDEX_FIELD_NUMBER: _ClassVar[int]
    SPACING_FIELD_NUMBER: _ClassVar[int]
    kind_count: int
    run_times: _containers.RepeatedCompositeFieldContainer[_duration_pb2.Duration]
    schedule: Schedule
    slot_index: int
    spacing: KindSpacing
    def __init__(self, schedule: _Optional[_Union[Schedule, _Mapping]] = ..., slot_index: _Optional[int] = ..., kind_count: _Optional[int] = ..., spacing: _Optional[_Union[KindSpacing, str]] = ..., run_times: _Optional[_Iterable[_Union[_duration_pb2.Duration, _Mapping]]] = ...) -> None: ...

class GetReciprocalSlotsResponse(_message.Message):
    __slots__ = ["gap", "gap_slot_count", "identity", "independent_run_budget", "kinds", "run_budget"]
    GAP_FIELD_NUMBER: _ClassVar[int]
    GAP_SLOT_COUNT_FIELD_NUMBER: _ClassVar[int]
    IDENTITY_FIELD_NUMBER: _ClassVar[int]
    INDEPENDENT_RUN_BUDGET_FIELD_NUMBER: _ClassVar[int]
    KINDS_FIELD_NUMBER: _ClassVar[int]
    RUN_BUDGET_FIELD_NUMBER: _ClassVar[int]
    gap: _duration_pb2.Duration
    gap_slot_count: int
    identity: ScheduleIdentity
    independent_run_budget: _duration_pb2.Duration
    kinds: _containers.RepeatedCompositeFieldContainer[KindSlot]
    run_budget: _duration_pb2.Duration
    def __init__(self, identity: _Optional[_Union[ScheduleIdentity, _Mapping]] = ..., kinds: _Optional[_Iterable[_Union[KindSlot, _Mapping]]] = ..., gap_slot_count: _Optional[int] = ..., gap: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., run_budget: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., independent_run_budget: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class GetWindowPredicateRequest(_message.Message):
    __slots__ = ["end_time", "schedule", "sql_column", "start_time"]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    SCHEDULE_FIELD_NUMBER: _ClassVar[int]
    SQL_COLUMN_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    end_time: _timestamp_pb2.Timestamp
    schedule: Schedule
    sql_column: _sql_pb2.SqlColumn
    start_time: _timestamp_pb2.Timestamp
    def __init__(self, schedule: _Optional[_Union[Schedule, _Mapping]] = ..., start_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., end_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., sql_column: _Optional[_Union[_sql_pb2.SqlColumn, _Mapping]] = ...) -> None: ...

class GetWindowPredicateResponse(_message.Message):
    __slots__ = ["identity", "predicate", "sql_index"]
    IDENTITY_FIELD_NUMBER: _ClassVar[int]
    PREDICATE_FIELD_NUMBER: _ClassVar[int]
    SQL_INDEX_FIELD_NUMBER: _ClassVar[int]
    identity: ScheduleIdentity
    predicate: _sql_pb2.SqlPredicate
    sql_index: _sql_pb2.SqlIndex
    def __init__(self, identity: _Optional[_Union[ScheduleIdentity, _Mapping]] = ..., predicate: _Optional[_Union[_sql_pb2.SqlPredicate, _Mapping]] = ..., sql_index: _Optional[_Union[_sql_pb2.SqlIndex, _Mapping]] = ...) -> None: ...

class Id(_message.Message):
    __slots__ = ["decimal", "fraction", "integer", "text", "uuid", "uuid_bytes"]
    DECIMAL_FIELD_NUMBER: _ClassVar[int]
    FRACTION_FIELD_NUMBER: _ClassVar[int]
    INTEGER_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    UUID_BYTES_FIELD_NUMBER: _ClassVar[int]
    UUID_FIELD_NUMBER: _ClassVar[int]
    decimal: str
    fraction: float
    integer: int
    text: str
    uuid: str
    uuid_bytes: bytes
    def __init__(self, uuid: _Optional[str] = ..., uuid_bytes: _Optional[bytes] = ..., integer: _Optional[int] = ..., decimal: _Optional[str] = ..., text: _Optional[str] = ..., fraction: _Optional[float] = ...) -> None: ...

class IdColumn(_message.Message):
    __slots__ = ["decimals", "fractions", "integers", "texts", "uuid_bytes", "uuids"]
    DECIMALS_FIELD_NUMBER: _ClassVar[int]
    FRACTIONS_FIELD_NUMBER: _ClassVar[int]
    INTEGERS_FIELD_NUMBER: _ClassVar[int]
    TEXTS_FIELD_NUMBER: _ClassVar[int]
    UUIDS_FIELD_NUMBER: _ClassVar[int]
    UUID_BYTES_FIELD_NUMBER: _ClassVar[int]
    decimals: _containers.RepeatedScalarFieldContainer[str]
    fractions: _containers.RepeatedScalarFieldContainer[float]
    integers: _containers.RepeatedScalarFieldContainer[int]
    texts: _containers.RepeatedScalarFieldContainer[str]
    uuid_bytes: bytes
    uuids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, uuid_bytes: _Optional[bytes] = ..., uuids: _Optional[_Iterable[str]] = ..., integers: _Optional[_Iterable[int]] = ..., decimals: _Optional[_Iterable[str]] = ..., texts: _Optional[_Iterable[str]] = ..., fractions: _Optional[_Iterable[float]] = ...) -> None: ...

class IdError(_message.Message):
    __slots__ = ["allowed", "field", "id_index", "reason", "value"]
    ALLOWED_FIELD_NUMBER: _ClassVar[int]
    FIELD_FIELD_NUMBER: _ClassVar[int]
    ID_INDEX_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    allowed: str
    field: str
    id_index: int
    reason: _error_reason_pb2.ErrorReason
    value: str
    def __init__(self, id_index: _Optional[int] = ..., reason: _Optional[_Union[_error_reason_pb2.ErrorReason, str]] = ..., field: _Optional[str] = ..., value: _Optional[str] = ..., allowed: _Optional[str] = ...) -> None: ...

class KindSlot(_message.Message):
    __slots__ = ["gap_slot_count", "kind_index", "offset", "offset_slot_count", "run_budget", "time_slot_index", "user_slot_index"]
    GAP_SLOT_COUNT_FIELD_NUMBER: _ClassVar[int]
    KIND_INDEX_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    OFFSET_SLOT_COUNT_FIELD_NUMBER: _ClassVar[int]
    RUN_BUDGET_FIELD_NUMBER: _ClassVar[int]
    TIME_SLOT_INDEX_FIELD_NUMBER: _ClassVar[int]
    USER_SLOT_INDEX_FIELD_NUMBER: _ClassVar[int]
    gap_slot_count: int
    kind_index: int
    offset: _duration_pb2.Duration
    offset_slot_count: int
    run_budget: _duration_pb2.Duration
    time_slot_index: int
    user_slot_index: int
    def __init__(self, kind_index: _Optional[int] = ..., offset_slot_count: _Optional[int] = ..., user_slot_index: _Optional[int] = ..., time_slot_index: _Optional[int] = ..., gap_slot_count: _Optional[int] = ..., run_budget: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., offset: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class ListSlotsRequest(_message.Message):
    __slots__ = ["end_time", "schedule", "sql_column", "start_time"]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    SCHEDULE_FIELD_NUMBER: _ClassVar[int]
    SQL_COLUMN_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    end_time: _timestamp_pb2.Timestamp
    schedule: Schedule
    sql_column: _sql_pb2.SqlColumn
    start_time: _timestamp_pb2.Timestamp
    def __init__(self, schedule: _Optional[_Union[Schedule, _Mapping]] = ..., start_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., end_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., sql_column: _Optional[_Union[_sql_pb2.SqlColumn, _Mapping]] = ...) -> None: ...

class ListSlotsResponse(_message.Message):
    __slots__ = ["identity", "slots", "sql_index"]
    IDENTITY_FIELD_NUMBER: _ClassVar[int]
    SLOTS_FIELD_NUMBER: _ClassVar[int]
    SQL_INDEX_FIELD_NUMBER: _ClassVar[int]
    identity: ScheduleIdentity
    slots: _containers.RepeatedCompositeFieldContainer[Slot]
    sql_index: _sql_pb2.SqlIndex
    def __init__(self, identity: _Optional[_Union[ScheduleIdentity, _Mapping]] = ..., slots: _Optional[_Iterable[_Union[Slot, _Mapping]]] = ..., sql_index: _Optional[_Union[_sql_pb2.SqlIndex, _Mapping]] = ...) -> None: ...

class PlacementReason(_message.Message):
    __slots__ = ["bucket", "canonical_id", "fraction", "hash"]
    BUCKET_FIELD_NUMBER: _ClassVar[int]
    CANONICAL_ID_FIELD_NUMBER: _ClassVar[int]
    FRACTION_FIELD_NUMBER: _ClassVar[int]
    HASH_FIELD_NUMBER: _ClassVar[int]
    bucket: int
    canonical_id: str
    fraction: float
    hash: str
    def __init__(self, canonical_id: _Optional[str] = ..., hash: _Optional[str] = ..., bucket: _Optional[int] = ..., fraction: _Optional[float] = ...) -> None: ...

class Run(_message.Message):
    __slots__ = ["cycle_index", "run_key", "start_time"]
    CYCLE_INDEX_FIELD_NUMBER: _ClassVar[int]
    RUN_KEY_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    cycle_index: int
    run_key: str
    start_time: _timestamp_pb2.Timestamp
    def __init__(self, start_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., cycle_index: _Optional[int] = ..., run_key: _Optional[str] = ...) -> None: ...

class Schedule(_message.Message):
    __slots__ = ["spec"]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    spec: ScheduleSpec
    def __init__(self, spec: _Optional[_Union[ScheduleSpec, _Mapping]] = ...) -> None: ...

class ScheduleIdentity(_message.Message):
    __slots__ = ["fingerprint", "run_key_schedule"]
    FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    RUN_KEY_SCHEDULE_FIELD_NUMBER: _ClassVar[int]
    fingerprint: str
    run_key_schedule: str
    def __init__(self, fingerprint: _Optional[str] = ..., run_key_schedule: _Optional[str] = ...) -> None: ...

class ScheduleSpec(_message.Message):
    __slots__ = ["anchor_time", "bucket_count", "period", "placement", "profile", "resolution", "salt", "slot_count"]
    ANCHOR_TIME_FIELD_NUMBER: _ClassVar[int]
    BUCKET_COUNT_FIELD_NUMBER: _ClassVar[int]
    PERIOD_FIELD_NUMBER: _ClassVar[int]
    PLACEMENT_FIELD_NUMBER: _ClassVar[int]
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    RESOLUTION_FIELD_NUMBER: _ClassVar[int]
    SALT_FIELD_NUMBER: _ClassVar[int]
    SLOT_COUNT_FIELD_NUMBER: _ClassVar[int]
    anchor_time: _timestamp_pb2.Timestamp
    bucket_count: int
    period: _duration_pb2.Duration
    placement: Placement
    profile: TwisterProfile
    resolution: _duration_pb2.Duration
    salt: str
    slot_count: int
    def __init__(self, period: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., resolution: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., anchor_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., slot_count: _Optional[int] = ..., placement: _Optional[_Union[Placement, str]] = ..., bucket_count: _Optional[int] = ..., profile: _Optional[_Union[TwisterProfile, str]] = ..., salt: _Optional[str] = ...) -> None: ...

class Slot(_message.Message):
    __slots__ = ["cycle_index", "end_time", "predicate", "slot_index", "start_time"]
    CYCLE_INDEX_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    PREDICATE_FIELD_NUMBER: _ClassVar[int]
    SLOT_INDEX_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    cycle_index: int
    end_time: _timestamp_pb2.Timestamp
    predicate: _sql_pb2.SqlPredicate
    slot_index: int
    start_time: _timestamp_pb2.Timestamp
    def __init__(self, slot_index: _Optional[int] = ..., cycle_index: _Optional[int] = ..., start_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., end_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., predicate: _Optional[_Union[_sql_pb2.SqlPredicate, _Mapping]] = ...) -> None: ...

class SlotAssignments(_message.Message):
    __slots__ = ["cycle_indexes", "cycle_offset_ticks", "errors", "next_run_unix_millis", "resolution", "run_key_prefix", "slot_indexes", "slot_offset_ticks"]
    CYCLE_INDEXES_FIELD_NUMBER: _ClassVar[int]
    CYCLE_OFFSET_TICKS_FIELD_NUMBER: _ClassVar[int]
    ERRORS_FIELD_NUMBER: _ClassVar[int]
    NEXT_RUN_UNIX_MILLIS_FIELD_NUMBER: _ClassVar[int]
    RESOLUTION_FIELD_NUMBER: _ClassVar[int]
    RUN_KEY_PREFIX_FIELD_NUMBER: _ClassVar[int]
    SLOT_INDEXES_FIELD_NUMBER: _ClassVar[int]
    SLOT_OFFSET_TICKS_FIELD_NUMBER: _ClassVar[int]
    cycle_indexes: _containers.RepeatedScalarFieldContainer[int]
    cycle_offset_ticks: _containers.RepeatedScalarFieldContainer[int]
    errors: _containers.RepeatedCompositeFieldContainer[IdError]
    next_run_unix_millis: _containers.RepeatedScalarFieldContainer[int]
    resolution: _duration_pb2.Duration
    run_key_prefix: str
    slot_indexes: _containers.RepeatedScalarFieldContainer[int]
    slot_offset_ticks: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, resolution: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., slot_indexes: _Optional[_Iterable[int]] = ..., slot_offset_ticks: _Optional[_Iterable[int]] = ..., cycle_offset_ticks: _Optional[_Iterable[int]] = ..., cycle_indexes: _Optional[_Iterable[int]] = ..., next_run_unix_millis: _Optional[_Iterable[int]] = ..., run_key_prefix: _Optional[str] = ..., errors: _Optional[_Iterable[_Union[IdError, _Mapping]]] = ...) -> None: ...

class StreamSlotAssignmentsRequest(_message.Message):
    __slots__ = ["from_time", "ids", "kind", "schedule"]
    FROM_TIME_FIELD_NUMBER: _ClassVar[int]
    IDS_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    SCHEDULE_FIELD_NUMBER: _ClassVar[int]
    from_time: _timestamp_pb2.Timestamp
    ids: IdColumn
    kind: str
    schedule: Schedule
    def __init__(self, schedule: _Optional[_Union[Schedule, _Mapping]] = ..., from_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., kind: _Optional[str] = ..., ids: _Optional[_Union[IdColumn, _Mapping]] = ...) -> None: ...

class StreamSlotAssignmentsResponse(_message.Message):
    __slots__ = ["assignments", "first_id_index", "identity"]
    ASSIGNMENTS_FIELD_NUMBER: _ClassVar[int]
    FIRST_ID_INDEX_FIELD_NUMBER: _ClassVar[int]
    IDENTITY_FIELD_NUMBER: _ClassVar[int]
    assignments: SlotAssignments
    first_id_index: int
    identity: ScheduleIdentity
    def __init__(self, identity: _Optional[_Union[ScheduleIdentity, _Mapping]] = ..., first_id_index: _Optional[int] = ..., assignments: _Optional[_Union[SlotAssignments, _Mapping]] = ...) -> None: ...

class Placement(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class TwisterProfile(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class KindSpacing(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []
