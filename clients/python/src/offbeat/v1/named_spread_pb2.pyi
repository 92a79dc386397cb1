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
DEAD_LETTER_CAUSE_ATTEMPTS_EXHAUSTED: DeadLetterCause
DEAD_LETTER_CAUSE_CONSUMER: DeadLetterCause
DEAD_LETTER_CAUSE_UNSPECIFIED: DeadLetterCause
DESCRIPTOR: _descriptor.FileDescriptor
EMPTY_REASON_CONSUMER_AT_LIMIT: EmptyReason
EMPTY_REASON_LEASES_AT_LIMIT: EmptyReason
EMPTY_REASON_NO_READY_JOB: EmptyReason
EMPTY_REASON_SPREAD_CLOSED: EmptyReason
EMPTY_REASON_UNSPECIFIED: EmptyReason
GROUP_STATE_PARTIAL: GroupState
GROUP_STATE_RECEIVED: GroupState
GROUP_STATE_SETTLED: GroupState
GROUP_STATE_STORED: GroupState
GROUP_STATE_UNKNOWN: GroupState
GROUP_STATE_UNSPECIFIED: GroupState
SETTLE_ACTION_ACK: SettleAction
SETTLE_ACTION_DEAD_LETTER: SettleAction
SETTLE_ACTION_EXTEND_LEASE: SettleAction
SETTLE_ACTION_NACK: SettleAction
SETTLE_ACTION_RELEASE: SettleAction
SETTLE_ACTION_UNSPECIFIED: SettleAction
SETTLE_OUTCOME_ACKED: SettleOutcome
SETTLE_OUTCOME_DEAD_LETTERED: SettleOutcome
SETTLE_OUTCOME_EXTENDED: SettleOutcome
SETTLE_OUTCOME_RETURNED: SettleOutcome
SETTLE_OUTCOME_STALE: SettleOutcome
SETTLE_OUTCOME_UNSPECIFIED: SettleOutcome
SPREAD_STATE_CLOSED: SpreadState
SPREAD_STATE_DRAINING: SpreadState
SPREAD_STATE_OPEN: SpreadState
SPREAD_STATE_UNSPECIFIED: SpreadState

