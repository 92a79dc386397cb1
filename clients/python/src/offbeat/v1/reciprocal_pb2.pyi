from google.protobuf import duration_pb2 as _duration_pb2
from offbeat.v1 import schedule_pb2 as _schedule_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor
SEPARATION_APART: Separation
SEPARATION_MEET: Separation
SEPARATION_UNKNOWN: Separation
SEPARATION_UNSPECIFIED: Separation

class CompareSchedulesRequest(_message.Message):
    __slots__ = ["jobs"]
    JOBS_FIELD_NUMBER: _ClassVar[int]
    jobs: _containers.RepeatedCompositeFieldContainer[ComparedJob]
    def __init__(self, jobs: _Optional[_Iterable[_Union[ComparedJob, _Mapping]]] = ...) -> None: ...

class CompareSchedulesResponse(_message.Message):
    __slots__ = ["pairs", "separation"]
    PAIRS_FIELD_NUMBER: _ClassVar[int]
    SEPARATION_FIELD_NUMBER: _ClassVar[int]
    pairs: _containers.RepeatedCompositeFieldContainer[ComparedPair]
    separation: Separation
    def __init__(self, separation: _Optional[_Union[Separation, str]] = ..., pairs: _Optional[_Iterable[_Union[ComparedPair, _Mapping]]] = ...) -> None: ...

class ComparedJob(_message.Message):
    __slots__ = ["kind", "run_time", "schedule"]
    KIND_FIELD_NUMBER: _ClassVar[int]
    RUN_TIME_FIELD_NUMBER: _ClassVar[int]
    SCHEDULE_FIELD_NUMBER: _ClassVar[int]
    kind: str
    run_time: _duration_pb2.Duration
    schedule: _schedule_pb2.Schedule
    def __init__(self, schedule: _Optional[_Union[_schedule_pb2.Schedule, _Mapping]] = ..., kind: _Optional[str] = ..., run_time: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class ComparedPair(_message.Message):
    __slots__ = ["first_job_index", "first_to_second", "message", "second_job_index", "second_to_first", "separation"]
    FIRST_JOB_INDEX_FIELD_NUMBER: _ClassVar[int]
    FIRST_TO_SECOND_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    SECOND_JOB_INDEX_FIELD_NUMBER: _ClassVar[int]
    SECOND_TO_FIRST_FIELD_NUMBER: _ClassVar[int]
    SEPARATION_FIELD_NUMBER: _ClassVar[int]
    first_job_index: int
    first_to_second: _duration_pb2.Duration
    message: str
    second_job_index: int
    second_to_first: _duration_pb2.Duration
    separation: Separation
    def __init__(self, first_job_index: _Optional[int] = ..., second_job_index: _Optional[int] = ..., separation: _Optional[_Union[Separation, str]] = ..., message: _Optional[str] = ..., first_to_second: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., second_to_first: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class GetReciprocalSlotsRequest(_message.Message):
    __slots__ = ["kind_conflicts", "kind_count", "kind_spacing", "polling_delay", "run_times", "schedule", "slot_index", "slot_job_delay"]
    KIND_CONFLICTS_FIELD_NUMBER: _ClassVar[int]
    KIND_COUNT_FIELD_NUMBER: _ClassVar[int]
    KIND_SPACING_FIELD_NUMBER: _ClassVar[int]
    POLLING_DELAY_FIELD_NUMBER: _ClassVar[int]
    RUN_TIMES_FIELD_NUMBER: _ClassVar[int]
    SCHEDULE_FIELD_NUMBER: _ClassVar[int]
    SLOT_INDEX_FIELD_NUMBER: _ClassVar[int]
    SLOT_JOB_DELAY_FIELD_NUMBER: _ClassVar[int]
    kind_conflicts: _containers.RepeatedCompositeFieldContainer[KindIndexConflict]
    kind_count: int
    kind_spacing: _schedule_pb2.KindSpacing
    polling_delay: _duration_pb2.Duration
    run_times: _containers.RepeatedCompositeFieldContainer[_duration_pb2.Duration]
    schedule: _schedule_pb2.Schedule
    slot_index: int
    slot_job_delay: _duration_pb2.Duration
    def __init__(self, schedule: _Optional[_Union[_schedule_pb2.Schedule, _Mapping]] = ..., slot_index: _Optional[int] = ..., kind_count: _Optional[int] = ..., kind_spacing: _Optional[_Union[_schedule_pb2.KindSpacing, str]] = ..., run_times: _Optional[_Iterable[_Union[_duration_pb2.Duration, _Mapping]]] = ..., kind_conflicts: _Optional[_Iterable[_Union[KindIndexConflict, _Mapping]]] = ..., polling_delay: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., slot_job_delay: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

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
    identity: _schedule_pb2.ScheduleIdentity
    independent_run_budget: _duration_pb2.Duration
    kinds: _containers.RepeatedCompositeFieldContainer[KindSlot]
    run_budget: _duration_pb2.Duration
    def __init__(self, identity: _Optional[_Union[_schedule_pb2.ScheduleIdentity, _Mapping]] = ..., kinds: _Optional[_Iterable[_Union[KindSlot, _Mapping]]] = ..., gap_slot_count: _Optional[int] = ..., gap: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., run_budget: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., independent_run_budget: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class KindIndexConflict(_message.Message):
    __slots__ = ["first_kind_index", "second_kind_index"]
    FIRST_KIND_INDEX_FIELD_NUMBER: _ClassVar[int]
    SECOND_KIND_INDEX_FIELD_NUMBER: _ClassVar[int]
    first_kind_index: int
    second_kind_index: int
    def __init__(self, first_kind_index: _Optional[int] = ..., second_kind_index: _Optional[int] = ...) -> None: ...

class KindSlot(_message.Message):
    __slots__ = ["clock_slot_index", "gap_slot_count", "id_slot_index", "kind_index", "offset", "offset_slot_count", "run_budget"]
    CLOCK_SLOT_INDEX_FIELD_NUMBER: _ClassVar[int]
    GAP_SLOT_COUNT_FIELD_NUMBER: _ClassVar[int]
    ID_SLOT_INDEX_FIELD_NUMBER: _ClassVar[int]
    KIND_INDEX_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    OFFSET_SLOT_COUNT_FIELD_NUMBER: _ClassVar[int]
    RUN_BUDGET_FIELD_NUMBER: _ClassVar[int]
    clock_slot_index: int
    gap_slot_count: int
    id_slot_index: int
    kind_index: int
    offset: _duration_pb2.Duration
    offset_slot_count: int
    run_budget: _duration_pb2.Duration
    def __init__(self, kind_index: _Optional[int] = ..., offset_slot_count: _Optional[int] = ..., id_slot_index: _Optional[int] = ..., clock_slot_index: _Optional[int] = ..., gap_slot_count: _Optional[int] = ..., run_budget: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., offset: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class Separation(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []
