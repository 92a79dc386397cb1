from offbeat.v1 import error_reason_pb2 as _error_reason_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

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

class IdBatch(_message.Message):
    __slots__ = ["decimals", "fractions", "integers", "packed_uuids", "texts", "time_zone_indexes", "time_zones", "uuids"]
    DECIMALS_FIELD_NUMBER: _ClassVar[int]
    FRACTIONS_FIELD_NUMBER: _ClassVar[int]
    INTEGERS_FIELD_NUMBER: _ClassVar[int]
    PACKED_UUIDS_FIELD_NUMBER: _ClassVar[int]
    TEXTS_FIELD_NUMBER: _ClassVar[int]
    TIME_ZONES_FIELD_NUMBER: _ClassVar[int]
    TIME_ZONE_INDEXES_FIELD_NUMBER: _ClassVar[int]
    UUIDS_FIELD_NUMBER: _ClassVar[int]
    decimals: _containers.RepeatedScalarFieldContainer[str]
    fractions: _containers.RepeatedScalarFieldContainer[float]
    integers: _containers.RepeatedScalarFieldContainer[int]
    packed_uuids: bytes
    texts: _containers.RepeatedScalarFieldContainer[str]
    time_zone_indexes: _containers.RepeatedScalarFieldContainer[int]
    time_zones: _containers.RepeatedScalarFieldContainer[str]
    uuids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, packed_uuids: _Optional[bytes] = ..., uuids: _Optional[_Iterable[str]] = ..., integers: _Optional[_Iterable[int]] = ..., decimals: _Optional[_Iterable[str]] = ..., texts: _Optional[_Iterable[str]] = ..., fractions: _Optional[_Iterable[float]] = ..., time_zones: _Optional[_Iterable[str]] = ..., time_zone_indexes: _Optional[_Iterable[int]] = ...) -> None: ...

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
