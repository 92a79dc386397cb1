"""Jobs that are lent."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any, Protocol

from ..times import from_duration
from ..v1 import named_spread_pb2 as pb
from .answers import Verdict


class Judge(Protocol):
    """Takes what is said of jobs."""

    def judge(self, job: LeasedJob, verdict: Verdict, delay: timedelta | None) -> None:
        """Take a verdict, to be sent soon."""

    def extend(self, job: LeasedJob) -> Any:
        """Renew a lease, at once."""


class LeasedJob:
    """A job that is lent, for as long as its lease lasts.

    A lease is a fencing token: of two leases on a job, the later has the larger
    ``attempt``. Pass ``(epoch, sequence, attempt)`` to what the job changes, if that can
    refuse an older one.
    """

    __slots__ = (
        "_ends",
        "_judge",
        "attempt",
        "epoch",
        "group_id",
        "index",
        "job",
        "lease",
        "redelivered",
        "sequence",
    )

    def __init__(
        self, message: pb.LeasedJob, epoch: int, lent: float, lease: float, judge: Judge | None
    ) -> None:
        """Take it from a message; it was lent at a time of the monotonic clock, or later."""
        #: The group, as its producer calls it.
        self.group_id: str = message.group_id
        #: Its number within the group, from 0.
        self.index: int = message.index
        #: The job, as its producer submitted it.
        self.job: bytes = message.job
        #: The life of the spread.
        self.epoch = epoch
        #: Its place in the order of first attempts, from 0.
        self.sequence: int = message.sequence
        #: How many times it has been lent in this epoch, from 1.
        self.attempt: int = message.attempt
        #: Whether a consumer may have had it before.
        self.redelivered: bool = message.redelivered
        #: How long it was lent, in seconds.
        self.lease = lease
        self._ends, self._judge = lent + lease, judge

    def __repr__(self) -> str:
        """Say which job it is."""
        return f"LeasedJob({self.group_id!r}, {self.index}, attempt={self.attempt})"

    @property
    def lease_ends_in(self) -> float:
        """How many seconds are left of the lease; by a count that errs on the safe side."""
        return self._ends - time.monotonic()

    @property
    def expired(self) -> bool:
        """Whether the lease has ended: then another consumer may have the job."""
        return self.lease_ends_in <= 0

    def ack(self) -> None:
        """Say that it is done."""
        self._say(Verdict.ACK)

    def nack(self, delay: timedelta | None = None) -> None:
        """Say that it failed: lend it again after a delay (default: at once)."""
        self._say(Verdict.NACK, delay)

    def release(self) -> None:
        """Give it back, not begun: lend it again, and do not count the attempt."""
        self._say(Verdict.RELEASE)

    def terminate(self) -> None:
        """Say that it can never succeed: give it up."""
        self._say(Verdict.TERMINATE)

    def extend(self) -> Any:
        """Renew the lease at once; ``False`` if it had ended. With asyncio: to be awaited."""
        return self._owner().extend(self)

    def _say(self, verdict: Verdict, delay: timedelta | None = None) -> None:
        self._owner().judge(self, verdict, delay)

    def _owner(self) -> Judge:
        if self._judge is None:
            raise RuntimeError("the job was pulled without a consumer: settle it by the spread")
        return self._judge


def leased_jobs(leased: pb.LeasedJobs, lent: float, judge: Judge | None = None) -> list[LeasedJob]:
    """Return the jobs of an answer, which were not lent before ``lent``."""
    lease = from_duration(leased.lease).total_seconds()
    return [LeasedJob(message, leased.epoch, lent, lease, judge) for message in leased.jobs]
