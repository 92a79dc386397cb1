from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class GetServerInfoRequest(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class GetServerInfoResponse(_message.Message):
    __slots__ = ["limits", "time_zone_database", "version"]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    TIME_ZONE_DATABASE_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    limits: _containers.RepeatedCompositeFieldContainer[ServerLimit]
    time_zone_database: str
    version: str
    def __init__(self, version: _Optional[str] = ..., time_zone_database: _Optional[str] = ..., limits: _Optional[_Iterable[_Union[ServerLimit, _Mapping]]] = ...) -> None: ...

class ServerLimit(_message.Message):
    __slots__ = ["id", "max_value", "min_value", "name", "note", "unit"]
    ID_FIELD_NUMBER: _ClassVar[int]
    MAX_VALUE_FIELD_NUMBER: _ClassVar[int]
    MIN_VALUE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    UNIT_FIELD_NUMBER: _ClassVar[int]
    id: str
    max_value: int
    min_value: int
    name: str
    note: str
    unit: str
    def __init__(self, id: _Optional[str] = ..., name: _Optional[str] = ..., min_value: _Optional[int] = ..., max_value: _Optional[int] = ..., unit: _Optional[str] = ..., note: _Optional[str] = ...) -> None: ...
