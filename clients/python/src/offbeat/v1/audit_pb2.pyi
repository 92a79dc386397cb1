from google.protobuf import timestamp_pb2 as _timestamp_pb2
from offbeat.v1 import id_pb2 as _id_pb2
from offbeat.v1 import schedule_pb2 as _schedule_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

AUDIT_FINDING_DUPLICATES: AuditFinding
AUDIT_FINDING_HEAVY_ID: AuditFinding
AUDIT_FINDING_NEVER_RUN: AuditFinding
AUDIT_FINDING_SPARSE_INTEGERS: AuditFinding
AUDIT_FINDING_TIME_BASED_UUIDS: AuditFinding
AUDIT_FINDING_UNEVEN: AuditFinding
AUDIT_FINDING_UNSPECIFIED: AuditFinding
DESCRIPTOR: _descriptor.FileDescriptor

class AuditIdsRequest(_message.Message):
    __slots__ = ["from_time", "ids", "kind", "schedule", "weights"]
    FROM_TIME_FIELD_NUMBER: _ClassVar[int]
    IDS_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    SCHEDULE_FIELD_NUMBER: _ClassVar[int]
    WEIGHTS_FIELD_NUMBER: _ClassVar[int]
    from_time: _timestamp_pb2.Timestamp
    ids: _id_pb2.IdBatch
    kind: str
    schedule: _schedule_pb2.Schedule
    weights: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, schedule: _Optional[_Union[_schedule_pb2.Schedule, _Mapping]] = ..., ids: _Optional[_Union[_id_pb2.IdBatch, _Mapping]] = ..., weights: _Optional[_Iterable[int]] = ..., from_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., kind: _Optional[str] = ...) -> None: ...

class AuditIdsResponse(_message.Message):
    __slots__ = ["chi_square", "empty_slot_count", "errors", "expected_load", "fullest_load", "fullest_slot_index", "fullest_to_mean_ratio", "id_count", "identity", "p_value", "slot_loads", "warnings"]
    CHI_SQUARE_FIELD_NUMBER: _ClassVar[int]
    EMPTY_SLOT_COUNT_FIELD_NUMBER: _ClassVar[int]
    ERRORS_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_LOAD_FIELD_NUMBER: _ClassVar[int]
    FULLEST_LOAD_FIELD_NUMBER: _ClassVar[int]
    FULLEST_SLOT_INDEX_FIELD_NUMBER: _ClassVar[int]
    FULLEST_TO_MEAN_RATIO_FIELD_NUMBER: _ClassVar[int]
    IDENTITY_FIELD_NUMBER: _ClassVar[int]
    ID_COUNT_FIELD_NUMBER: _ClassVar[int]
    P_VALUE_FIELD_NUMBER: _ClassVar[int]
    SLOT_LOADS_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    chi_square: float
    empty_slot_count: int
    errors: _containers.RepeatedCompositeFieldContainer[_id_pb2.IdError]
    expected_load: ExpectedLoad
    fullest_load: float
    fullest_slot_index: int
    fullest_to_mean_ratio: float
    id_count: int
    identity: _schedule_pb2.ScheduleIdentity
    p_value: float
    slot_loads: _containers.RepeatedScalarFieldContainer[float]
    warnings: _containers.RepeatedCompositeFieldContainer[AuditWarning]
    def __init__(self, identity: _Optional[_Union[_schedule_pb2.ScheduleIdentity, _Mapping]] = ..., id_count: _Optional[int] = ..., slot_loads: _Optional[_Iterable[float]] = ..., fullest_slot_index: _Optional[int] = ..., fullest_load: _Optional[float] = ..., fullest_to_mean_ratio: _Optional[float] = ..., expected_load: _Optional[_Union[ExpectedLoad, _Mapping]] = ..., empty_slot_count: _Optional[int] = ..., chi_square: _Optional[float] = ..., p_value: _Optional[float] = ..., warnings: _Optional[_Iterable[_Union[AuditWarning, _Mapping]]] = ..., errors: _Optional[_Iterable[_Union[_id_pb2.IdError, _Mapping]]] = ...) -> None: ...

class AuditWarning(_message.Message):
    __slots__ = ["finding", "message"]
    FINDING_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    finding: AuditFinding
    message: str
    def __init__(self, finding: _Optional[_Union[AuditFinding, str]] = ..., message: _Optional[str] = ...) -> None: ...

class ExpectedLoad(_message.Message):
    __slots__ = ["fullest_median", "fullest_p99", "mean"]
    FULLEST_MEDIAN_FIELD_NUMBER: _ClassVar[int]
    FULLEST_P99_FIELD_NUMBER: _ClassVar[int]
    MEAN_FIELD_NUMBER: _ClassVar[int]
    fullest_median: int
    fullest_p99: int
    mean: float
    def __init__(self, mean: _Optional[float] = ..., fullest_median: _Optional[int] = ..., fullest_p99: _Optional[int] = ...) -> None: ...

class AuditFinding(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []
