from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from offbeat.v1 import spread_pb2 as _spread_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

CLOSE_MODE_DISCARD: CloseMode
CLOSE_MODE_DRAIN: CloseMode
CLOSE_MODE_UNSPECIFIED: CloseMode
DEAD_LETTER_CAUSE_ATTEMPTS: DeadLetterCause
DEAD_LETTER_CAUSE_TERMINATED: DeadLetterCause
DEAD_LETTER_CAUSE_UNSPECIFIED: DeadLetterCause
DESCRIPTOR: _descriptor.FileDescriptor
GROUP_STATE_PARTIAL: GroupState
GROUP_STATE_RECEIVED: GroupState
GROUP_STATE_SETTLED: GroupState
GROUP_STATE_STORED: GroupState
GROUP_STATE_UNKNOWN: GroupState
GROUP_STATE_UNSPECIFIED: GroupState
SETTLEMENT_DEAD_LETTERED: Settlement
SETTLEMENT_EXTENDED: Settlement
SETTLEMENT_RETURNED: Settlement
SETTLEMENT_SETTLED: Settlement
SETTLEMENT_STALE: Settlement
SETTLEMENT_UNSPECIFIED: Settlement
SPREAD_STATE_CLOSED: SpreadState
SPREAD_STATE_DRAINING: SpreadState
SPREAD_STATE_OPEN: SpreadState
SPREAD_STATE_UNSPECIFIED: SpreadState
VERDICT_ACK: Verdict
VERDICT_EXTEND: Verdict
VERDICT_NACK: Verdict
VERDICT_RELEASE: Verdict
VERDICT_TERMINATE: Verdict
VERDICT_UNSPECIFIED: Verdict

class CloseSpreadRequest(_message.Message):
    __slots__ = ["mode", "spread", "wait"]
    MODE_FIELD_NUMBER: _ClassVar[int]
    SPREAD_FIELD_NUMBER: _ClassVar[int]
    WAIT_FIELD_NUMBER: _ClassVar[int]
    mode: CloseMode
    spread: str
    wait: _duration_pb2.Duration
    def __init__(self, spread: _Optional[str] = ..., mode: _Optional[_Union[CloseMode, str]] = ..., wait: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class CloseSpreadResponse(_message.Message):
    __slots__ = ["description"]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    description: SpreadDescription
    def __init__(self, description: _Optional[_Union[SpreadDescription, _Mapping]] = ...) -> None: ...

class DeadLetter(_message.Message):
    __slots__ = ["attempt_count", "cause", "group_id", "index", "job", "number"]
    ATTEMPT_COUNT_FIELD_NUMBER: _ClassVar[int]
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    GROUP_ID_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    JOB_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    attempt_count: int
    cause: DeadLetterCause
    group_id: str
    index: int
    job: bytes
    number: int
    def __init__(self, number: _Optional[int] = ..., group_id: _Optional[str] = ..., index: _Optional[int] = ..., job: _Optional[bytes] = ..., attempt_count: _Optional[int] = ..., cause: _Optional[_Union[DeadLetterCause, str]] = ...) -> None: ...

class DeleteDeadLettersRequest(_message.Message):
    __slots__ = ["numbers", "spread"]
    NUMBERS_FIELD_NUMBER: _ClassVar[int]
    SPREAD_FIELD_NUMBER: _ClassVar[int]
    numbers: _containers.RepeatedScalarFieldContainer[int]
    spread: str
    def __init__(self, spread: _Optional[str] = ..., numbers: _Optional[_Iterable[int]] = ...) -> None: ...

class DeleteDeadLettersResponse(_message.Message):
    __slots__ = ["deleted_count"]
    DELETED_COUNT_FIELD_NUMBER: _ClassVar[int]
    deleted_count: int
    def __init__(self, deleted_count: _Optional[int] = ...) -> None: ...

class DescribeSpreadRequest(_message.Message):
    __slots__ = ["spread"]
    SPREAD_FIELD_NUMBER: _ClassVar[int]
    spread: str
    def __init__(self, spread: _Optional[str] = ...) -> None: ...

class DescribeSpreadResponse(_message.Message):
    __slots__ = ["description"]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    description: SpreadDescription
    def __init__(self, description: _Optional[_Union[SpreadDescription, _Mapping]] = ...) -> None: ...

class GroupCommit(_message.Message):
    __slots__ = ["job_count", "sha256"]
    JOB_COUNT_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    job_count: int
    sha256: bytes
    def __init__(self, job_count: _Optional[int] = ..., sha256: _Optional[bytes] = ...) -> None: ...

class GroupPart(_message.Message):
    __slots__ = ["commit", "first_index", "first_receipt", "group_id", "jobs", "settled_ranges"]
    COMMIT_FIELD_NUMBER: _ClassVar[int]
    FIRST_INDEX_FIELD_NUMBER: _ClassVar[int]
    FIRST_RECEIPT_FIELD_NUMBER: _ClassVar[int]
    GROUP_ID_FIELD_NUMBER: _ClassVar[int]
    JOBS_FIELD_NUMBER: _ClassVar[int]
    SETTLED_RANGES_FIELD_NUMBER: _ClassVar[int]
    commit: GroupCommit
    first_index: int
    first_receipt: Receipt
    group_id: str
    jobs: _containers.RepeatedScalarFieldContainer[bytes]
    settled_ranges: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, group_id: _Optional[str] = ..., first_index: _Optional[int] = ..., jobs: _Optional[_Iterable[bytes]] = ..., commit: _Optional[_Union[GroupCommit, _Mapping]] = ..., first_receipt: _Optional[_Union[Receipt, _Mapping]] = ..., settled_ranges: _Optional[_Iterable[int]] = ...) -> None: ...

class GroupStatus(_message.Message):
    __slots__ = ["dead_letter_count", "group_id", "job_count", "settled_count", "settled_ranges", "state"]
    DEAD_LETTER_COUNT_FIELD_NUMBER: _ClassVar[int]
    GROUP_ID_FIELD_NUMBER: _ClassVar[int]
    JOB_COUNT_FIELD_NUMBER: _ClassVar[int]
    SETTLED_COUNT_FIELD_NUMBER: _ClassVar[int]
    SETTLED_RANGES_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    dead_letter_count: int
    group_id: str
    job_count: int
    settled_count: int
    settled_ranges: _containers.RepeatedScalarFieldContainer[int]
    state: GroupState
    def __init__(self, group_id: _Optional[str] = ..., state: _Optional[_Union[GroupState, str]] = ..., job_count: _Optional[int] = ..., settled_count: _Optional[int] = ..., dead_letter_count: _Optional[int] = ..., settled_ranges: _Optional[_Iterable[int]] = ...) -> None: ...

class JobVerdict(_message.Message):
    __slots__ = ["attempt", "delay", "sequence", "verdict"]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    DELAY_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    attempt: int
    delay: _duration_pb2.Duration
    sequence: int
    verdict: Verdict
    def __init__(self, sequence: _Optional[int] = ..., attempt: _Optional[int] = ..., verdict: _Optional[_Union[Verdict, str]] = ..., delay: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class JobVerdicts(_message.Message):
    __slots__ = ["epoch", "verdicts"]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    VERDICTS_FIELD_NUMBER: _ClassVar[int]
    epoch: int
    verdicts: _containers.RepeatedCompositeFieldContainer[JobVerdict]
    def __init__(self, epoch: _Optional[int] = ..., verdicts: _Optional[_Iterable[_Union[JobVerdict, _Mapping]]] = ...) -> None: ...

class LeasedJob(_message.Message):
    __slots__ = ["attempt", "group_id", "index", "job", "redelivered", "sequence"]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    GROUP_ID_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    JOB_FIELD_NUMBER: _ClassVar[int]
    REDELIVERED_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    attempt: int
    group_id: str
    index: int
    job: bytes
    redelivered: bool
    sequence: int
    def __init__(self, sequence: _Optional[int] = ..., attempt: _Optional[int] = ..., group_id: _Optional[str] = ..., index: _Optional[int] = ..., job: _Optional[bytes] = ..., redelivered: bool = ...) -> None: ...

class LeasedJobs(_message.Message):
    __slots__ = ["epoch", "jobs", "lease", "lease_end_time", "lent_at"]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    JOBS_FIELD_NUMBER: _ClassVar[int]
    LEASE_END_TIME_FIELD_NUMBER: _ClassVar[int]
    LEASE_FIELD_NUMBER: _ClassVar[int]
    LENT_AT_FIELD_NUMBER: _ClassVar[int]
    epoch: int
    jobs: _containers.RepeatedCompositeFieldContainer[LeasedJob]
    lease: _duration_pb2.Duration
    lease_end_time: _timestamp_pb2.Timestamp
    lent_at: _duration_pb2.Duration
    def __init__(self, epoch: _Optional[int] = ..., lease: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., lease_end_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., jobs: _Optional[_Iterable[_Union[LeasedJob, _Mapping]]] = ..., lent_at: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class ListDeadLettersRequest(_message.Message):
    __slots__ = ["after_number", "page_size", "spread"]
    AFTER_NUMBER_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    SPREAD_FIELD_NUMBER: _ClassVar[int]
    after_number: int
    page_size: int
    spread: str
    def __init__(self, spread: _Optional[str] = ..., page_size: _Optional[int] = ..., after_number: _Optional[int] = ...) -> None: ...

class ListDeadLettersResponse(_message.Message):
    __slots__ = ["dead_letters", "has_more"]
    DEAD_LETTERS_FIELD_NUMBER: _ClassVar[int]
    HAS_MORE_FIELD_NUMBER: _ClassVar[int]
    dead_letters: _containers.RepeatedCompositeFieldContainer[DeadLetter]
    has_more: bool
    def __init__(self, dead_letters: _Optional[_Iterable[_Union[DeadLetter, _Mapping]]] = ..., has_more: bool = ...) -> None: ...

class ListSpreadsRequest(_message.Message):
    __slots__ = ["after_spread", "page_size"]
    AFTER_SPREAD_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    after_spread: str
    page_size: int
    def __init__(self, page_size: _Optional[int] = ..., after_spread: _Optional[str] = ...) -> None: ...

class ListSpreadsResponse(_message.Message):
    __slots__ = ["has_more", "spreads"]
    HAS_MORE_FIELD_NUMBER: _ClassVar[int]
    SPREADS_FIELD_NUMBER: _ClassVar[int]
    has_more: bool
    spreads: _containers.RepeatedCompositeFieldContainer[SpreadDescription]
    def __init__(self, spreads: _Optional[_Iterable[_Union[SpreadDescription, _Mapping]]] = ..., has_more: bool = ...) -> None: ...

class NamedSpreadSpec(_message.Message):
    __slots__ = ["feeder_count", "lease", "max_attempts", "max_bytes", "max_consumer_leases", "max_groups", "max_jobs", "max_open_groups", "policy"]
    FEEDER_COUNT_FIELD_NUMBER: _ClassVar[int]
    LEASE_FIELD_NUMBER: _ClassVar[int]
    MAX_ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    MAX_BYTES_FIELD_NUMBER: _ClassVar[int]
    MAX_CONSUMER_LEASES_FIELD_NUMBER: _ClassVar[int]
    MAX_GROUPS_FIELD_NUMBER: _ClassVar[int]
    MAX_JOBS_FIELD_NUMBER: _ClassVar[int]
    MAX_OPEN_GROUPS_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    feeder_count: int
    lease: _duration_pb2.Duration
    max_attempts: int
    max_bytes: int
    max_consumer_leases: int
    max_groups: int
    max_jobs: int
    max_open_groups: int
    policy: _spread_pb2.SpreadPolicy
    def __init__(self, policy: _Optional[_Union[_spread_pb2.SpreadPolicy, str]] = ..., feeder_count: _Optional[int] = ..., max_open_groups: _Optional[int] = ..., lease: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., max_attempts: _Optional[int] = ..., max_consumer_leases: _Optional[int] = ..., max_groups: _Optional[int] = ..., max_jobs: _Optional[int] = ..., max_bytes: _Optional[int] = ...) -> None: ...

class OpenSpreadRequest(_message.Message):
    __slots__ = ["spec", "spread"]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    SPREAD_FIELD_NUMBER: _ClassVar[int]
    spec: NamedSpreadSpec
    spread: str
    def __init__(self, spread: _Optional[str] = ..., spec: _Optional[_Union[NamedSpreadSpec, _Mapping]] = ...) -> None: ...

class OpenSpreadResponse(_message.Message):
    __slots__ = ["created", "description"]
    CREATED_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    created: bool
    description: SpreadDescription
    def __init__(self, description: _Optional[_Union[SpreadDescription, _Mapping]] = ..., created: bool = ...) -> None: ...

class PullJobsRequest(_message.Message):
    __slots__ = ["consumer", "max_jobs", "spread", "wait"]
    CONSUMER_FIELD_NUMBER: _ClassVar[int]
    MAX_JOBS_FIELD_NUMBER: _ClassVar[int]
    SPREAD_FIELD_NUMBER: _ClassVar[int]
    WAIT_FIELD_NUMBER: _ClassVar[int]
    consumer: str
    max_jobs: int
    spread: str
    wait: _duration_pb2.Duration
    def __init__(self, spread: _Optional[str] = ..., consumer: _Optional[str] = ..., max_jobs: _Optional[int] = ..., wait: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class PullJobsResponse(_message.Message):
    __slots__ = ["ended", "leased", "waited"]
    ENDED_FIELD_NUMBER: _ClassVar[int]
    LEASED_FIELD_NUMBER: _ClassVar[int]
    WAITED_FIELD_NUMBER: _ClassVar[int]
    ended: bool
    leased: LeasedJobs
    waited: _duration_pb2.Duration
    def __init__(self, leased: _Optional[_Union[LeasedJobs, _Mapping]] = ..., ended: bool = ..., waited: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class Receipt(_message.Message):
    __slots__ = ["epoch", "lease"]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    LEASE_FIELD_NUMBER: _ClassVar[int]
    epoch: int
    lease: _duration_pb2.Duration
    def __init__(self, epoch: _Optional[int] = ..., lease: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class SettleJobsRequest(_message.Message):
    __slots__ = ["epoch", "spread", "verdicts"]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    SPREAD_FIELD_NUMBER: _ClassVar[int]
    VERDICTS_FIELD_NUMBER: _ClassVar[int]
    epoch: int
    spread: str
    verdicts: _containers.RepeatedCompositeFieldContainer[JobVerdict]
    def __init__(self, spread: _Optional[str] = ..., epoch: _Optional[int] = ..., verdicts: _Optional[_Iterable[_Union[JobVerdict, _Mapping]]] = ...) -> None: ...

class SettleJobsResponse(_message.Message):
    __slots__ = ["settlements"]
    SETTLEMENTS_FIELD_NUMBER: _ClassVar[int]
    settlements: _containers.RepeatedScalarFieldContainer[Settlement]
    def __init__(self, settlements: _Optional[_Iterable[_Union[Settlement, str]]] = ...) -> None: ...

class SpreadDescription(_message.Message):
    __slots__ = ["byte_count", "certificate", "consumer_count", "dead_letter_count", "epoch", "group_count", "leased_job_count", "partial_group_count", "quarantined_group_count", "ready_job_count", "returned_job_count", "settled_job_count", "spec", "spread", "state"]
    BYTE_COUNT_FIELD_NUMBER: _ClassVar[int]
    CERTIFICATE_FIELD_NUMBER: _ClassVar[int]
    CONSUMER_COUNT_FIELD_NUMBER: _ClassVar[int]
    DEAD_LETTER_COUNT_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    GROUP_COUNT_FIELD_NUMBER: _ClassVar[int]
    LEASED_JOB_COUNT_FIELD_NUMBER: _ClassVar[int]
    PARTIAL_GROUP_COUNT_FIELD_NUMBER: _ClassVar[int]
    QUARANTINED_GROUP_COUNT_FIELD_NUMBER: _ClassVar[int]
    READY_JOB_COUNT_FIELD_NUMBER: _ClassVar[int]
    RETURNED_JOB_COUNT_FIELD_NUMBER: _ClassVar[int]
    SETTLED_JOB_COUNT_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    SPREAD_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    byte_count: int
    certificate: _spread_pb2.SpreadCertificate
    consumer_count: int
    dead_letter_count: int
    epoch: int
    group_count: int
    leased_job_count: int
    partial_group_count: int
    quarantined_group_count: int
    ready_job_count: int
    returned_job_count: int
    settled_job_count: int
    spec: NamedSpreadSpec
    spread: str
    state: SpreadState
    def __init__(self, spread: _Optional[str] = ..., spec: _Optional[_Union[NamedSpreadSpec, _Mapping]] = ..., state: _Optional[_Union[SpreadState, str]] = ..., epoch: _Optional[int] = ..., group_count: _Optional[int] = ..., partial_group_count: _Optional[int] = ..., ready_job_count: _Optional[int] = ..., quarantined_group_count: _Optional[int] = ..., leased_job_count: _Optional[int] = ..., returned_job_count: _Optional[int] = ..., settled_job_count: _Optional[int] = ..., dead_letter_count: _Optional[int] = ..., byte_count: _Optional[int] = ..., consumer_count: _Optional[int] = ..., certificate: _Optional[_Union[_spread_pb2.SpreadCertificate, _Mapping]] = ...) -> None: ...

class StreamJobsRequest(_message.Message):
    __slots__ = ["credit", "start", "verdicts"]
    CREDIT_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    VERDICTS_FIELD_NUMBER: _ClassVar[int]
    credit: int
    start: StreamJobsStart
    verdicts: JobVerdicts
    def __init__(self, start: _Optional[_Union[StreamJobsStart, _Mapping]] = ..., credit: _Optional[int] = ..., verdicts: _Optional[_Union[JobVerdicts, _Mapping]] = ...) -> None: ...

class StreamJobsResponse(_message.Message):
    __slots__ = ["leased", "settled", "started"]
    LEASED_FIELD_NUMBER: _ClassVar[int]
    SETTLED_FIELD_NUMBER: _ClassVar[int]
    STARTED_FIELD_NUMBER: _ClassVar[int]
    leased: LeasedJobs
    settled: SettleJobsResponse
    started: StreamJobsStarted
    def __init__(self, started: _Optional[_Union[StreamJobsStarted, _Mapping]] = ..., leased: _Optional[_Union[LeasedJobs, _Mapping]] = ..., settled: _Optional[_Union[SettleJobsResponse, _Mapping]] = ...) -> None: ...

class StreamJobsStart(_message.Message):
    __slots__ = ["consumer", "credit", "spread"]
    CONSUMER_FIELD_NUMBER: _ClassVar[int]
    CREDIT_FIELD_NUMBER: _ClassVar[int]
    SPREAD_FIELD_NUMBER: _ClassVar[int]
    consumer: str
    credit: int
    spread: str
    def __init__(self, spread: _Optional[str] = ..., consumer: _Optional[str] = ..., credit: _Optional[int] = ...) -> None: ...

class StreamJobsStarted(_message.Message):
    __slots__ = ["at"]
    AT_FIELD_NUMBER: _ClassVar[int]
    at: _duration_pb2.Duration
    def __init__(self, at: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class SubmitGroupsRequest(_message.Message):
    __slots__ = ["groups", "spread"]
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    SPREAD_FIELD_NUMBER: _ClassVar[int]
    groups: _containers.RepeatedCompositeFieldContainer[GroupPart]
    spread: str
    def __init__(self, spread: _Optional[str] = ..., groups: _Optional[_Iterable[_Union[GroupPart, _Mapping]]] = ...) -> None: ...

class SubmitGroupsResponse(_message.Message):
    __slots__ = ["groups", "receipt"]
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    RECEIPT_FIELD_NUMBER: _ClassVar[int]
    groups: _containers.RepeatedCompositeFieldContainer[GroupStatus]
    receipt: Receipt
    def __init__(self, groups: _Optional[_Iterable[_Union[GroupStatus, _Mapping]]] = ..., receipt: _Optional[_Union[Receipt, _Mapping]] = ...) -> None: ...

class WaitForGroupsRequest(_message.Message):
    __slots__ = ["group_ids", "spread", "wait"]
    GROUP_IDS_FIELD_NUMBER: _ClassVar[int]
    SPREAD_FIELD_NUMBER: _ClassVar[int]
    WAIT_FIELD_NUMBER: _ClassVar[int]
    group_ids: _containers.RepeatedScalarFieldContainer[str]
    spread: str
    wait: _duration_pb2.Duration
    def __init__(self, spread: _Optional[str] = ..., group_ids: _Optional[_Iterable[str]] = ..., wait: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class WaitForGroupsResponse(_message.Message):
    __slots__ = ["epoch", "groups"]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    epoch: int
    groups: _containers.RepeatedCompositeFieldContainer[GroupStatus]
    def __init__(self, groups: _Optional[_Iterable[_Union[GroupStatus, _Mapping]]] = ..., epoch: _Optional[int] = ...) -> None: ...

class GroupState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class Verdict(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class Settlement(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class SpreadState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class DeadLetterCause(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class CloseMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []
