"""The state and the steps of a consumer, independent of how steps are executed."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import partial

from .._fields import set_enum
from ..errors import refused
from ..times import to_duration
from ..v1 import named_spread_pb2 as pb
from ._handle import Handle
from ._steps import Steps, patiently
from .answers import EmptyReason, SettleAction, SettleOutcome, SettleResult
from .jobs import LeasedJob, Settler
from .tokens import LeaseToken

#: How long a settlement is kept at most, in seconds: taking a job after that sends it first.
_LONGEST_KEPT = 1.0

#: The longest delay of a nack or a release.
_LONGEST_DELAY = timedelta(days=1)

#: The actions that have a delay.
DELAYED = (SettleAction.NACK, SettleAction.RELEASE)

#: The most settlements in one call.
CALL_JOBS = 4_096


class Settlements:
    """Settlements that have not been sent."""

    def __init__(self) -> None:
        self.waiting: list[tuple[LeasedJob, pb.JobSettlement]] = []
        self.stale_count = 0
        self.closed = False
        self._due = 0.0

    def add(self, job: LeasedJob, action: SettleAction, delay: timedelta | None) -> None:
        """Add a settlement; it should arrive well before the lease ends."""
        if self.closed:
            raise RuntimeError("the consumer is closed: the settlement would not be sent")
        due = time.monotonic() + min(_LONGEST_KEPT, job.lease_ends_in / 2)
        self._due = min(self._due, due) if self.waiting else due
        self.waiting.append((job, message_of(job, action, delay)))

    def give_back(self, job: LeasedJob) -> None:
        """Release a job that was not handed out; its attempt does not count."""
        self.waiting.append((job, message_of(job, SettleAction.RELEASE, None)))

    def are_due(self) -> bool:
        """Say whether the settlements should be sent now."""
        if not self.waiting:
            return False
        return time.monotonic() >= self._due or len(self.waiting) >= CALL_JOBS

    def take(self) -> list[tuple[LeasedJob, pb.JobSettlement]]:
        """Remove and return settlements of one epoch, as many as one call may have."""
        if not self.waiting:
            return []
        epoch = self.waiting[0][0].epoch
        count = 0
        for job, _ in self.waiting[:CALL_JOBS]:
            if job.epoch != epoch:
                break
            count += 1
        taken, self.waiting = self.waiting[:count], self.waiting[count:]
        return taken

    def note(
        self,
        taken: Iterable[tuple[LeasedJob, pb.JobSettlement]],
        results: Sequence[SettleResult],
    ) -> list[tuple[LeasedJob, SettleOutcome]]:
        """Count stale settlements, except releases, whose jobs were not done; return outcomes."""
        settled = []
        for (job, message), result in zip(taken, results):
            if message.action != pb.SETTLE_ACTION_RELEASE:
                self.stale_count += result.outcome is SettleOutcome.STALE
            settled.append((job, result.outcome))
        return settled


def message_of(
    job: LeasedJob | LeaseToken, action: SettleAction, delay: timedelta | None
) -> pb.JobSettlement:
    """Return a settlement as a message."""
    message = pb.JobSettlement(sequence=job.sequence, attempt=job.attempt)
    set_enum(message, "", "action", action, SettleAction)
    if delay is not None:
        if not isinstance(delay, timedelta) or not timedelta(0) <= delay <= _LONGEST_DELAY:
            raise refused("delay", delay, "must be a timedelta of 0 s to 86400 s")
        millis = round(delay / timedelta(milliseconds=1))  # the service counts milliseconds
        message.delay.CopyFrom(to_duration("delay", timedelta(milliseconds=millis)))
    return message


class Consuming:
    """The jobs of a consumer that are not handed out yet, and its settlements."""

    def __init__(
        self,
        handle: Handle,
        consumer_id: str,
        batch_size: int,
        wait: float,
        patience: float,
        settler: Settler,
    ) -> None:
        """Pull nothing yet."""
        self.settlements = Settlements()
        #: Why the last pull had no job; ``None`` if it had some.
        self.empty_reason: EmptyReason | None = None
        self._handle, self._consumer_id, self._settler = handle, consumer_id, settler
        self._batch_size, self._wait, self._patience = batch_size, wait, patience
        self._ready: deque[LeasedJob] = deque()

    def next_job(self) -> Steps[LeasedJob | None]:
        """Return the next job with an unexpired lease; ``None`` when the spread has ended."""
        while True:
            while self._ready:
                job = self._ready.popleft()
                if job.expired:
                    self.settlements.give_back(job)  # another consumer may have it by now
                    continue
                if self.settlements.are_due():
                    yield from self.flush()
                return job
            yield from self.flush()
            if self.empty_reason is EmptyReason.SPREAD_CLOSED:
                return None
            pull = partial(self._handle.pull, self._consumer_id, self._batch_size, self._wait)
            pulled = yield from patiently(self._patience, pull)
            self.empty_reason = pulled.empty_reason
            for job in pulled.jobs:
                job._settler = self._settler
            self._ready.extend(pulled.jobs)

    def flush(self) -> Steps[list[tuple[LeasedJob, SettleOutcome]]]:
        """Send the settlements; return their outcomes."""
        settled: list[tuple[LeasedJob, SettleOutcome]] = []
        while taken := self.settlements.take():
            messages = [message for _, message in taken]
            settle = partial(self._handle.settle, taken[0][0].epoch, messages)
            try:
                results = yield from patiently(self._patience, settle)
            except BaseException:
                self.settlements.waiting[:0] = taken  # for a later flush
                raise
            settled += self.settlements.note(taken, results)
        return settled

    def extend_lease(self, job: LeasedJob) -> Steps[datetime | None]:
        """Extend a lease; return when it ends, or ``None`` if it had already ended."""
        asked = time.monotonic()
        message = message_of(job, SettleAction.EXTEND_LEASE, None)
        settle = partial(self._handle.settle, job.epoch, [message])
        (result,) = yield from patiently(self._patience, settle)
        if result.outcome is not SettleOutcome.EXTENDED:
            return None
        job._extended(asked, result.lease_end_time)
        return job.lease_end_time

    def release_rest(self) -> None:
        """Release the jobs that were not handed out, and take no more settlements."""
        while self._ready:
            self.settlements.give_back(self._ready.popleft())
        self.settlements.closed = True
