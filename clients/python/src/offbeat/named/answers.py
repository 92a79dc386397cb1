"""The types of requests and answers about named spreads."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from .._fields import set_integer, set_span
from .._keywords import positional
from ..spread import SpreadCertificate, SpreadPolicy, set_order
from ..times import from_duration, from_optional_timestamp
from ..v1 import named_spread_pb2 as pb

if TYPE_CHECKING:
    from dataclasses import KW_ONLY


class GroupState(enum.IntEnum):
    """How safe a group is."""

    #: Never submitted, discarded before its commit, lost with a restart, or settled long ago.
    UNKNOWN = 1
    #: Its commit has not arrived.
    PARTIAL = 2
    #: It is in the memory of the service, and lost with it; or in a store that has not confirmed
    #: that it is on disk.
    RECEIVED = 3
    #: It is on the disk of the store, and of as many replicas as may take over.
    STORED = 5
    #: Each of its jobs was acknowledged, or is a dead letter.
    SETTLED = 4


class SpreadState(enum.IntEnum):
    """Whether a spread takes groups."""

    #: It takes groups, and leases their jobs.
    OPEN = 1
    #: It leases the jobs that it has, and takes no more groups.
    DRAINING = 2
    #: All jobs are settled.
    CLOSED = 3


class EmptyReason(enum.IntEnum):
    """Why no job was leased."""

    #: No job is ready: there is none, or all are leased or delayed.
    NO_READY_JOB = 1
    #: The consumer holds as many jobs as it may: settle some.
    CONSUMER_AT_LIMIT = 2
    #: All consumers together hold as many jobs as the server leases at once.
    LEASES_AT_LIMIT = 3
    #: The spread is closed and holds no job: do not pull again.
    SPREAD_CLOSED = 4


class SettleAction(enum.IntEnum):
    """What to do with a leased job."""

    #: The job is done.
    ACK = 1
    #: The attempt failed: the job is leased again, or becomes a dead letter after its last attempt.
    NACK = 2
    #: The job was not started: it is leased again, and the attempt does not count.
    RELEASE = 3
    #: Work continues: the lease lasts for its full duration from now on.
    EXTEND_LEASE = 4
    #: The job can never succeed: it becomes a dead letter.
    DEAD_LETTER = 5


class SettleOutcome(enum.IntEnum):
    """The result of a settlement."""

    #: The job is done, or was acknowledged by the same lease before.
    ACKED = 1
    #: The job will be leased again.
    RETURNED = 2
    #: The lease was extended.
    EXTENDED = 3
    #: The job is a dead letter.
    DEAD_LETTERED = 4
    #: The lease has ended: the settlement has no effect, and another consumer may have the job.
    STALE = 5


class DeadLetterCause(enum.IntEnum):
    """The reason that a job is a dead letter."""

    #: Its last attempt failed, or the lease of its last attempt ended.
    ATTEMPTS_EXHAUSTED = 1
    #: A consumer settled it with ``SettleAction.DEAD_LETTER``.
    CONSUMER = 2


@dataclass(frozen=True)
class SettleResult:
    """The result of one settlement."""

    outcome: SettleOutcome
    #: ``EXTENDED`` only: when the lease ends, by the clock of the server.
    lease_end_time: datetime | None = None

    @classmethod
    def from_message(cls, message: pb.SettleResult) -> SettleResult:
        """Read it from a message."""
        end = from_optional_timestamp(message, "lease_end_time")
        return cls(SettleOutcome(message.outcome), end)


@positional(0)
@dataclass(frozen=True)
class SpreadLimits:
    """Limits of a named spread; ``None`` stands for the default of the service.

    max_attempt_count: leases of a job before it becomes a dead letter; released ones do not count.
    max_consumer_lease_count: jobs that one consumer may hold at once.
    max_group_count: groups at once.
    max_job_count: jobs at once, dead letters included.
    max_byte_count: bytes of payloads at once, dead letters included.
    """

    if TYPE_CHECKING:
        _: KW_ONLY
    max_attempt_count: int | None = None
    max_consumer_lease_count: int | None = None
    max_group_count: int | None = None
    max_job_count: int | None = None
    max_byte_count: int | None = None

    def to_message(self, path: str) -> pb.SpreadLimits:
        """Turn the limits into their message; ``path`` is its place in the request."""
        message = pb.SpreadLimits()
        for name in self.__dataclass_fields__:
            limit = getattr(self, name)
            if limit is not None:
                set_integer(message, path, name, limit)
        return message

    @classmethod
    def from_message(cls, message: pb.SpreadLimits) -> SpreadLimits:
        """Read them from a message."""
        return cls(
            **{
                name: getattr(message, name) if message.HasField(name) else None
                for name in cls.__dataclass_fields__
            }
        )


@positional(1)
@dataclass(frozen=True)
class NamedSpreadSpec:
    """How a named spread works; ``None`` stands for the default of the service."""

    feeder_count: int
    if TYPE_CHECKING:
        _: KW_ONLY
    policy: SpreadPolicy | None = None
    max_open_group_count: int | None = None
    lease_duration: timedelta | None = None
    limits: SpreadLimits = SpreadLimits()

    def to_message(self) -> pb.NamedSpreadSpec:
        """Turn it into a message."""
        message = pb.NamedSpreadSpec()
        set_order(message.order, self.feeder_count, self.policy, self.max_open_group_count)
        set_span(message, "spec", "lease_duration", self.lease_duration)
        message.limits.CopyFrom(self.limits.to_message("spec.limits"))
        return message

    @classmethod
    def from_message(cls, message: pb.NamedSpreadSpec) -> NamedSpreadSpec:
        """Read it from a message that has every default filled in."""
        order = message.order
        return cls(
            feeder_count=order.feeder_count,
            policy=SpreadPolicy(order.policy),
            max_open_group_count=(
                order.max_open_group_count if order.HasField("max_open_group_count") else None
            ),
            lease_duration=from_duration(message.lease_duration),
            limits=SpreadLimits.from_message(message.limits),
        )


@dataclass(frozen=True)
class GroupStatus:
    """The state of a group."""

    group_id: str
    state: GroupState
    #: Jobs that have arrived.
    job_count: int
    #: Of these, settled ones, dead letters included.
    settled_job_count: int
    #: Of these, dead letters.
    dead_letter_count: int

    @classmethod
    def from_message(cls, message: pb.GroupStatus) -> GroupStatus:
        """Read it from a message."""
        return cls(
            group_id=message.group_id,
            state=GroupState(message.state),
            job_count=message.job_count,
            settled_job_count=message.settled_job_count,
            dead_letter_count=message.dead_letter_count,
        )


@dataclass(frozen=True)
class SpreadCounts:
    """Contents of a named spread, in numbers."""

    #: Committed groups that are not settled.
    group_count: int
    #: Groups without their commit.
    partial_group_count: int
    #: Groups that wait until leases of an earlier epoch must have ended.
    quarantined_group_count: int
    #: Jobs that were never leased.
    ready_job_count: int
    #: Leased jobs.
    leased_job_count: int
    #: Jobs to lease again, now or after a delay.
    returned_job_count: int
    #: Jobs that were settled in this epoch, dead letters included.
    settled_job_count: int
    #: Dead letters.
    dead_letter_count: int
    #: Bytes, counted as for ``max_byte_count``.
    byte_count: int
    #: Consumers that hold jobs.
    consumer_count: int

    @classmethod
    def from_message(cls, message: pb.SpreadCounts) -> SpreadCounts:
        """Read them from a message."""
        return cls(**{name: getattr(message, name) for name in cls.__dataclass_fields__})


@dataclass(frozen=True)
class SpreadDescription:
    """A named spread, and what it holds."""

    spread_name: str
    #: Its spec, with every default filled in.
    spec: NamedSpreadSpec
    state: SpreadState
    #: The epoch of the spread: another number after each restart, and each time that its name is
    #: opened again.
    epoch: int
    counts: SpreadCounts
    #: The order of first attempts so far.
    certificate: SpreadCertificate

    @classmethod
    def from_message(cls, message: pb.SpreadDescription) -> SpreadDescription:
        """Read it from a message."""
        return cls(
            spread_name=message.spread_name,
            spec=NamedSpreadSpec.from_message(message.spec),
            state=SpreadState(message.state),
            epoch=message.epoch,
            counts=SpreadCounts.from_message(message.counts),
            certificate=SpreadCertificate.from_message(message.certificate),
        )


@dataclass(frozen=True)
class DeadLetter:
    """A job that is not tried again. Within its spread, epoch and number identify it."""

    #: The epoch of the spread: in another epoch, the same number is another dead letter.
    epoch: int
    #: From 0, in the order in which jobs became dead letters.
    number: int
    group_id: str
    #: Its index within the group, from 0.
    job_index: int
    payload: bytes
    #: How many times it was leased.
    attempt_count: int
    cause: DeadLetterCause

    @classmethod
    def from_message(cls, message: pb.DeadLetter, epoch: int) -> DeadLetter:
        """Read it from a message; ``epoch`` is the epoch of the page that lists it."""
        return cls(
            epoch=epoch,
            number=message.number,
            group_id=message.group_id,
            job_index=message.job_index,
            payload=message.payload,
            attempt_count=message.attempt_count,
            cause=DeadLetterCause(message.cause),
        )
