from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class RecordLatenessRequest(_message.Message):
    __slots__ = ["kind", "lateness_millis", "schedule_name"]
    KIND_FIELD_NUMBER: _ClassVar[int]
    LATENESS_MILLIS_FIELD_NUMBER: _ClassVar[int]
    SCHEDULE_NAME_FIELD_NUMBER: _ClassVar[int]
    kind: str
    lateness_millis: _containers.RepeatedScalarFieldContainer[int]
    schedule_name: str
    def __init__(self, schedule_name: _Optional[str] = ..., kind: _Optional[str] = ..., lateness_millis: _Optional[_Iterable[int]] = ...) -> None: ...

class RecordLatenessResponse(_message.Message):
    __slots__ = ["has_own_series"]
    HAS_OWN_SERIES_FIELD_NUMBER: _ClassVar[int]
    has_own_series: bool
    def __init__(self, has_own_series: bool = ...) -> None: ...
