from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import field_mask_pb2 as _field_mask_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from offbeat.v1 import audit_pb2 as _audit_pb2
from offbeat.v1 import due_runs_pb2 as _due_runs_pb2
from offbeat.v1 import id_pb2 as _id_pb2
from offbeat.v1 import migration_pb2 as _migration_pb2
from offbeat.v1 import reciprocal_pb2 as _reciprocal_pb2
from offbeat.v1 import schedule_pb2 as _schedule_pb2
from offbeat.v1 import sql_pb2 as _sql_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor
FIRST_RUN_POLICY_NEXT_CYCLE: FirstRunPolicy
FIRST_RUN_POLICY_NOW_SMEARED: FirstRunPolicy
FIRST_RUN_POLICY_UNSPECIFIED: FirstRunPolicy

class AssignSlotRequest(_message.Message):
    __slots__ = ["from_time", "id", "kind", "new_id", "next_run_count", "schedule", "time_zone", "weight"]
    FROM_TIME_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    NEW_ID_FIELD_NUMBER: _ClassVar[int]
    NEXT_RUN_COUNT_FIELD_NUMBER: _ClassVar[int]
    SCHEDULE_FIELD_NUMBER: _ClassVar[int]
    TIME_ZONE_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FIELD_NUMBER: _ClassVar[int]
    from_time: _timestamp_pb2.Timestamp
    id: _id_pb2.Id
    kind: str
    new_id: NewId
    next_run_count: int
    schedule: _schedule_pb2.Schedule
    time_zone: str
    weight: int
    def __init__(self, schedule: _Optional[_Union[_schedule_pb2.Schedule, _Mapping]] = ..., id: _Optional[_Union[_id_pb2.Id, _Mapping]] = ..., from_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., next_run_count: _Optional[int] = ..., kind: _Optional[str] = ..., weight: _Optional[int] = ..., new_id: _Optional[_Union[NewId, _Mapping]] = ..., time_zone: _Optional[str] = ...) -> None: ...

class AssignSlotResponse(_message.Message):
    __slots__ = ["explanation", "identity", "pieces"]
    EXPLANATION_FIELD_NUMBER: _ClassVar[int]
    IDENTITY_FIELD_NUMBER: _ClassVar[int]
    PIECES_FIELD_NUMBER: _ClassVar[int]
    explanation: PlacementExplanation
    identity: _schedule_pb2.ScheduleIdentity
    pieces: _containers.RepeatedCompositeFieldContainer[Piece]
    def __init__(self, identity: _Optional[_Union[_schedule_pb2.ScheduleIdentity, _Mapping]] = ..., pieces: _Optional[_Iterable[_Union[Piece, _Mapping]]] = ..., explanation: _Optional[_Union[PlacementExplanation, _Mapping]] = ...) -> None: ...

class AssignSlotsRequest(_message.Message):
    __slots__ = ["from_time", "ids", "kind", "read_mask", "schedule", "weights"]
    FROM_TIME_FIELD_NUMBER: _ClassVar[int]
    IDS_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    READ_MASK_FIELD_NUMBER: _ClassVar[int]
    SCHEDULE_FIELD_NUMBER: _ClassVar[int]
    WEIGHTS_FIELD_NUMBER: _ClassVar[int]
    from_time: _timestamp_pb2.Timestamp
    ids: _id_pb2.IdBatch
    kind: str
    read_mask: _field_mask_pb2.FieldMask
    schedule: _schedule_pb2.Schedule
    weights: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, schedule: _Optional[_Union[_schedule_pb2.Schedule, _Mapping]] = ..., ids: _Optional[_Union[_id_pb2.IdBatch, _Mapping]] = ..., from_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., kind: _Optional[str] = ..., weights: _Optional[_Iterable[int]] = ..., read_mask: _Optional[_Union[_field_mask_pb2.FieldMask, _Mapping]] = ...) -> None: ...

class AssignSlotsResponse(_message.Message):
    __slots__ = ["assignments", "identity"]
    ASSIGNMENTS_FIELD_NUMBER: _ClassVar[int]
    IDENTITY_FIELD_NUMBER: _ClassVar[int]
    assignments: SlotAssignments
    identity: _schedule_pb2.ScheduleIdentity
    def __init__(self, identity: _Optional[_Union[_schedule_pb2.ScheduleIdentity, _Mapping]] = ..., assignments: _Optional[_Union[SlotAssignments, _Mapping]] = ...) -> None: ...