class CloseSpreadRequest(_message.Message):
    __slots__ = ["max_wait_duration", "mode", "spread_name"]
    MAX_WAIT_DURATION_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    SPREAD_NAME_FIELD_NUMBER: _ClassVar[int]
    max_wait_duration: _duration_pb2.Duration
    mode: CloseMode
    spread_name: str
    def __init__(self, spread_name: _Optional[str] = ..., mode: _Optional[_Union[CloseMode, str]] = ..., max_wait_duration: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class CloseSpreadResponse(_message.Message):
    __slots__ = ["description"]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    description: SpreadDescription
    def __init__(self, description: _Optional[_Union[SpreadDescription, _Mapping]] = ...) -> None: ...

class DeadLetter(_message.Message):
    __slots__ = ["attempt_count", "cause", "group_id", "job_index", "number", "payload"]
    ATTEMPT_COUNT_FIELD_NUMBER: _ClassVar[int]
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    GROUP_ID_FIELD_NUMBER: _ClassVar[int]
    JOB_INDEX_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    attempt_count: int
    cause: DeadLetterCause
    group_id: str
    job_index: int
    number: int
    payload: bytes
    def __init__(self, number: _Optional[int] = ..., group_id: _Optional[str] = ..., job_index: _Optional[int] = ..., payload: _Optional[bytes] = ..., attempt_count: _Optional[int] = ..., cause: _Optional[_Union[DeadLetterCause, str]] = ...) -> None: ...

class DeleteDeadLettersRequest(_message.Message):
    __slots__ = ["epoch", "numbers", "spread_name"]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    NUMBERS_FIELD_NUMBER: _ClassVar[int]
    SPREAD_NAME_FIELD_NUMBER: _ClassVar[int]
    epoch: int
    numbers: _containers.RepeatedScalarFieldContainer[int]
    spread_name: str
    def __init__(self, spread_name: _Optional[str] = ..., epoch: _Optional[int] = ..., numbers: _Optional[_Iterable[int]] = ...) -> None: ...

class DeleteDeadLettersResponse(_message.Message):
    __slots__ = ["deleted_count"]
    DELETED_COUNT_FIELD_NUMBER: _ClassVar[int]
    deleted_count: int
    def __init__(self, deleted_count: _Optional[int] = ...) -> None: ...

class DescribeSpreadRequest(_message.Message):
    __slots__ = ["max_next_job_count", "spread_name"]
    MAX_NEXT_JOB_COUNT_FIELD_NUMBER: _ClassVar[int]
    SPREAD_NAME_FIELD_NUMBER: _ClassVar[int]
    max_next_job_count: int
    spread_name: str
    def __init__(self, spread_name: _Optional[str] = ..., max_next_job_count: _Optional[int] = ...) -> None: ...

class DescribeSpreadResponse(_message.Message):
    __slots__ = ["description", "next_jobs"]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    NEXT_JOBS_FIELD_NUMBER: _ClassVar[int]
    description: SpreadDescription
    next_jobs: _containers.RepeatedCompositeFieldContainer[NextJob]
    def __init__(self, description: _Optional[_Union[SpreadDescription, _Mapping]] = ..., next_jobs: _Optional[_Iterable[_Union[NextJob, _Mapping]]] = ...) -> None: ...

class GroupCommit(_message.Message):
    __slots__ = ["first_receipt", "job_count", "settled_ranges", "sha256"]
    FIRST_RECEIPT_FIELD_NUMBER: _ClassVar[int]
    JOB_COUNT_FIELD_NUMBER: _ClassVar[int]
    SETTLED_RANGES_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    first_receipt: Receipt
    job_count: int
    settled_ranges: _containers.RepeatedCompositeFieldContainer[IndexRange]
    sha256: bytes
    def __init__(self, job_count: _Optional[int] = ..., sha256: _Optional[bytes] = ..., first_receipt: _Optional[_Union[Receipt, _Mapping]] = ..., settled_ranges: _Optional[_Iterable[_Union[IndexRange, _Mapping]]] = ...) -> None: ...

class GroupPart(_message.Message):
    __slots__ = ["commit", "first_job_index", "group_id", "jobs"]
    COMMIT_FIELD_NUMBER: _ClassVar[int]
    FIRST_JOB_INDEX_FIELD_NUMBER: _ClassVar[int]
    GROUP_ID_FIELD_NUMBER: _ClassVar[int]
    JOBS_FIELD_NUMBER: _ClassVar[int]
    commit: GroupCommit
    first_job_index: int
    group_id: str
    jobs: _containers.RepeatedCompositeFieldContainer[SubmittedJob]
    def __init__(self, group_id: _Optional[str] = ..., first_job_index: _Optional[int] = ..., jobs: _Optional[_Iterable[_Union[SubmittedJob, _Mapping]]] = ..., commit: _Optional[_Union[GroupCommit, _Mapping]] = ...) -> None: ...

class GroupStatus(_message.Message):
    __slots__ = ["dead_letter_count", "group_id", "job_count", "settled_job_count", "settled_ranges", "state"]
    DEAD_LETTER_COUNT_FIELD_NUMBER: _ClassVar[int]
    GROUP_ID_FIELD_NUMBER: _ClassVar[int]
    JOB_COUNT_FIELD_NUMBER: _ClassVar[int]
    SETTLED_JOB_COUNT_FIELD_NUMBER: _ClassVar[int]
    SETTLED_RANGES_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    dead_letter_count: int
    group_id: str
    job_count: int
    settled_job_count: int
    settled_ranges: _containers.RepeatedCompositeFieldContainer[IndexRange]
    state: GroupState
    def __init__(self, group_id: _Optional[str] = ..., state: _Optional[_Union[GroupState, str]] = ..., job_count: _Optional[int] = ..., settled_job_count: _Optional[int] = ..., dead_letter_count: _Optional[int] = ..., settled_ranges: _Optional[_Iterable[_Union[IndexRange, _Mapping]]] = ...) -> None: ...

class IndexRange(_message.Message):
    __slots__ = ["end_index", "start_index"]
    END_INDEX_FIELD_NUMBER: _ClassVar[int]
    START_INDEX_FIELD_NUMBER: _ClassVar[int]
    end_index: int
    start_index: int
    def __init__(self, start_index: _Optional[int] = ..., end_index: _Optional[int] = ...) -> None: ...

class JobCredit(_message.Message):
    __slots__ = ["job_count"]
    JOB_COUNT_FIELD_NUMBER: _ClassVar[int]
    job_count: int
    def __init__(self, job_count: _Optional[int] = ...) -> None: ...

class JobSettlement(_message.Message):
    __slots__ = ["action", "attempt", "delay", "sequence"]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    DELAY_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    action: SettleAction
    attempt: int
    delay: _duration_pb2.Duration
    sequence: int
    def __init__(self, sequence: _Optional[int] = ..., attempt: _Optional[int] = ..., action: _Optional[_Union[SettleAction, str]] = ..., delay: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class JobSettlements(_message.Message):
    __slots__ = ["epoch", "settlements"]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    SETTLEMENTS_FIELD_NUMBER: _ClassVar[int]
    epoch: int
    settlements: _containers.RepeatedCompositeFieldContainer[JobSettlement]
    def __init__(self, epoch: _Optional[int] = ..., settlements: _Optional[_Iterable[_Union[JobSettlement, _Mapping]]] = ...) -> None: ...

class LeasedJob(_message.Message):
    __slots__ = ["attempt", "group_id", "job_index", "payload", "redelivered", "sequence"]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    GROUP_ID_FIELD_NUMBER: _ClassVar[int]
    JOB_INDEX_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    REDELIVERED_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    attempt: int
    group_id: str
    job_index: int
    payload: bytes
    redelivered: bool
    sequence: int
    def __init__(self, sequence: _Optional[int] = ..., attempt: _Optional[int] = ..., group_id: _Optional[str] = ..., job_index: _Optional[int] = ..., payload: _Optional[bytes] = ..., redelivered: bool = ...) -> None: ...

class LeasedJobs(_message.Message):
    __slots__ = ["epoch", "jobs", "lease_duration", "lease_end_time", "lease_start_uptime"]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    JOBS_FIELD_NUMBER: _ClassVar[int]
    LEASE_DURATION_FIELD_NUMBER: _ClassVar[int]
    LEASE_END_TIME_FIELD_NUMBER: _ClassVar[int]
    LEASE_START_UPTIME_FIELD_NUMBER: _ClassVar[int]
    epoch: int
    jobs: _containers.RepeatedCompositeFieldContainer[LeasedJob]
    lease_duration: _duration_pb2.Duration
    lease_end_time: _timestamp_pb2.Timestamp
    lease_start_uptime: _duration_pb2.Duration
    def __init__(self, epoch: _Optional[int] = ..., lease_duration: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., lease_end_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., jobs: _Optional[_Iterable[_Union[LeasedJob, _Mapping]]] = ..., lease_start_uptime: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class ListDeadLettersRequest(_message.Message):
    __slots__ = ["page_size", "page_token", "spread_name"]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    SPREAD_NAME_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    spread_name: str
    def __init__(self, spread_name: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListDeadLettersResponse(_message.Message):
    __slots__ = ["dead_letters", "epoch", "next_page_token"]
    DEAD_LETTERS_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    dead_letters: _containers.RepeatedCompositeFieldContainer[DeadLetter]
    epoch: int
    next_page_token: str
    def __init__(self, dead_letters: _Optional[_Iterable[_Union[DeadLetter, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., epoch: _Optional[int] = ...) -> None: ...

class ListSpreadsRequest(_message.Message):
    __slots__ = ["page_size", "page_token"]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListSpreadsResponse(_message.Message):
    __slots__ = ["next_page_token", "spreads"]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    SPREADS_FIELD_NUMBER: _ClassVar[int]
    next_page_token: str
    spreads: _containers.RepeatedCompositeFieldContainer[SpreadDescription]
    def __init__(self, spreads: _Optional[_Iterable[_Union[SpreadDescription, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class NamedSpreadSpec(_message.Message):
    __slots__ = ["lease_duration", "limits", "order"]
    LEASE_DURATION_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    ORDER_FIELD_NUMBER: _ClassVar[int]
    lease_duration: _duration_pb2.Duration
    limits: SpreadLimits
    order: _spread_pb2.SpreadOrder
    def __init__(self, order: _Optional[_Union[_spread_pb2.SpreadOrder, _Mapping]] = ..., lease_duration: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., limits: _Optional[_Union[SpreadLimits, _Mapping]] = ...) -> None: ...

class NextJob(_message.Message):
    __slots__ = ["group_id", "job_index"]
    GROUP_ID_FIELD_NUMBER: _ClassVar[int]
    JOB_INDEX_FIELD_NUMBER: _ClassVar[int]
    group_id: str
    job_index: int
    def __init__(self, group_id: _Optional[str] = ..., job_index: _Optional[int] = ...) -> None: ...

class OpenSpreadRequest(_message.Message):
    __slots__ = ["leave_closed", "spec", "spread_name"]
    LEAVE_CLOSED_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    SPREAD_NAME_FIELD_NUMBER: _ClassVar[int]
    leave_closed: bool
    spec: NamedSpreadSpec
    spread_name: str
    def __init__(self, spread_name: _Optional[str] = ..., spec: _Optional[_Union[NamedSpreadSpec, _Mapping]] = ..., leave_closed: bool = ...) -> None: ...

class OpenSpreadResponse(_message.Message):
    __slots__ = ["created", "description"]
    CREATED_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    created: bool
    description: SpreadDescription
    def __init__(self, description: _Optional[_Union[SpreadDescription, _Mapping]] = ..., created: bool = ...) -> None: ...

class PullJobsRequest(_message.Message):
    __slots__ = ["consumer_id", "max_pulled_job_count", "max_wait_duration", "spread_name"]
    CONSUMER_ID_FIELD_NUMBER: _ClassVar[int]
    MAX_PULLED_JOB_COUNT_FIELD_NUMBER: _ClassVar[int]
    MAX_WAIT_DURATION_FIELD_NUMBER: _ClassVar[int]
    SPREAD_NAME_FIELD_NUMBER: _ClassVar[int]
    consumer_id: str
    max_pulled_job_count: int
    max_wait_duration: _duration_pb2.Duration
    spread_name: str
    def __init__(self, spread_name: _Optional[str] = ..., consumer_id: _Optional[str] = ..., max_pulled_job_count: _Optional[int] = ..., max_wait_duration: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class PullJobsResponse(_message.Message):
    __slots__ = ["empty_reason", "leased", "waited_duration"]
    EMPTY_REASON_FIELD_NUMBER: _ClassVar[int]
    LEASED_FIELD_NUMBER: _ClassVar[int]
    WAITED_DURATION_FIELD_NUMBER: _ClassVar[int]
    empty_reason: EmptyReason
    leased: LeasedJobs
    waited_duration: _duration_pb2.Duration
    def __init__(self, leased: _Optional[_Union[LeasedJobs, _Mapping]] = ..., empty_reason: _Optional[_Union[EmptyReason, str]] = ..., waited_duration: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class Receipt(_message.Message):
    __slots__ = ["epoch", "lease_duration"]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    LEASE_DURATION_FIELD_NUMBER: _ClassVar[int]
    epoch: int
    lease_duration: _duration_pb2.Duration
    def __init__(self, epoch: _Optional[int] = ..., lease_duration: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class RedriveDeadLettersRequest(_message.Message):
    __slots__ = ["epoch", "numbers", "spread_name"]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    NUMBERS_FIELD_NUMBER: _ClassVar[int]
    SPREAD_NAME_FIELD_NUMBER: _ClassVar[int]
    epoch: int
    numbers: _containers.RepeatedScalarFieldContainer[int]
    spread_name: str
    def __init__(self, spread_name: _Optional[str] = ..., epoch: _Optional[int] = ..., numbers: _Optional[_Iterable[int]] = ...) -> None: ...

class RedriveDeadLettersResponse(_message.Message):
    __slots__ = ["redriven_count"]
    REDRIVEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    redriven_count: int
    def __init__(self, redriven_count: _Optional[int] = ...) -> None: ...

class SettleJobsRequest(_message.Message):
    __slots__ = ["epoch", "settlements", "spread_name"]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    SETTLEMENTS_FIELD_NUMBER: _ClassVar[int]
    SPREAD_NAME_FIELD_NUMBER: _ClassVar[int]
    epoch: int
    settlements: _containers.RepeatedCompositeFieldContainer[JobSettlement]
    spread_name: str
    def __init__(self, spread_name: _Optional[str] = ..., epoch: _Optional[int] = ..., settlements: _Optional[_Iterable[_Union[JobSettlement, _Mapping]]] = ...) -> None: ...

class SettleJobsResponse(_message.Message):
    __slots__ = ["results"]
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[SettleResult]
    def __init__(self, results: _Optional[_Iterable[_Union[SettleResult, _Mapping]]] = ...) -> None: ...

class SettleResult(_message.Message):
    __slots__ = ["lease_end_time", "outcome"]
    LEASE_END_TIME_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    lease_end_time: _timestamp_pb2.Timestamp
    outcome: SettleOutcome
    def __init__(self, outcome: _Optional[_Union[SettleOutcome, str]] = ..., lease_end_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class SettleResults(_message.Message):
    __slots__ = ["results"]
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[SettleResult]
    def __init__(self, results: _Optional[_Iterable[_Union[SettleResult, _Mapping]]] = ...) -> None: ...

class SpreadCounts(_message.Message):
    __slots__ = ["byte_count", "consumer_count", "dead_letter_count", "group_count", "leased_job_count", "partial_group_count", "quarantined_group_count", "ready_job_count", "returned_job_count", "settled_job_count"]
    BYTE_COUNT_FIELD_NUMBER: _ClassVar[int]
    CONSUMER_COUNT_FIELD_NUMBER: _ClassVar[int]
    DEAD_LETTER_COUNT_FIELD_NUMBER: _ClassVar[int]
    GROUP_COUNT_FIELD_NUMBER: _ClassVar[int]
    LEASED_JOB_COUNT_FIELD_NUMBER: _ClassVar[int]
    PARTIAL_GROUP_COUNT_FIELD_NUMBER: _ClassVar[int]
    QUARANTINED_GROUP_COUNT_FIELD_NUMBER: _ClassVar[int]
    READY_JOB_COUNT_FIELD_NUMBER: _ClassVar[int]
    RETURNED_JOB_COUNT_FIELD_NUMBER: _ClassVar[int]
    SETTLED_JOB_COUNT_FIELD_NUMBER: _ClassVar[int]
    byte_count: int
    consumer_count: int
    dead_letter_count: int
    group_count: int
    leased_job_count: int
    partial_group_count: int
    quarantined_group_count: int
    ready_job_count: int
    returned_job_count: int
    settled_job_count: int
    def __init__(self, group_count: _Optional[int] = ..., partial_group_count: _Optional[int] = ..., quarantined_group_count: _Optional[int] = ..., ready_job_count: _Optional[int] = ..., leased_job_count: _Optional[int] = ..., returned_job_count: _Optional[int] = ..., settled_job_count: _Optional[int] = ..., dead_letter_count: _Optional[int] = ..., byte_count: _Optional[int] = ..., consumer_count: _Optional[int] = ...) -> None: ...

class SpreadDescription(_message.Message):
    __slots__ = ["certificate", "counts", "epoch", "spec", "spread_name", "state"]
    CERTIFICATE_FIELD_NUMBER: _ClassVar[int]
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    SPREAD_NAME_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    certificate: _spread_pb2.SpreadCertificate
    counts: SpreadCounts
    epoch: int
    spec: NamedSpreadSpec
    spread_name: str
    state: SpreadState
    def __init__(self, spread_name: _Optional[str] = ..., spec: _Optional[_Union[NamedSpreadSpec, _Mapping]] = ..., state: _Optional[_Union[SpreadState, str]] = ..., epoch: _Optional[int] = ..., counts: _Optional[_Union[SpreadCounts, _Mapping]] = ..., certificate: _Optional[_Union[_spread_pb2.SpreadCertificate, _Mapping]] = ...) -> None: ...

class SpreadLimits(_message.Message):
    __slots__ = ["max_attempt_count", "max_byte_count", "max_consumer_lease_count", "max_group_count", "max_job_count"]
    MAX_ATTEMPT_COUNT_FIELD_NUMBER: _ClassVar[int]
    MAX_BYTE_COUNT_FIELD_NUMBER: _ClassVar[int]
    MAX_CONSUMER_LEASE_COUNT_FIELD_NUMBER: _ClassVar[int]
    MAX_GROUP_COUNT_FIELD_NUMBER: _ClassVar[int]
    MAX_JOB_COUNT_FIELD_NUMBER: _ClassVar[int]
    max_attempt_count: int
    max_byte_count: int
    max_consumer_lease_count: int
    max_group_count: int
    max_job_count: int
    def __init__(self, max_attempt_count: _Optional[int] = ..., max_consumer_lease_count: _Optional[int] = ..., max_group_count: _Optional[int] = ..., max_job_count: _Optional[int] = ..., max_byte_count: _Optional[int] = ...) -> None: ...

class StreamJobsRequest(_message.Message):
    __slots__ = ["credit", "settlements", "start"]
    CREDIT_FIELD_NUMBER: _ClassVar[int]
    SETTLEMENTS_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    credit: JobCredit
    settlements: JobSettlements
    start: StreamJobsStart
    def __init__(self, start: _Optional[_Union[StreamJobsStart, _Mapping]] = ..., credit: _Optional[_Union[JobCredit, _Mapping]] = ..., settlements: _Optional[_Union[JobSettlements, _Mapping]] = ...) -> None: ...

class StreamJobsResponse(_message.Message):
    __slots__ = ["leased", "settle_results", "started"]
    LEASED_FIELD_NUMBER: _ClassVar[int]
    SETTLE_RESULTS_FIELD_NUMBER: _ClassVar[int]
    STARTED_FIELD_NUMBER: _ClassVar[int]
    leased: LeasedJobs
    settle_results: SettleResults
    started: StreamJobsStarted
    def __init__(self, started: _Optional[_Union[StreamJobsStarted, _Mapping]] = ..., leased: _Optional[_Union[LeasedJobs, _Mapping]] = ..., settle_results: _Optional[_Union[SettleResults, _Mapping]] = ...) -> None: ...

class StreamJobsStart(_message.Message):
    __slots__ = ["consumer_id", "credit", "spread_name"]
    CONSUMER_ID_FIELD_NUMBER: _ClassVar[int]
    CREDIT_FIELD_NUMBER: _ClassVar[int]
    SPREAD_NAME_FIELD_NUMBER: _ClassVar[int]
    consumer_id: str
    credit: JobCredit
    spread_name: str
    def __init__(self, spread_name: _Optional[str] = ..., consumer_id: _Optional[str] = ..., credit: _Optional[_Union[JobCredit, _Mapping]] = ...) -> None: ...

class StreamJobsStarted(_message.Message):
    __slots__ = ["uptime"]
    UPTIME_FIELD_NUMBER: _ClassVar[int]
    uptime: _duration_pb2.Duration
    def __init__(self, uptime: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class SubmitGroupsRequest(_message.Message):
    __slots__ = ["groups", "spread_name"]
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    SPREAD_NAME_FIELD_NUMBER: _ClassVar[int]
    groups: _containers.RepeatedCompositeFieldContainer[GroupPart]
    spread_name: str
    def __init__(self, spread_name: _Optional[str] = ..., groups: _Optional[_Iterable[_Union[GroupPart, _Mapping]]] = ...) -> None: ...

class SubmitGroupsResponse(_message.Message):
    __slots__ = ["groups", "receipt"]
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    RECEIPT_FIELD_NUMBER: _ClassVar[int]
    groups: _containers.RepeatedCompositeFieldContainer[GroupStatus]
    receipt: Receipt
    def __init__(self, groups: _Optional[_Iterable[_Union[GroupStatus, _Mapping]]] = ..., receipt: _Optional[_Union[Receipt, _Mapping]] = ...) -> None: ...

class SubmittedJob(_message.Message):
    __slots__ = ["payload"]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    payload: bytes
    def __init__(self, payload: _Optional[bytes] = ...) -> None: ...

class UpdateSpreadRequest(_message.Message):
    __slots__ = ["limits", "spread_name"]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    SPREAD_NAME_FIELD_NUMBER: _ClassVar[int]
    limits: SpreadLimits
    spread_name: str
    def __init__(self, spread_name: _Optional[str] = ..., limits: _Optional[_Union[SpreadLimits, _Mapping]] = ...) -> None: ...

class UpdateSpreadResponse(_message.Message):
    __slots__ = ["description"]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    description: SpreadDescription
    def __init__(self, description: _Optional[_Union[SpreadDescription, _Mapping]] = ...) -> None: ...

class WaitForGroupsRequest(_message.Message):
    __slots__ = ["group_ids", "max_wait_duration", "spread_name"]
    GROUP_IDS_FIELD_NUMBER: _ClassVar[int]
    MAX_WAIT_DURATION_FIELD_NUMBER: _ClassVar[int]
    SPREAD_NAME_FIELD_NUMBER: _ClassVar[int]
    group_ids: _containers.RepeatedScalarFieldContainer[str]
    max_wait_duration: _duration_pb2.Duration
    spread_name: str
    def __init__(self, spread_name: _Optional[str] = ..., group_ids: _Optional[_Iterable[str]] = ..., max_wait_duration: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class WaitForGroupsResponse(_message.Message):
    __slots__ = ["epoch", "groups"]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    epoch: int
    groups: _containers.RepeatedCompositeFieldContainer[GroupStatus]
    def __init__(self, groups: _Optional[_Iterable[_Union[GroupStatus, _Mapping]]] = ..., epoch: _Optional[int] = ...) -> None: ...

class GroupState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class EmptyReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class SettleAction(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class SettleOutcome(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class SpreadState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class DeadLetterCause(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class CloseMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []
