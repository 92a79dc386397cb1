"""What is said of named spreads."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from .._fields import set_enum, set_integer
from ..spread import SpreadCertificate, SpreadPolicy
from ..times import from_duration, to_duration
from ..v1 import named_spread_pb2 as pb


class GroupState(enum.IntEnum):
    """How safe a group is."""

    #: Never submitted, dropped before its commit, lost with a restart, or long settled.
    UNKNOWN = 1
    #: Its commit has not come.
    PARTIAL = 2
    #: It is in the memory of the service, and lost with it.
    RECEIVED = 3
    #: It is in a shared store; there is none yet.
    STORED = 4
    #: Each of its jobs was finished, or given up.
    SETTLED = 5


class SpreadState(enum.IntEnum):
    """Whether a spread takes groups."""

    #: It takes groups and deals their jobs.
    OPEN = 1
    #: It deals what it has, and takes no more.
    DRAINING = 2
    #: All is settled.
    CLOSED = 3


class Verdict(enum.IntEnum):
    """How a job went."""

    #: It is done.
    ACK = 1
    #: It failed: it is lent again, or given up after the last attempt.
    NACK = 2
    #: It was not begun: it is lent again, and the attempt does not count.
    RELEASE = 3
    #: It is still being worked on: the lease lasts for its full length from now on.
    EXTEND = 4
    #: It can never succeed: it is given up.
    TERMINATE = 5


class Settlement(enum.IntEnum):
    """What a verdict came to."""

    #: The job is settled, or was by this very lease before.
    SETTLED = 1
    #: The job will be lent again.
    RETURNED = 2
    #: The lease lasts for its full length again.
    EXTENDED = 3
    #: The job was given up.
    DEAD_LETTERED = 4
    #: The lease has ended: the verdict counts for nothing.
    STALE = 5


class DeadLetterCause(enum.IntEnum):
    """Why a job was given up."""

    #: Its last attempt failed, or its lease ended.
    ATTEMPTS = 1
    #: A consumer said that it can never succeed.
    TERMINATED = 2


@dataclass(frozen=True)
class NamedSpreadSpec:
    """How a spread is dealt and lent; ``None`` is the default of the service."""

    feeder_count: int
    policy: SpreadPolicy | None = None
    max_open_groups: int | None = None
    lease: timedelta | None = None
    max_attempts: int | None = None
    max_consumer_leases: int | None = None
    max_groups: int | None = None
    max_jobs: int | None = None
    max_bytes: int | None = None

    def to_message(self) -> pb.NamedSpreadSpec:
        """Turn it into a message."""
        message = pb.NamedSpreadSpec()
        if self.policy is not None:
            set_enum(message, "spec", "policy", self.policy, SpreadPolicy)
        if self.lease is not None:
            message.lease.CopyFrom(to_duration("spec.lease", self.lease))
        for name in _COUNTS:
            count = getattr(self, name)
            if count is not None:
                set_integer(message, "spec", name, count)
        return message

    @classmethod
    def from_message(cls, message: pb.NamedSpreadSpec) -> NamedSpreadSpec:
        """Read it from a message."""
        counts = {
            name: getattr(message, name) if message.HasField(name) else None for name in _COUNTS
        }
        policy, lease = SpreadPolicy(message.policy), from_duration(message.lease)
        return cls(policy=policy, lease=lease, **counts)  # type: ignore[arg-type]


_COUNTS = (
    "feeder_count",
    "max_open_groups",
    "max_attempts",
    "max_consumer_leases",
    "max_groups",
    "max_jobs",
    "max_bytes",
)


@dataclass(frozen=True)
class GroupStatus:
    """What has become of a group."""

    group_id: str
    state: GroupState
    #: How many jobs have come.
    job_count: int
    #: How many of them are settled, dead letters included.
    settled_count: int
    #: How many of them were given up.
    dead_letter_count: int

    @classmethod
    def from_message(cls, message: pb.GroupStatus) -> GroupStatus:
        """Read it from a message."""
        return cls(
            group_id=message.group_id,
            state=GroupState(message.state),
            job_count=message.job_count,
            settled_count=message.settled_count,
            dead_letter_count=message.dead_letter_count,
        )


@dataclass(frozen=True)
class SpreadDescription:
    """A spread, and what it holds."""

    spread: str
    #: Its parameters, with every default filled in.
    spec: NamedSpreadSpec
    state: SpreadState
    #: The life of the spread: another number after each restart, and each opening anew.
    epoch: int
    #: Committed groups that are not settled.
    group_count: int
    #: Groups whose commit has not come.
    partial_group_count: int
    #: Jobs that were not lent yet.
    ready_job_count: int
    #: Groups that wait until the leases of an earlier epoch must have ended.
    quarantined_group_count: int
    #: Jobs that are lent.
    leased_job_count: int
    #: Jobs to be lent again, now or after a delay.
    returned_job_count: int
    #: Jobs that were settled in this epoch, dead letters included.
    settled_job_count: int
    #: Jobs given up and not deleted.
    dead_letter_count: int
    #: Bytes of jobs held.
    byte_count: int
    #: Consumers that hold jobs.
    consumer_count: int
    #: The order of first attempts so far.
    certificate: SpreadCertificate

    @classmethod
    def from_message(cls, message: pb.SpreadDescription) -> SpreadDescription:
        """Read it from a message."""
        same: dict[str, Any] = {
            name: getattr(message, name)
            for name in cls.__dataclass_fields__
            if name not in ("spec", "state", "certificate")
        }
        return cls(
            spec=NamedSpreadSpec.from_message(message.spec),
            state=SpreadState(message.state),
            certificate=SpreadCertificate.from_message(message.certificate),
            **same,
        )


@dataclass(frozen=True)
class DeadLetter:
    """A job that was given up."""

    #: Names it, from 0 in the order of giving up.
    number: int
    group_id: str
    #: Its number within the group, from 0.
    index: int
    job: bytes
    #: How many times it was lent.
    attempt_count: int
    cause: DeadLetterCause

    @classmethod
    def from_message(cls, message: pb.DeadLetter) -> DeadLetter:
        """Read it from a message."""
        return cls(
            number=message.number,
            group_id=message.group_id,
            index=message.index,
            job=message.job,
            attempt_count=message.attempt_count,
            cause=DeadLetterCause(message.cause),
        )