class BucketShare(_message.Message):
    __slots__ = ["fullest_to_mean_ratio", "max_bucket_count", "min_bucket_count"]
    FULLEST_TO_MEAN_RATIO_FIELD_NUMBER: _ClassVar[int]
    MAX_BUCKET_COUNT_FIELD_NUMBER: _ClassVar[int]
    MIN_BUCKET_COUNT_FIELD_NUMBER: _ClassVar[int]
    fullest_to_mean_ratio: float
    max_bucket_count: int
    min_bucket_count: int
    def __init__(self, min_bucket_count: _Optional[int] = ..., max_bucket_count: _Optional[int] = ..., fullest_to_mean_ratio: _Optional[float] = ...) -> None: ...

class DescribeScheduleRequest(_message.Message):
    __slots__ = ["at_time", "population", "schedule"]
    AT_TIME_FIELD_NUMBER: _ClassVar[int]
    POPULATION_FIELD_NUMBER: _ClassVar[int]
    SCHEDULE_FIELD_NUMBER: _ClassVar[int]
    at_time: _timestamp_pb2.Timestamp
    population: int
    schedule: _schedule_pb2.Schedule
    def __init__(self, schedule: _Optional[_Union[_schedule_pb2.Schedule, _Mapping]] = ..., at_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., population: _Optional[int] = ...) -> None: ...

class DescribeScheduleResponse(_message.Message):
    __slots__ = ["active_duration", "bucket_share", "canonical_text", "cycle_end_time", "cycle_start_time", "deferred_ratio", "identity", "kinds", "max_cycle_duration", "second_load", "skipped_ratio", "slot", "slot_duration", "slot_load", "spec"]
    ACTIVE_DURATION_FIELD_NUMBER: _ClassVar[int]
    BUCKET_SHARE_FIELD_NUMBER: _ClassVar[int]
    CANONICAL_TEXT_FIELD_NUMBER: _ClassVar[int]
    CYCLE_END_TIME_FIELD_NUMBER: _ClassVar[int]
    CYCLE_START_TIME_FIELD_NUMBER: _ClassVar[int]
    DEFERRED_RATIO_FIELD_NUMBER: _ClassVar[int]
    IDENTITY_FIELD_NUMBER: _ClassVar[int]
    KINDS_FIELD_NUMBER: _ClassVar[int]
    MAX_CYCLE_DURATION_FIELD_NUMBER: _ClassVar[int]
    SECOND_LOAD_FIELD_NUMBER: _ClassVar[int]
    SKIPPED_RATIO_FIELD_NUMBER: _ClassVar[int]
    SLOT_DURATION_FIELD_NUMBER: _ClassVar[int]
    SLOT_FIELD_NUMBER: _ClassVar[int]
    SLOT_LOAD_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    active_duration: _duration_pb2.Duration
    bucket_share: BucketShare
    canonical_text: str
    cycle_end_time: _timestamp_pb2.Timestamp
    cycle_start_time: _timestamp_pb2.Timestamp
    deferred_ratio: float
    identity: _schedule_pb2.ScheduleIdentity
    kinds: _containers.RepeatedCompositeFieldContainer[DescribedKind]
    max_cycle_duration: _duration_pb2.Duration
    second_load: _audit_pb2.ExpectedLoad
    skipped_ratio: float
    slot: Slot
    slot_duration: _duration_pb2.Duration
    slot_load: _audit_pb2.ExpectedLoad
    spec: _schedule_pb2.ScheduleSpec
    def __init__(self, identity: _Optional[_Union[_schedule_pb2.ScheduleIdentity, _Mapping]] = ..., spec: _Optional[_Union[_schedule_pb2.ScheduleSpec, _Mapping]] = ..., canonical_text: _Optional[str] = ..., slot_duration: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., slot: _Optional[_Union[Slot, _Mapping]] = ..., cycle_start_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., bucket_share: _Optional[_Union[BucketShare, _Mapping]] = ..., slot_load: _Optional[_Union[_audit_pb2.ExpectedLoad, _Mapping]] = ..., second_load: _Optional[_Union[_audit_pb2.ExpectedLoad, _Mapping]] = ..., cycle_end_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., active_duration: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., skipped_ratio: _Optional[float] = ..., deferred_ratio: _Optional[float] = ..., kinds: _Optional[_Iterable[_Union[DescribedKind, _Mapping]]] = ..., max_cycle_duration: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class DescribedKind(_message.Message):
    __slots__ = ["gap_slot_count", "name", "offset", "offset_slot_count", "run_budget", "run_time", "worst_cycle_start_time"]
    GAP_SLOT_COUNT_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    OFFSET_SLOT_COUNT_FIELD_NUMBER: _ClassVar[int]
    RUN_BUDGET_FIELD_NUMBER: _ClassVar[int]
    RUN_TIME_FIELD_NUMBER: _ClassVar[int]
    WORST_CYCLE_START_TIME_FIELD_NUMBER: _ClassVar[int]
    gap_slot_count: int
    name: str
    offset: _duration_pb2.Duration
    offset_slot_count: int
    run_budget: _duration_pb2.Duration
    run_time: _duration_pb2.Duration
    worst_cycle_start_time: _timestamp_pb2.Timestamp
    def __init__(self, name: _Optional[str] = ..., offset_slot_count: _Optional[int] = ..., offset: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., gap_slot_count: _Optional[int] = ..., run_budget: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., worst_cycle_start_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., run_time: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class GetWindowPredicateRequest(_message.Message):
    __slots__ = ["end_time", "kind", "schedule", "sql_target", "start_time", "time_zones"]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    SCHEDULE_FIELD_NUMBER: _ClassVar[int]
    SQL_TARGET_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    TIME_ZONES_FIELD_NUMBER: _ClassVar[int]
    end_time: _timestamp_pb2.Timestamp
    kind: str
    schedule: _schedule_pb2.Schedule
    sql_target: _sql_pb2.SqlTarget
    start_time: _timestamp_pb2.Timestamp
    time_zones: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, schedule: _Optional[_Union[_schedule_pb2.Schedule, _Mapping]] = ..., start_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., end_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., sql_target: _Optional[_Union[_sql_pb2.SqlTarget, _Mapping]] = ..., kind: _Optional[str] = ..., time_zones: _Optional[_Iterable[str]] = ...) -> None: ...

class GetWindowPredicateResponse(_message.Message):
    __slots__ = ["identity", "predicate", "sql_index"]
    IDENTITY_FIELD_NUMBER: _ClassVar[int]
    PREDICATE_FIELD_NUMBER: _ClassVar[int]
    SQL_INDEX_FIELD_NUMBER: _ClassVar[int]
    identity: _schedule_pb2.ScheduleIdentity
    predicate: _sql_pb2.SqlPredicate
    sql_index: _sql_pb2.SqlIndex
    def __init__(self, identity: _Optional[_Union[_schedule_pb2.ScheduleIdentity, _Mapping]] = ..., predicate: _Optional[_Union[_sql_pb2.SqlPredicate, _Mapping]] = ..., sql_index: _Optional[_Union[_sql_pb2.SqlIndex, _Mapping]] = ...) -> None: ...

class ListSchedulesRequest(_message.Message):
    __slots__ = ["name", "page_size", "page_token"]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    name: str
    page_size: int
    page_token: str
    def __init__(self, name: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListSchedulesResponse(_message.Message):
    __slots__ = ["next_page_token", "schedules"]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    SCHEDULES_FIELD_NUMBER: _ClassVar[int]
    next_page_token: str
    schedules: _containers.RepeatedCompositeFieldContainer[ListedSchedule]
    def __init__(self, schedules: _Optional[_Iterable[_Union[ListedSchedule, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListSlotsRequest(_message.Message):
    __slots__ = ["end_time", "kind", "schedule", "sql_target", "start_time"]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    SCHEDULE_FIELD_NUMBER: _ClassVar[int]
    SQL_TARGET_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    end_time: _timestamp_pb2.Timestamp
    kind: str
    schedule: _schedule_pb2.Schedule
    sql_target: _sql_pb2.SqlTarget
    start_time: _timestamp_pb2.Timestamp
    def __init__(self, schedule: _Optional[_Union[_schedule_pb2.Schedule, _Mapping]] = ..., start_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., end_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., sql_target: _Optional[_Union[_sql_pb2.SqlTarget, _Mapping]] = ..., kind: _Optional[str] = ...) -> None: ...

class ListSlotsResponse(_message.Message):
    __slots__ = ["identity", "slots", "sql_index"]
    IDENTITY_FIELD_NUMBER: _ClassVar[int]
    SLOTS_FIELD_NUMBER: _ClassVar[int]
    SQL_INDEX_FIELD_NUMBER: _ClassVar[int]
    identity: _schedule_pb2.ScheduleIdentity
    slots: _containers.RepeatedCompositeFieldContainer[Slot]
    sql_index: _sql_pb2.SqlIndex
    def __init__(self, identity: _Optional[_Union[_schedule_pb2.ScheduleIdentity, _Mapping]] = ..., slots: _Optional[_Iterable[_Union[Slot, _Mapping]]] = ..., sql_index: _Optional[_Union[_sql_pb2.SqlIndex, _Mapping]] = ...) -> None: ...

class ListedSchedule(_message.Message):
    __slots__ = ["identity", "reference", "spec"]
    IDENTITY_FIELD_NUMBER: _ClassVar[int]
    REFERENCE_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    identity: _schedule_pb2.ScheduleIdentity
    reference: _schedule_pb2.ScheduleReference
    spec: _schedule_pb2.ScheduleSpec
    def __init__(self, reference: _Optional[_Union[_schedule_pb2.ScheduleReference, _Mapping]] = ..., identity: _Optional[_Union[_schedule_pb2.ScheduleIdentity, _Mapping]] = ..., spec: _Optional[_Union[_schedule_pb2.ScheduleSpec, _Mapping]] = ...) -> None: ...

class NewId(_message.Message):
    __slots__ = ["create_time", "max_clock_skew", "policy", "smear_span"]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    MAX_CLOCK_SKEW_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    SMEAR_SPAN_FIELD_NUMBER: _ClassVar[int]
    create_time: _timestamp_pb2.Timestamp
    max_clock_skew: _duration_pb2.Duration
    policy: FirstRunPolicy
    smear_span: _duration_pb2.Duration
    def __init__(self, create_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., policy: _Optional[_Union[FirstRunPolicy, str]] = ..., smear_span: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., max_clock_skew: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class Piece(_message.Message):
    __slots__ = ["cycle_offset", "first_run", "last_run", "next_runs", "piece_index", "slot_index", "slot_offset"]
    CYCLE_OFFSET_FIELD_NUMBER: _ClassVar[int]
    FIRST_RUN_FIELD_NUMBER: _ClassVar[int]
    LAST_RUN_FIELD_NUMBER: _ClassVar[int]
    NEXT_RUNS_FIELD_NUMBER: _ClassVar[int]
    PIECE_INDEX_FIELD_NUMBER: _ClassVar[int]
    SLOT_INDEX_FIELD_NUMBER: _ClassVar[int]
    SLOT_OFFSET_FIELD_NUMBER: _ClassVar[int]
    cycle_offset: _duration_pb2.Duration
    first_run: Run
    last_run: Run
    next_runs: _containers.RepeatedCompositeFieldContainer[Run]
    piece_index: int
    slot_index: int
    slot_offset: _duration_pb2.Duration
    def __init__(self, piece_index: _Optional[int] = ..., slot_index: _Optional[int] = ..., slot_offset: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., cycle_offset: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., last_run: _Optional[_Union[Run, _Mapping]] = ..., next_runs: _Optional[_Iterable[_Union[Run, _Mapping]]] = ..., first_run: _Optional[_Union[Run, _Mapping]] = ...) -> None: ...

class PlacementExplanation(_message.Message):
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
    __slots__ = ["cycle_index", "nominal_time", "run_id", "run_key", "start_time"]
    CYCLE_INDEX_FIELD_NUMBER: _ClassVar[int]
    NOMINAL_TIME_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    RUN_KEY_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    cycle_index: int
    nominal_time: _timestamp_pb2.Timestamp
    run_id: str
    run_key: str
    start_time: _timestamp_pb2.Timestamp
    def __init__(self, start_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., cycle_index: _Optional[int] = ..., run_key: _Optional[str] = ..., nominal_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., run_id: _Optional[str] = ...) -> None: ...

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
    __slots__ = ["cycle_indexes", "cycle_offset_ticks", "errors", "id_indexes", "last_run_unix_millis", "next_run_unix_millis", "piece_indexes", "resolution", "run_key_prefix", "slot_indexes", "slot_offset_ticks"]
    CYCLE_INDEXES_FIELD_NUMBER: _ClassVar[int]
    CYCLE_OFFSET_TICKS_FIELD_NUMBER: _ClassVar[int]
    ERRORS_FIELD_NUMBER: _ClassVar[int]
    ID_INDEXES_FIELD_NUMBER: _ClassVar[int]
    LAST_RUN_UNIX_MILLIS_FIELD_NUMBER: _ClassVar[int]
    NEXT_RUN_UNIX_MILLIS_FIELD_NUMBER: _ClassVar[int]
    PIECE_INDEXES_FIELD_NUMBER: _ClassVar[int]
    RESOLUTION_FIELD_NUMBER: _ClassVar[int]
    RUN_KEY_PREFIX_FIELD_NUMBER: _ClassVar[int]
    SLOT_INDEXES_FIELD_NUMBER: _ClassVar[int]
    SLOT_OFFSET_TICKS_FIELD_NUMBER: _ClassVar[int]
    cycle_indexes: _containers.RepeatedScalarFieldContainer[int]
    cycle_offset_ticks: _containers.RepeatedScalarFieldContainer[int]
    errors: _containers.RepeatedCompositeFieldContainer[_id_pb2.IdError]
    id_indexes: _containers.RepeatedScalarFieldContainer[int]
    last_run_unix_millis: _containers.RepeatedScalarFieldContainer[int]
    next_run_unix_millis: _containers.RepeatedScalarFieldContainer[int]
    piece_indexes: _containers.RepeatedScalarFieldContainer[int]
    resolution: _duration_pb2.Duration
    run_key_prefix: str
    slot_indexes: _containers.RepeatedScalarFieldContainer[int]
    slot_offset_ticks: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, resolution: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., slot_indexes: _Optional[_Iterable[int]] = ..., slot_offset_ticks: _Optional[_Iterable[int]] = ..., cycle_offset_ticks: _Optional[_Iterable[int]] = ..., cycle_indexes: _Optional[_Iterable[int]] = ..., next_run_unix_millis: _Optional[_Iterable[int]] = ..., last_run_unix_millis: _Optional[_Iterable[int]] = ..., run_key_prefix: _Optional[str] = ..., errors: _Optional[_Iterable[_Union[_id_pb2.IdError, _Mapping]]] = ..., id_indexes: _Optional[_Iterable[int]] = ..., piece_indexes: _Optional[_Iterable[int]] = ...) -> None: ...

class StreamSlotAssignmentsRequest(_message.Message):
    __slots__ = ["from_time", "ids", "kind", "read_mask", "schedule", "weights"]
    FROM_TIME_FIELD_NUMBER: _ClassVar[int]
    IDS_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    READ_MASK_FIELD_NUMBER: _ClassVar[int]
    SCHEDULE_FIELD_NUMBER: _ClassVar[int]
    WEIGHTS_FIELD_NUMBER: _ClassVar[int]
    from_time: _timestamp_pb2.Timestamp
    ids: _id_pb2.IdBatch
    kind: str
    read_mask: _field_mask_pb2.FieldMask
    schedule: _schedule_pb2.Schedule
    weights: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, schedule: _Optional[_Union[_schedule_pb2.Schedule, _Mapping]] = ..., from_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., kind: _Optional[str] = ..., ids: _Optional[_Union[_id_pb2.IdBatch, _Mapping]] = ..., weights: _Optional[_Iterable[int]] = ..., read_mask: _Optional[_Union[_field_mask_pb2.FieldMask, _Mapping]] = ...) -> None: ...

class StreamSlotAssignmentsResponse(_message.Message):
    __slots__ = ["assignments", "first_id_index", "identity"]
    ASSIGNMENTS_FIELD_NUMBER: _ClassVar[int]
    FIRST_ID_INDEX_FIELD_NUMBER: _ClassVar[int]
    IDENTITY_FIELD_NUMBER: _ClassVar[int]
    assignments: SlotAssignments
    first_id_index: int
    identity: _schedule_pb2.ScheduleIdentity
    def __init__(self, identity: _Optional[_Union[_schedule_pb2.ScheduleIdentity, _Mapping]] = ..., first_id_index: _Optional[int] = ..., assignments: _Optional[_Union[SlotAssignments, _Mapping]] = ...) -> None: ...

class FirstRunPolicy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []
