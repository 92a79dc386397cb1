"""What a consumer remembers and does, without any way to do it."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from ..errors import refused
from ..times import to_duration
from ..v1 import named_spread_pb2 as pb
from ._handle import Handle
from ._steps import Steps, patiently
from .answers import Settlement, Verdict
from .jobs import LeasedJob

#: A verdict is sent at the latest so many seconds after it was given, when a job is taken.
_LONGEST_KEPT = 1.0

#: Of a nack.
_LONGEST_DELAY = timedelta(days=1)

#: Verdicts in one call.
CALL_JOBS = 4_096


class Verdicts:
    """Verdicts that were not sent."""

    def __init__(self) -> None:
        """Begin with none."""
        self.waiting: list[tuple[LeasedJob, pb.JobVerdict]] = []
        self.stale_count = 0
        self.closed = False
        self._due = 0.0

    def add(self, job: LeasedJob, verdict: Verdict, delay: timedelta | None) -> None:
        """Take one; it should arrive well before the lease ends."""
        if self.closed:
            raise RuntimeError("the consumer is closed: the verdict would not be sent")
        due = time.monotonic() + min(_LONGEST_KEPT, job.lease_ends_in / 2)
        self._due = min(self._due, due) if self.waiting else due
        self.waiting.append((job, message_of(job, verdict, delay)))

    def give_back(self, job: LeasedJob) -> None:
        """Take back a job that was not handed out; its attempt does not count."""
        self.waiting.append((job, message_of(job, Verdict.RELEASE, None)))

    def are_due(self) -> bool:
        """Whether they should be sent now."""
        if not self.waiting:
            return False
        return time.monotonic() >= self._due or len(self.waiting) >= CALL_JOBS

    def take(self) -> list[tuple[LeasedJob, pb.JobVerdict]]:
        """Take those of one epoch, as many as a call may have."""
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

    def note(self, taken: Sequence[Any], settlements: Sequence[int]) -> list[Any]:
        """Count what came to nothing; what was given back was not done, and is left out."""
        settled = []
        for (job, message), number in zip(taken, settlements):
            settlement = Settlement(number)
            if message.verdict != pb.VERDICT_RELEASE:
                self.stale_count += settlement is Settlement.STALE
            settled.append((job, settlement))
        return settled


def message_of(job: LeasedJob, verdict: Verdict, delay: timedelta | None) -> pb.JobVerdict:
    """Return a verdict as a message."""
    message = pb.JobVerdict(sequence=job.sequence, attempt=job.attempt, verdict=int(verdict))  # type: ignore[arg-type]
    if delay is not None:
        if not isinstance(delay, timedelta) or not timedelta(0) <= delay <= _LONGEST_DELAY:
            raise refused("delay", delay, "must be a timedelta of 0 s to 86400 s")
        millis = round(delay / timedelta(milliseconds=1))  # the service counts them
        message.delay.CopyFrom(to_duration("delay", timedelta(milliseconds=millis)))
    return message


class Consuming:
    """Jobs that were pulled and not handed out, and verdicts that were not sent."""

    def __init__(
        self, handle: Handle, name: str, batch_size: int, wait: float, patience: float, judge: Any
    ) -> None:
        """Begin with none."""
        self.verdicts = Verdicts()
        self._handle, self._name, self._judge = handle, name, judge
        self._batch_size, self._wait, self._patience = batch_size, wait, patience
        self._ready: deque[LeasedJob] = deque()
        self._ended = False

    def next_job(self) -> Steps[LeasedJob | None]:
        """Return the next job whose lease lasts; none when the spread has ended."""
        while True:
            while self._ready:
                job = self._ready.popleft()
                if job.expired:
                    self.verdicts.give_back(job)  # it may be another's by now
                    continue
                if self.verdicts.are_due():
                    yield from self.flush()
                return job
            yield from self.flush()
            if self._ended:
                return None
            pull = partial(self._handle.pull, self._name, self._batch_size, self._wait)
            jobs, self._ended = yield from patiently(self._patience, pull)
            for job in jobs:
                job._judge = self._judge
            self._ready.extend(jobs)

    def flush(self) -> Steps[Any]:
        """Send the verdicts; return what they came to."""
        settled: list[Any] = []
        while taken := self.verdicts.take():
            messages = [message for _, message in taken]
            settle = partial(self._handle.settle, taken[0][0].epoch, messages)
            try:
                settlements = yield from patiently(self._patience, settle)
            except BaseException:
                self.verdicts.waiting[:0] = taken  # a later flush may have more luck
                raise
            settled += self.verdicts.note(taken, settlements)
        return settled

    def extend(self, job: LeasedJob) -> Steps[bool]:
        """Renew a lease."""
        asked = time.monotonic()
        message = message_of(job, Verdict.EXTEND, None)
        settle = partial(self._handle.settle, job.epoch, [message])
        settlements = yield from patiently(self._patience, settle)
        extended = settlements == [pb.SETTLEMENT_EXTENDED]
        if extended:
            job._ends = asked + job.lease
        return extended

    def release_rest(self) -> None:
        """Give back what was not handed out."""
        while self._ready:
            self.verdicts.give_back(self._ready.popleft())
        self.verdicts.closed = True
