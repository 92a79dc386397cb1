"""Leased jobs."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

from ..times import from_duration, from_timestamp
from ..v1 import named_spread_pb2 as pb
from .answers import EmptyReason, SettleAction
from .tokens import LeaseToken


class Settler(Protocol):
    """Settles the jobs of a consumer."""

    def _settle(self, job: LeasedJob, action: SettleAction, delay: timedelta | None) -> None:
        """Add a settlement, which is sent soon."""

    def _extend_lease(self, job: LeasedJob) -> Any:
        """Extend a lease at once."""


class LeasedJob:
    """A job that belongs to one consumer, for as long as its lease lasts.

    Epoch, sequence and attempt, compared in this order, are a fencing token: of two leases of a
    job, the later one has the larger token. Pass ``(epoch, sequence, attempt)`` to the system
    that the job changes, if it can refuse an older token.
    """

    __slots__ = (
        "_ends",
        "_settler",
        "attempt",
        "epoch",
        "group_id",
        "job_index",
        "lease_duration",
        "lease_end_time",
        "payload",
        "redelivered",
        "sequence",
    )

    def __init__(
        self, message: pb.LeasedJob, leased: pb.LeasedJobs, start: float, settler: Settler | None
    ) -> None:
        """Read it from a message; its lease began at ``start`` by the monotonic clock, or later."""
        #: The group, as its producer calls it.
        self.group_id: str = message.group_id
        #: Its index within the group, from 0.
        self.job_index: int = message.job_index
        #: The payload, as its producer submitted it.
        self.payload: bytes = message.payload
        #: The epoch of the spread.
        self.epoch: int = leased.epoch
        #: Its position in the order of first attempts, from 0.
        self.sequence: int = message.sequence
        #: How many times it has been leased in this epoch, from 1.
        self.attempt: int = message.attempt
        #: Whether a consumer may have had it before.
        self.redelivered: bool = message.redelivered
        #: How long a lease lasts.
        self.lease_duration: timedelta = from_duration(leased.lease_duration)
        #: When the lease ends, by the clock of the server; an extension moves it. Unless the
        #: clocks agree, use :attr:`lease_ends_in`.
        self.lease_end_time: datetime = from_timestamp(leased.lease_end_time)
        self._ends, self._settler = start + self.lease_duration.total_seconds(), settler

    @property
    def token(self) -> LeaseToken:
        """The token of the lease, by which another process can settle the job."""
        return LeaseToken(self.epoch, self.sequence, self.attempt)

    def __repr__(self) -> str:
        return f"LeasedJob({self.group_id!r}, {self.job_index}, attempt={self.attempt})"

    @property
    def lease_ends_in(self) -> float:
        """The seconds that are left of the lease, at least; only by the clock of this machine."""
        return self._ends - time.monotonic()

    @property
    def expired(self) -> bool:
        """Whether the lease has ended: then another consumer may have the job."""
        return self.lease_ends_in <= 0

    def ack(self) -> None:
        """Settle the job as done."""
        self._settle(SettleAction.ACK)

    def nack(self, *, delay: timedelta | None = None) -> None:
        """Settle the job as failed: it is leased again after ``delay`` (default: at once)."""
        self._settle(SettleAction.NACK, delay)

    def release(self, *, delay: timedelta | None = None) -> None:
        """Give the job back, not started: it is leased again, and the attempt does not count.

        Without a ``delay``, it is the next job that is leased, maybe to the same consumer: a
        consumer that cannot handle the job should set a delay.
        """
        self._settle(SettleAction.RELEASE, delay)

    def dead_letter(self) -> None:
        """Settle the job as one that can never succeed: it becomes a dead letter."""
        self._settle(SettleAction.DEAD_LETTER)

    def extend_lease(self) -> Any:
        """Extend the lease at once, to its full duration from now on.

        Returns its new ``lease_end_time``, or ``None`` if the lease had already ended. With
        asyncio, the result must be awaited.
        """
        return self._owner()._extend_lease(self)

    def _settle(self, action: SettleAction, delay: timedelta | None = None) -> None:
        self._owner()._settle(self, action, delay)

    def _owner(self) -> Settler:
        if self._settler is None:
            raise RuntimeError("the job was pulled without a consumer: settle it by the spread")
        return self._settler

    def _extended(self, asked: float, end_time: datetime | None) -> None:
        """Record an extension that was requested at ``asked``, by the monotonic clock."""
        self._ends = asked + self.lease_duration.total_seconds()
        if end_time is not None:
            self.lease_end_time = end_time


@dataclass(frozen=True)
class PulledJobs:
    """The jobs of one pull, or why there are none."""

    jobs: tuple[LeasedJob, ...]
    #: Why no job was leased; ``None`` if some were.
    empty_reason: EmptyReason | None


def leased_jobs(
    leased: pb.LeasedJobs, start: float, settler: Settler | None = None
) -> tuple[LeasedJob, ...]:
    """Return the jobs of an answer, whose leases did not begin before ``start``."""
    return tuple(LeasedJob(message, leased, start, settler) for message in leased.jobs)
