"""Named spreads, with blocking calls."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, Callable, TypeVar

from ..errors import OffbeatError
from ..v1 import named_spread_pb2 as pb
from ._consuming import DELAYED, Consuming, message_of
from ._handle import Handle
from ._producing import Producing
from ._steps import Call, Steps
from ._streaming import StreamConsumer
from .answers import (
    DeadLetter,
    EmptyReason,
    GroupStatus,
    NamedSpreadSpec,
    SettleAction,
    SettleOutcome,
    SettleResult,
    SpreadDescription,
    SpreadLimits,
)
from .jobs import LeasedJob, PulledJobs
from .pump import Pump
from .tokens import LeaseToken

T = TypeVar("T")


def run(steps: Steps[T], call: Callable[[Call], Any]) -> T:
    """Execute steps, one after the other."""
    try:
        step = next(steps)
        while True:
            try:
                answer = None
                if isinstance(step, Call):
                    answer = call(step)
                else:
                    time.sleep(step.seconds)
            except OffbeatError as error:
                step = steps.throw(error)
            else:
                step = steps.send(answer)
    except StopIteration as ended:
        result: T = ended.value
        return result


class NamedSpread:
    """A spread that outlives a call; opened at its first use, and again after a restart."""

    def __init__(
        self,
        name: str,
        spec: NamedSpreadSpec,
        call: Callable[[Call], Any],
        stub: Callable[[], Any],
        address: str,
    ) -> None:
        """Open nothing yet."""
        self.name = name
        self._handle = Handle(name, spec)
        self._call, self._stub, self._address = call, stub, address

    def open(self) -> SpreadDescription:
        """Open the spread, or find it open; another spec raises ``FailedPrecondition``."""
        return self._run(self._handle.open())

    def describe(self) -> SpreadDescription:
        """Describe the spread: its spec, what it holds, and its certificate so far."""
        return self._run(self._handle.describe())

    def update(
        self,
        *,
        max_attempt_count: int | None = None,
        max_consumer_lease_count: int | None = None,
        max_group_count: int | None = None,
        max_job_count: int | None = None,
        max_byte_count: int | None = None,
    ) -> SpreadDescription:
        """Change the given limits of the open spread; the others stay.

        A limit may be below what the spread holds now: it then takes nothing more until it holds
        less. Producers and consumers with the old limits may still open it. After a restart, it
        has the limits with which it is opened.
        """
        limits = SpreadLimits(
            max_attempt_count=max_attempt_count,
            max_consumer_lease_count=max_consumer_lease_count,
            max_group_count=max_group_count,
            max_job_count=max_job_count,
            max_byte_count=max_byte_count,
        )
        return self._run(self._handle.update(limits))

    def producer(self, *, patience: float = 60.0) -> Producer:
        """Return a new producer, which keeps its groups until they are settled.

        ``patience`` is for how many seconds it retries a call when the service cannot be
        reached, or when a limit is reached.
        """
        return Producer(Producing(self._handle, patience), self._run)

    def consumer(
        self, consumer_id: str, *, batch_size: int = 16, wait: float = 20.0, patience: float = 60.0
    ) -> Consumer:
        """Return a new consumer, which pulls up to ``batch_size`` jobs in a call.

        No other consumer may use its ``consumer_id``. Each call waits up to ``wait`` seconds
        (at most 20) for a job. All jobs that are pulled together should be done before their
        leases end: use small batches for slow jobs.
        """
        return Consumer(self._handle, consumer_id, batch_size, wait, patience, self._run)

    def stream(
        self, consumer_id: str, *, window: int = 256, patience: float = 60.0
    ) -> StreamConsumer:
        """Return a new consumer whose jobs come over one stream, up to ``window`` in advance."""
        return StreamConsumer(
            self._handle, consumer_id, window, patience, self._run, self._stub, self._address
        )

    def pump(
        self,
        consumer_id: str,
        hand_over: Callable[[LeasedJob], None],
        *,
        hold_for: timedelta | None = None,
    ) -> Pump:
        """Return a new consumer that hands jobs over to a queue; see :class:`~offbeat.Pump`."""
        return Pump(self, consumer_id, hand_over, hold_for=hold_for)

    def pull(
        self, consumer_id: str, max_pulled_job_count: int, *, wait: float | timedelta = 0.0
    ) -> PulledJobs:
        """Lease up to ``max_pulled_job_count`` jobs, or say why none could be leased.

        Waits up to ``wait`` seconds (at most 20) for the first one.
        """
        return self._run(self._handle.pull(consumer_id, max_pulled_job_count, wait))

    def settle(
        self,
        settlements: Iterable[tuple[LeasedJob | LeaseToken, SettleAction]],
        *,
        delay: timedelta | None = None,
    ) -> list[SettleResult]:
        """Settle jobs of one epoch, or extend their leases.

        A process that did not pull a job can settle it by its
        :attr:`~offbeat.LeasedJob.token`. ``delay`` applies to every ``NACK`` and ``RELEASE``.
        """
        pairs = list(settlements)
        messages = [
            message_of(job, action, delay if action in DELAYED else None) for job, action in pairs
        ]
        if not pairs:
            return []
        return self._run(self._handle.settle(pairs[0][0].epoch, messages))

    def dead_letters(self) -> Iterator[DeadLetter]:
        """List the dead letters, oldest first; the next page is fetched when it is needed.

        All are of one epoch. If the epoch ends before the last page, the next page raises
        ``InvalidArgument``.
        """
        token: str | None = None
        while token != "":
            page, token = self._run(self._handle.dead_letters(token or ""))
            yield from page

    def redrive_dead_letters(self, letters: Iterable[DeadLetter]) -> int:
        """Put back dead letters that :meth:`dead_letters` lists; return how many still existed.

        Each is leased again, with attempts from 1, as the only job of a group of its own. The
        group that it came from stays settled. Dead letters that no longer exist are skipped,
        including all those of an earlier epoch.
        """
        return self._run(self._handle.redrive_dead_letters(letters))

    def delete_dead_letters(self, letters: Iterable[DeadLetter]) -> int:
        """Delete dead letters that :meth:`dead_letters` lists; return how many still existed.

        Skips the same ones as :meth:`redrive_dead_letters`.
        """
        return self._run(self._handle.delete_dead_letters(letters))

    def close(self, *, wait: float | timedelta = 0.0) -> SpreadDescription:
        """Take no more groups; the jobs that the spread holds are still leased and settled.

        Waits up to ``wait`` seconds (at most 20) until all jobs are settled.
        """
        return self._run(self._handle.close(pb.CLOSE_MODE_DRAIN, wait))

    def discard(self) -> SpreadDescription:
        """Discard the spread and everything in it."""
        return self._run(self._handle.close(pb.CLOSE_MODE_DISCARD, 0.0))

    def _run(self, steps: Steps[T]) -> T:
        return run(steps, self._call)


class Producer:
    """Submits groups, and keeps each until it is settled. For one thread at a time."""

    def __init__(self, producing: Producing, run_: Callable[[Steps[Any]], Any]) -> None:
        self._producing, self._run = producing, run_

    @property
    def unsettled(self) -> list[str]:
        """The groups that are not known to be settled."""
        return self._producing.unsettled

    def submit(self, group_id: str, jobs: Iterable[bytes | str]) -> GroupStatus:
        """Submit a group; a ``str`` is sent as UTF-8.

        Submitting the same group again has no effect. After the return, the service holds the
        group, and so does this producer until :meth:`wait` has seen it settled. If the call
        raises ``Unavailable`` or ``ResourceExhausted``, the producer still holds the
        group, and :meth:`wait` submits it again.
        """
        status: GroupStatus = self._run(self._producing.submit(group_id, jobs))
        return status

    def wait(self, *, timeout: float | timedelta | None = None) -> dict[str, GroupStatus]:
        """Wait until all groups are settled; submit groups again that a restart has lost.

        Returns the status of each group that was settled since the last call. Raises
        ``DeadlineExceeded`` after ``timeout`` seconds; then call it again.
        """
        settled: dict[str, GroupStatus] = self._run(self._producing.wait(timeout))
        return settled


class Consumer(Iterator[LeasedJob]):
    """Takes jobs until the spread is closed and drained. For one thread at a time.

    Settle each job. Settlements are kept for up to a second, and sent before the next jobs
    are pulled; :meth:`flush` sends them now.
    """

    def __init__(
        self,
        handle: Handle,
        consumer_id: str,
        batch_size: int,
        wait: float,
        patience: float,
        run_: Callable[[Steps[Any]], Any],
    ) -> None:
        """Pull nothing yet."""
        self._consuming = Consuming(handle, consumer_id, batch_size, wait, patience, self)
        self._run = run_

    @property
    def stale_count(self) -> int:
        """How many settlements came too late: those jobs may be done twice."""
        return self._consuming.settlements.stale_count

    @property
    def empty_reason(self) -> EmptyReason | None:
        """Why the last pull had no job; ``None`` if it had some."""
        return self._consuming.empty_reason

    def __next__(self) -> LeasedJob:
        job: LeasedJob | None = self._run(self._consuming.next_job())
        if job is None:
            raise StopIteration
        return job

    def __enter__(self) -> Consumer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def flush(self) -> list[tuple[LeasedJob, SettleOutcome]]:
        """Send the pending settlements; return their outcomes."""
        settled: list[tuple[LeasedJob, SettleOutcome]] = self._run(self._consuming.flush())
        return settled

    def close(self) -> None:
        """Send the settlements, and release the jobs that were not handed out."""
        self._consuming.release_rest()
        self.flush()

    def _settle(self, job: LeasedJob, action: SettleAction, delay: timedelta | None) -> None:
        self._consuming.settlements.add(job, action, delay)

    def _extend_lease(self, job: LeasedJob) -> datetime | None:
        end_time: datetime | None = self._run(self._consuming.extend_lease(job))
        return end_time
