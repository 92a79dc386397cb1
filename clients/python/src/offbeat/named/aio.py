"""Named spreads, for asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Iterable
from datetime import timedelta
from types import TracebackType
from typing import Any, Callable, TypeVar

from ..errors import OffbeatError
from ..v1 import named_spread_pb2 as pb
from ._consuming import Consuming, message_of
from ._handle import Handle
from ._producing import Producing
from ._steps import Call, Steps
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


async def run(steps: Steps[T], call: Callable[[Call], Awaitable[Any]]) -> T:
    """Take steps, one after the other."""
    try:
        step = next(steps)
        while True:
            try:
                answer = None
                if isinstance(step, Call):
                    answer = await call(step)
                else:
                    await asyncio.sleep(step.seconds)
            except OffbeatError as error:
                step = steps.throw(error)
            else:
                step = steps.send(answer)
    except StopIteration as ended:
        result: T = ended.value
        return result


class AsyncNamedSpread:
    """As :class:`~offbeat.NamedSpread`, but its methods are coroutines. Consumers pull."""

    def __init__(
        self, name: str, spec: NamedSpreadSpec, call: Callable[[Call], Awaitable[Any]]
    ) -> None:
        """Open nothing yet."""
        self.name = name
        self._handle = Handle(name, spec)
        self._call = call

    async def open(self) -> SpreadDescription:
        """Open it, or find it open; with other parameters: ``FailedPrecondition``."""
        return await self._run(self._handle.open())

    async def describe(self) -> SpreadDescription:
        """Describe it: its parameters, what it holds, its certificate so far."""
        return await self._run(self._handle.describe())

    def producer(self, *, patience: float = 60.0) -> AsyncProducer:
        """Make a producer: it keeps its groups until they are settled."""
        return AsyncProducer(Producing(self._handle, patience), self._run)

    def consumer(
        self, name: str, *, batch_size: int = 16, wait: float = 20.0, patience: float = 60.0
    ) -> AsyncConsumer:
        """Make a consumer, which pulls up to ``batch_size`` jobs in a call."""
        return AsyncConsumer(self._handle, name, batch_size, wait, patience, self._run)

    async def pull(
        self, consumer: str, max_jobs: int, *, wait: float | timedelta = 0.0
    ) -> tuple[list[LeasedJob], bool]:
        """Lend up to ``max_jobs`` jobs; and say whether the spread has ended."""
        return await self._run(self._handle.pull(consumer, max_jobs, wait))

    async def settle(
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
        settled = await self._run(self._handle.settle(pairs[0][0].epoch, messages))
        return [Settlement(one) for one in settled]

    async def dead_letters(self) -> AsyncIterator[DeadLetter]:
        """List jobs that were given up, oldest first, as they are asked for."""
        after, more = None, True
        while more:
            page, more = await self._run(self._handle.dead_letters(after))
            for letter in page:
                yield letter
            after = page[-1].number if page else after

    async def delete_dead_letters(self, numbers: Iterable[int]) -> int:
        """Delete jobs that were given up; return how many there were."""
        return await self._run(self._handle.delete_dead_letters(numbers))

    async def close(self, *, wait: float | timedelta = 0.0) -> SpreadDescription:
        """Take no more groups; what there is, is dealt and settled. Waits so long for that."""
        return await self._run(self._handle.close(pb.CLOSE_MODE_DRAIN, wait))

    async def discard(self) -> SpreadDescription:
        """Drop the spread and everything in it."""
        return await self._run(self._handle.close(pb.CLOSE_MODE_DISCARD, 0.0))

    async def _run(self, steps: Steps[T]) -> T:
        return await run(steps, self._call)


class AsyncProducer:
    """As :class:`~offbeat.Producer`, but its methods are coroutines. For one task at a time."""

    def __init__(self, producing: Producing, run_: Callable[[Steps[Any]], Awaitable[Any]]) -> None:
        """Begin without groups."""
        self._producing, self._run = producing, run_

    @property
    def unsettled(self) -> list[str]:
        """The groups that are not known to be settled."""
        return self._producing.unsettled

    async def submit(self, group_id: str, jobs: Iterable[bytes | str]) -> GroupStatus:
        """Submit a group; a ``str`` is sent as UTF-8."""
        status: GroupStatus = await self._run(self._producing.submit(group_id, jobs))
        return status

    async def wait(self, timeout: float | timedelta | None = None) -> dict[str, GroupStatus]:
        """Wait until all groups are settled, and submit again what a restart has lost."""
        settled: dict[str, GroupStatus] = await self._run(self._producing.wait(timeout))
        return settled


class AsyncConsumer(AsyncIterator[LeasedJob]):
    """As :class:`~offbeat.Consumer`, for ``async for``; ``extend`` is to be awaited."""

    def __init__(
        self,
        handle: Handle,
        name: str,
        batch_size: int,
        wait: float,
        patience: float,
        run_: Callable[[Steps[Any]], Awaitable[Any]],
    ) -> None:
        """Pull nothing yet."""
        self._consuming = Consuming(handle, name, batch_size, wait, patience, self)
        self._run = run_

    @property
    def stale_count(self) -> int:
        """How many verdicts came too late: those jobs may be done twice."""
        return self._consuming.verdicts.stale_count

    async def __anext__(self) -> LeasedJob:
        job: LeasedJob | None = await self._run(self._consuming.next_job())
        if job is None:
            raise StopAsyncIteration
        return job

    async def __aenter__(self) -> AsyncConsumer:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def flush(self) -> list[tuple[LeasedJob, Settlement]]:
        """Send the verdicts that are kept; return what they came to."""
        settled: list[tuple[LeasedJob, Settlement]] = await self._run(self._consuming.flush())
        return settled

    async def aclose(self) -> None:
        """Send the verdicts, and give back the jobs that were not handed out."""
        self._consuming.release_rest()
        await self.flush()

    def judge(self, job: LeasedJob, verdict: Verdict, delay: timedelta | None) -> None:
        """Take a verdict, to be sent soon."""
        self._consuming.verdicts.add(job, verdict, delay)

    async def extend(self, job: LeasedJob) -> bool:
        """Renew a lease, at once; ``False`` if it had ended."""
        extended: bool = await self._run(self._consuming.extend(job))
        return extended
