"""Named spreads, for callers who wait."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from datetime import timedelta
from types import TracebackType
from typing import Any, Callable, TypeVar

from ..errors import OffbeatError
from ..v1 import named_spread_pb2 as pb
from ._consuming import Consuming, message_of
from ._handle import Handle
from ._producing import Producing
from ._steps import Call, Steps
from ._streaming import StreamConsumer
from .answers import (
    DeadLetter,
    GroupStatus,
    NamedSpreadSpec,
    Settlement,
    SpreadDescription,
    Verdict,
)
from .jobs import LeasedJob

T = TypeVar("T")


def run(steps: Steps[T], call: Callable[[Call], Any]) -> T:
    """Take steps, one after the other."""
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
        """Open it, or find it open; with other parameters: ``FailedPrecondition``."""
        return self._run(self._handle.open())

    def describe(self) -> SpreadDescription:
        """Describe it: its parameters, what it holds, its certificate so far."""
        return self._run(self._handle.describe())

    def producer(self, *, patience: float = 60.0) -> Producer:
        """Make a producer: it keeps its groups until they are settled.

        ``patience`` is for how many seconds without success it tries again, when the
        service cannot be reached or a limit is.
        """
        return Producer(Producing(self._handle, patience), self._run)

    def consumer(
        self, name: str, *, batch_size: int = 16, wait: float = 20.0, patience: float = 60.0
    ) -> Consumer:
        """Make a consumer, which pulls up to ``batch_size`` jobs in a call.

        ``name`` is its own, and that of no other. Each call waits for up to ``wait``
        seconds (20 at most) for a job. A job should be through before its lease ends, and
        those that are pulled with it before theirs: slow jobs want small batches.
        """
        return Consumer(self._handle, name, batch_size, wait, patience, self._run)

    def stream(self, name: str, *, window: int = 256, patience: float = 60.0) -> StreamConsumer:
        """Make a consumer whose jobs come over one stream, up to ``window`` of them ahead."""
        return StreamConsumer(
            self._handle, name, window, patience, self._run, self._stub, self._address
        )

    def pull(
        self, consumer: str, max_jobs: int, *, wait: float | timedelta = 0.0
    ) -> tuple[list[LeasedJob], bool]:
        """Lend up to ``max_jobs`` jobs; and say whether the spread has ended."""
        return self._run(self._handle.pull(consumer, max_jobs, wait))

    def settle(
        self, verdicts: Iterable[tuple[LeasedJob, Verdict]], *, delay: timedelta | None = None
    ) -> list[Settlement]:
        """Say how jobs of one epoch went; ``delay`` is that of every ``NACK`` among them."""
        pairs = list(verdicts)
        messages = [
            message_of(job, verdict, delay if verdict is Verdict.NACK else None)
            for job, verdict in pairs
        ]
        if not pairs:
            return []
        settled = self._run(self._handle.settle(pairs[0][0].epoch, messages))
        return [Settlement(one) for one in settled]

    def dead_letters(self) -> Iterator[DeadLetter]:
        """List jobs that were given up, oldest first, as they are asked for."""
        after, more = None, True
        while more:
            page, more = self._run(self._handle.dead_letters(after))
            yield from page
            after = page[-1].number if page else after

    def delete_dead_letters(self, numbers: Iterable[int]) -> int:
        """Delete jobs that were given up; return how many there were."""
        return self._run(self._handle.delete_dead_letters(numbers))

    def close(self, *, wait: float | timedelta = 0.0) -> SpreadDescription:
        """Take no more groups; what there is, is dealt and settled. Waits so long for that."""
        return self._run(self._handle.close(pb.CLOSE_MODE_DRAIN, wait))

    def discard(self) -> SpreadDescription:
        """Drop the spread and everything in it."""
        return self._run(self._handle.close(pb.CLOSE_MODE_DISCARD, 0.0))

    def _run(self, steps: Steps[T]) -> T:
        return run(steps, self._call)


class Producer:
    """Submits groups, and keeps each until it is settled. For one thread at a time."""

    def __init__(self, producing: Producing, run_: Callable[[Steps[Any]], Any]) -> None:
        """Begin without groups."""
        self._producing, self._run = producing, run_

    @property
    def unsettled(self) -> list[str]:
        """The groups that are not known to be settled."""
        return self._producing.unsettled

    def submit(self, group_id: str, jobs: Iterable[bytes | str]) -> GroupStatus:
        """Submit a group; a ``str`` is sent as UTF-8.

        Doing so again changes nothing. When it has returned, the group is in the memory of
        the service, and in that of this producer until :meth:`wait` has seen it settled. If
        it raises ``Unavailable`` or ``ResourceExhausted``, the producer still has the
        group, and :meth:`wait` goes on with it.
        """
        status: GroupStatus = self._run(self._producing.submit(group_id, jobs))
        return status

    def wait(self, timeout: float | timedelta | None = None) -> dict[str, GroupStatus]:
        """Wait until all groups are settled, and submit again what a restart has lost.

        Returns what became of those that were settled since the last call. Raises
        ``DeadlineExceeded`` after ``timeout`` seconds; then wait again.
        """
        settled: dict[str, GroupStatus] = self._run(self._producing.wait(timeout))
        return settled


class Consumer(Iterator[LeasedJob]):
    """Draws jobs until the spread is closed and drained. For one thread at a time.

    Say of each job how it went. Verdicts are kept for up to a second, and sent
    before the next jobs are pulled; :meth:`flush` sends them now.
    """

    def __init__(
        self,
        handle: Handle,
        name: str,
        batch_size: int,
        wait: float,
        patience: float,
        run_: Callable[[Steps[Any]], Any],
    ) -> None:
        """Pull nothing yet."""
        self._consuming = Consuming(handle, name, batch_size, wait, patience, self)
        self._run = run_

    @property
    def stale_count(self) -> int:
        """How many verdicts came too late: those jobs may be done twice."""
        return self._consuming.verdicts.stale_count

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

    def flush(self) -> list[tuple[LeasedJob, Settlement]]:
        """Send the verdicts that are kept; return what they came to."""
        settled: list[tuple[LeasedJob, Settlement]] = self._run(self._consuming.flush())
        return settled

    def close(self) -> None:
        """Send the verdicts, and give back the jobs that were not handed out."""
        self._consuming.release_rest()
        self.flush()

    def judge(self, job: LeasedJob, verdict: Verdict, delay: timedelta | None) -> None:
        """Take a verdict, to be sent soon."""
        self._consuming.verdicts.add(job, verdict, delay)

    def extend(self, job: LeasedJob) -> bool:
        """Renew a lease, at once; ``False`` if it had ended."""
        extended: bool = self._run(self._consuming.extend(job))
        return extended
