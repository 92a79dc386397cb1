from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

CALENDAR_UNIT_DAY: CalendarUnit
CALENDAR_UNIT_MONTH: CalendarUnit
CALENDAR_UNIT_UNSPECIFIED: CalendarUnit
CALENDAR_UNIT_WEEK: CalendarUnit
DESCRIPTOR: _descriptor.FileDescriptor
EXCLUSION_POLICY_DEFER: ExclusionPolicy
EXCLUSION_POLICY_SKIP: ExclusionPolicy
EXCLUSION_POLICY_UNSPECIFIED: ExclusionPolicy
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

class CalendarCycle(_message.Message):
    __slots__ = ["time_zone", "unit"]
    TIME_ZONE_FIELD_NUMBER: _ClassVar[int]
    UNIT_FIELD_NUMBER: _ClassVar[int]
    time_zone: str
    unit: CalendarUnit
    def __init__(self, unit: _Optional[_Union[CalendarUnit, str]] = ..., time_zone: _Optional[str] = ...) -> None: ...

class CycleWindow(_message.Message):
    __slots__ = ["end_offset", "start_offset"]
    END_OFFSET_FIELD_NUMBER: _ClassVar[int]
    START_OFFSET_FIELD_NUMBER: _ClassVar[int]
    end_offset: _duration_pb2.Duration
    start_offset: _duration_pb2.Duration
    def __init__(self, start_offset: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., end_offset: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class DatedExclusion(_message.Message):
    __slots__ = ["end_time", "start_time"]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    end_time: _timestamp_pb2.Timestamp
    start_time: _timestamp_pb2.Timestamp
    def __init__(self, start_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., end_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class Exclusion(_message.Message):
    __slots__ = ["dated", "policy", "recurring"]
    DATED_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    RECURRING_FIELD_NUMBER: _ClassVar[int]
    dated: DatedExclusion
    policy: ExclusionPolicy
    recurring: RecurringExclusion
    def __init__(self, dated: _Optional[_Union[DatedExclusion, _Mapping]] = ..., recurring: _Optional[_Union[RecurringExclusion, _Mapping]] = ..., policy: _Optional[_Union[ExclusionPolicy, str]] = ...) -> None: ...

class Kind(_message.Message):
    __slots__ = ["name", "run_time"]
    NAME_FIELD_NUMBER: _ClassVar[int]
    RUN_TIME_FIELD_NUMBER: _ClassVar[int]
    name: str
    run_time: _duration_pb2.Duration
    def __init__(self, name: _Optional[str] = ..., run_time: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class KindConflict(_message.Message):
    __slots__ = ["first_kind", "second_kind"]
    FIRST_KIND_FIELD_NUMBER: _ClassVar[int]
    SECOND_KIND_FIELD_NUMBER: _ClassVar[int]
    first_kind: str
    second_kind: str
    def __init__(self, first_kind: _Optional[str] = ..., second_kind: _Optional[str] = ...) -> None: ...

class RecurringExclusion(_message.Message):
    __slots__ = ["calendar", "window"]
    CALENDAR_FIELD_NUMBER: _ClassVar[int]
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    calendar: CalendarCycle
    window: CycleWindow
    def __init__(self, calendar: _Optional[_Union[CalendarCycle, _Mapping]] = ..., window: _Optional[_Union[CycleWindow, _Mapping]] = ...) -> None: ...

class Schedule(_message.Message):
    __slots__ = ["reference", "spec"]
    REFERENCE_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    reference: ScheduleReference
    spec: ScheduleSpec
    def __init__(self, spec: _Optional[_Union[ScheduleSpec, _Mapping]] = ..., reference: _Optional[_Union[ScheduleReference, _Mapping]] = ...) -> None: ...

class ScheduleIdentity(_message.Message):
    __slots__ = ["fingerprint", "run_key_root", "time_zone_database"]
    FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    RUN_KEY_ROOT_FIELD_NUMBER: _ClassVar[int]
    TIME_ZONE_DATABASE_FIELD_NUMBER: _ClassVar[int]
    fingerprint: str
    run_key_root: str
    time_zone_database: str
    def __init__(self, fingerprint: _Optional[str] = ..., run_key_root: _Optional[str] = ..., time_zone_database: _Optional[str] = ...) -> None: ...

class ScheduleReference(_message.Message):
    __slots__ = ["name", "version"]
    NAME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    name: str
    version: int
    def __init__(self, name: _Optional[str] = ..., version: _Optional[int] = ...) -> None: ...

class ScheduleSpec(_message.Message):
    __slots__ = ["active_windows", "anchor_time", "bucket_count", "calendar", "catch_up_span", "exclusions", "kind_conflicts", "kind_spacing", "kinds", "period", "placement", "profile", "resolution", "salt", "slot_count", "weight_quantum"]
    ACTIVE_WINDOWS_FIELD_NUMBER: _ClassVar[int]
    ANCHOR_TIME_FIELD_NUMBER: _ClassVar[int]
    BUCKET_COUNT_FIELD_NUMBER: _ClassVar[int]
    CALENDAR_FIELD_NUMBER: _ClassVar[int]
    CATCH_UP_SPAN_FIELD_NUMBER: _ClassVar[int]
    EXCLUSIONS_FIELD_NUMBER: _ClassVar[int]
    KINDS_FIELD_NUMBER: _ClassVar[int]
    KIND_CONFLICTS_FIELD_NUMBER: _ClassVar[int]
    KIND_SPACING_FIELD_NUMBER: _ClassVar[int]
    PERIOD_FIELD_NUMBER: _ClassVar[int]
    PLACEMENT_FIELD_NUMBER: _ClassVar[int]
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    RESOLUTION_FIELD_NUMBER: _ClassVar[int]
    SALT_FIELD_NUMBER: _ClassVar[int]
    SLOT_COUNT_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_QUANTUM_FIELD_NUMBER: _ClassVar[int]
    active_windows: _containers.RepeatedCompositeFieldContainer[CycleWindow]
    anchor_time: _timestamp_pb2.Timestamp
    bucket_count: int
    calendar: CalendarCycle
    catch_up_span: _duration_pb2.Duration
    exclusions: _containers.RepeatedCompositeFieldContainer[Exclusion]
    kind_conflicts: _containers.RepeatedCompositeFieldContainer[KindConflict]
    kind_spacing: KindSpacing
    kinds: _containers.RepeatedCompositeFieldContainer[Kind]
    period: _duration_pb2.Duration
    placement: Placement
    profile: TwisterProfile
    resolution: _duration_pb2.Duration
    salt: str
    slot_count: int
    weight_quantum: int
    def __init__(self, period: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., calendar: _Optional[_Union[CalendarCycle, _Mapping]] = ..., resolution: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., anchor_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., slot_count: _Optional[int] = ..., placement: _Optional[_Union[Placement, str]] = ..., bucket_count: _Optional[int] = ..., profile: _Optional[_Union[TwisterProfile, str]] = ..., salt: _Optional[str] = ..., active_windows: _Optional[_Iterable[_Union[CycleWindow, _Mapping]]] = ..., exclusions: _Optional[_Iterable[_Union[Exclusion, _Mapping]]] = ..., weight_quantum: _Optional[int] = ..., kinds: _Optional[_Iterable[_Union[Kind, _Mapping]]] = ..., kind_spacing: _Optional[_Union[KindSpacing, str]] = ..., kind_conflicts: _Optional[_Iterable[_Union[KindConflict, _Mapping]]] = ..., catch_up_span: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class KindSpacing(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class CalendarUnit(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class ExclusionPolicy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class Placement(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class TwisterProfile(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []
