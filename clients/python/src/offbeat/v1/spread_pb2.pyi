from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor
SHORTAGE_POLICY_EMIT: ShortagePolicy
SHORTAGE_POLICY_UNSPECIFIED: ShortagePolicy
SHORTAGE_POLICY_WAIT: ShortagePolicy
SPREAD_POLICY_COOLDOWN: SpreadPolicy
SPREAD_POLICY_ROUND_ROBIN: SpreadPolicy
SPREAD_POLICY_UNSPECIFIED: SpreadPolicy

class GroupDemand(_message.Message):
    __slots__ = ["group_index", "job_count"]
    GROUP_INDEX_FIELD_NUMBER: _ClassVar[int]
    JOB_COUNT_FIELD_NUMBER: _ClassVar[int]
    group_index: int
    job_count: int
    def __init__(self, group_index: _Optional[int] = ..., job_count: _Optional[int] = ...) -> None: ...

class GroupInput(_message.Message):
    __slots__ = ["group_index", "job_count", "last", "size"]
    GROUP_INDEX_FIELD_NUMBER: _ClassVar[int]
    JOB_COUNT_FIELD_NUMBER: _ClassVar[int]
    LAST_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    group_index: int
    job_count: int
    last: bool
    size: int
    def __init__(self, group_index: _Optional[int] = ..., size: _Optional[int] = ..., job_count: _Optional[int] = ..., last: bool = ...) -> None: ...

class SpreadCertificate(_message.Message):
    __slots__ = ["best_min_gap_turns", "close_pair_count", "close_pair_lower_bound", "group_count", "job_count", "min_gap_turns", "widest_span_turns"]
    BEST_MIN_GAP_TURNS_FIELD_NUMBER: _ClassVar[int]
    CLOSE_PAIR_COUNT_FIELD_NUMBER: _ClassVar[int]
    CLOSE_PAIR_LOWER_BOUND_FIELD_NUMBER: _ClassVar[int]
    GROUP_COUNT_FIELD_NUMBER: _ClassVar[int]
    JOB_COUNT_FIELD_NUMBER: _ClassVar[int]
    MIN_GAP_TURNS_FIELD_NUMBER: _ClassVar[int]
    WIDEST_SPAN_TURNS_FIELD_NUMBER: _ClassVar[int]
    best_min_gap_turns: int
    close_pair_count: int
    close_pair_lower_bound: int
    group_count: int
    job_count: int
    min_gap_turns: int
    widest_span_turns: int
    def __init__(self, job_count: _Optional[int] = ..., group_count: _Optional[int] = ..., min_gap_turns: _Optional[int] = ..., best_min_gap_turns: _Optional[int] = ..., close_pair_count: _Optional[int] = ..., close_pair_lower_bound: _Optional[int] = ..., widest_span_turns: _Optional[int] = ...) -> None: ...

class SpreadDemand(_message.Message):
    __slots__ = ["group_count", "groups", "jobs_per_group"]
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    GROUP_COUNT_FIELD_NUMBER: _ClassVar[int]
    JOBS_PER_GROUP_FIELD_NUMBER: _ClassVar[int]
    group_count: int
    groups: _containers.RepeatedCompositeFieldContainer[GroupDemand]
    jobs_per_group: int
    def __init__(self, group_count: _Optional[int] = ..., jobs_per_group: _Optional[int] = ..., groups: _Optional[_Iterable[_Union[GroupDemand, _Mapping]]] = ...) -> None: ...

class SpreadInput(_message.Message):
    __slots__ = ["groups", "no_more_groups", "whole_group_sizes"]
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    NO_MORE_GROUPS_FIELD_NUMBER: _ClassVar[int]
    WHOLE_GROUP_SIZES_FIELD_NUMBER: _ClassVar[int]
    groups: _containers.RepeatedCompositeFieldContainer[GroupInput]
    no_more_groups: bool
    whole_group_sizes: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, groups: _Optional[_Iterable[_Union[GroupInput, _Mapping]]] = ..., no_more_groups: bool = ..., whole_group_sizes: _Optional[_Iterable[int]] = ...) -> None: ...

class SpreadOrder(_message.Message):
    __slots__ = ["feeder_count", "max_open_group_count", "policy"]
    FEEDER_COUNT_FIELD_NUMBER: _ClassVar[int]
    MAX_OPEN_GROUP_COUNT_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    feeder_count: int
    max_open_group_count: int
    policy: SpreadPolicy
    def __init__(self, policy: _Optional[_Union[SpreadPolicy, str]] = ..., feeder_count: _Optional[int] = ..., max_open_group_count: _Optional[int] = ...) -> None: ...

class SpreadRequest(_message.Message):
    __slots__ = ["input", "resume", "spec"]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    RESUME_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    input: SpreadInput
    resume: SpreadResume
    spec: SpreadSpec
    def __init__(self, spec: _Optional[_Union[SpreadSpec, _Mapping]] = ..., resume: _Optional[_Union[SpreadResume, _Mapping]] = ..., input: _Optional[_Union[SpreadInput, _Mapping]] = ...) -> None: ...

class SpreadResponse(_message.Message):
    __slots__ = ["certificate", "demand", "turns"]
    CERTIFICATE_FIELD_NUMBER: _ClassVar[int]
    DEMAND_FIELD_NUMBER: _ClassVar[int]
    TURNS_FIELD_NUMBER: _ClassVar[int]
    certificate: SpreadCertificate
    demand: SpreadDemand
    turns: SpreadTurns
    def __init__(self, demand: _Optional[_Union[SpreadDemand, _Mapping]] = ..., turns: _Optional[_Union[SpreadTurns, _Mapping]] = ..., certificate: _Optional[_Union[SpreadCertificate, _Mapping]] = ...) -> None: ...

class SpreadResume(_message.Message):
    __slots__ = ["resume_token", "taken_group_indexes"]
    RESUME_TOKEN_FIELD_NUMBER: _ClassVar[int]
    TAKEN_GROUP_INDEXES_FIELD_NUMBER: _ClassVar[int]
    resume_token: bytes
    taken_group_indexes: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, resume_token: _Optional[bytes] = ..., taken_group_indexes: _Optional[_Iterable[int]] = ...) -> None: ...

class SpreadSpec(_message.Message):
    __slots__ = ["group_window", "job_window", "on_shortage", "order"]
    GROUP_WINDOW_FIELD_NUMBER: _ClassVar[int]
    JOB_WINDOW_FIELD_NUMBER: _ClassVar[int]
    ON_SHORTAGE_FIELD_NUMBER: _ClassVar[int]
    ORDER_FIELD_NUMBER: _ClassVar[int]
    group_window: int
    job_window: int
    on_shortage: ShortagePolicy
    order: SpreadOrder
    def __init__(self, order: _Optional[_Union[SpreadOrder, _Mapping]] = ..., on_shortage: _Optional[_Union[ShortagePolicy, str]] = ..., job_window: _Optional[int] = ..., group_window: _Optional[int] = ...) -> None: ...

class SpreadTurns(_message.Message):
    __slots__ = ["first_turn_index", "group_indexes", "resume_token"]
    FIRST_TURN_INDEX_FIELD_NUMBER: _ClassVar[int]
    GROUP_INDEXES_FIELD_NUMBER: _ClassVar[int]
    RESUME_TOKEN_FIELD_NUMBER: _ClassVar[int]
    first_turn_index: int
    group_indexes: _containers.RepeatedScalarFieldContainer[int]
    resume_token: bytes
    def __init__(self, first_turn_index: _Optional[int] = ..., group_indexes: _Optional[_Iterable[int]] = ..., resume_token: _Optional[bytes] = ...) -> None: ...

class SpreadPolicy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class ShortagePolicy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []
