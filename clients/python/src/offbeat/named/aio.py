"""Named spreads, for asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Iterable
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, Callable, TypeVar

from ..errors import OffbeatError
from ..v1 import named_spread_pb2 as pb
from ._consuming import DELAYED, Consuming, message_of
from ._handle import Handle
from ._producing import Producing
from ._steps import Call, Steps
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
from .tokens import LeaseToken

T = TypeVar("T")


async def run(steps: Steps[T], call: Callable[[Call], Awaitable[Any]]) -> T:
    """Execute steps, one after the other."""
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
    """Like :class:`~offbeat.NamedSpread`, but its methods are coroutines. Consumers pull."""

    def __init__(
        self, name: str, spec: NamedSpreadSpec, call: Callable[[Call], Awaitable[Any]]
    ) -> None:
        """Open nothing yet."""
        self.name = name
        self._handle = Handle(name, spec)
        self._call = call

    async def open(self) -> SpreadDescription:
        """Open the spread, or find it open; another spec raises ``FailedPrecondition``."""
        return await self._run(self._handle.open())

    async def describe(self) -> SpreadDescription:
        """Describe the spread: its spec, what it holds, and its certificate so far."""
        return await self._run(self._handle.describe())

    async def update(
        self,
        *,
        max_attempt_count: int | None = None,
        max_consumer_lease_count: int | None = None,
        max_group_count: int | None = None,
        max_job_count: int | None = None,
        max_byte_count: int | None = None,
    ) -> SpreadDescription:
        """See :meth:`offbeat.NamedSpread.update`."""
        limits = SpreadLimits(
            max_attempt_count=max_attempt_count,
            max_consumer_lease_count=max_consumer_lease_count,
            max_group_count=max_group_count,
            max_job_count=max_job_count,
            max_byte_count=max_byte_count,
        )
        return await self._run(self._handle.update(limits))

    def producer(self, *, patience: float = 60.0) -> AsyncProducer:
        """Return a new producer, which keeps its groups until they are settled."""
        return AsyncProducer(Producing(self._handle, patience), self._run)

    def consumer(
        self, consumer_id: str, *, batch_size: int = 16, wait: float = 20.0, patience: float = 60.0
    ) -> AsyncConsumer:
        """Return a new consumer, which pulls up to ``batch_size`` jobs in a call."""
        return AsyncConsumer(self._handle, consumer_id, batch_size, wait, patience, self._run)

    async def pull(
        self, consumer_id: str, max_pulled_job_count: int, *, wait: float | timedelta = 0.0
    ) -> PulledJobs:
        """See :meth:`offbeat.NamedSpread.pull`."""
        return await self._run(self._handle.pull(consumer_id, max_pulled_job_count, wait))

    async def settle(
        self,
        settlements: Iterable[tuple[LeasedJob | LeaseToken, SettleAction]],
        *,
        delay: timedelta | None = None,
    ) -> list[SettleResult]:
        """See :meth:`offbeat.NamedSpread.settle`."""
        pairs = list(settlements)
        messages = [
            message_of(job, action, delay if action in DELAYED else None) for job, action in pairs
        ]
        if not pairs:
            return []
        return await self._run(self._handle.settle(pairs[0][0].epoch, messages))

    async def dead_letters(self) -> AsyncIterator[DeadLetter]:
        """See :meth:`offbeat.NamedSpread.dead_letters`."""
        token: str | None = None
        while token != "":
            page, token = await self._run(self._handle.dead_letters(token or ""))
            for letter in page:
                yield letter

    async def redrive_dead_letters(
        self, letters: Iterable[DeadLetter] | AsyncIterable[DeadLetter]
    ) -> int:
        """See :meth:`offbeat.NamedSpread.redrive_dead_letters`; takes async iterables too."""
        return await self._run(self._handle.redrive_dead_letters(await _listed(letters)))

    async def delete_dead_letters(
        self, letters: Iterable[DeadLetter] | AsyncIterable[DeadLetter]
    ) -> int:
        """See :meth:`offbeat.NamedSpread.delete_dead_letters`; takes async iterables too."""
        return await self._run(self._handle.delete_dead_letters(await _listed(letters)))

    async def close(self, *, wait: float | timedelta = 0.0) -> SpreadDescription:
        """See :meth:`offbeat.NamedSpread.close`."""
        return await self._run(self._handle.close(pb.CLOSE_MODE_DRAIN, wait))

    async def discard(self) -> SpreadDescription:
        """Discard the spread and everything in it."""
        return await self._run(self._handle.close(pb.CLOSE_MODE_DISCARD, 0.0))

    async def _run(self, steps: Steps[T]) -> T:
        return await run(steps, self._call)


async def _listed(
    letters: Iterable[DeadLetter] | AsyncIterable[DeadLetter],
) -> Iterable[DeadLetter]:
    if isinstance(letters, AsyncIterable):
        return [letter async for letter in letters]
    return letters


class AsyncProducer:
    """Like :class:`~offbeat.Producer`, but its methods are coroutines. For one task at a time."""

    def __init__(self, producing: Producing, run_: Callable[[Steps[Any]], Awaitable[Any]]) -> None:
        self._producing, self._run = producing, run_

    @property
    def unsettled(self) -> list[str]:
        """The groups that are not known to be settled."""
        return self._producing.unsettled

    async def submit(self, group_id: str, jobs: Iterable[bytes | str]) -> GroupStatus:
        """Submit a group; a ``str`` is sent as UTF-8."""
        status: GroupStatus = await self._run(self._producing.submit(group_id, jobs))
        return status

    async def wait(self, *, timeout: float | timedelta | None = None) -> dict[str, GroupStatus]:
        """Wait until all groups are settled; submit groups again that a restart has lost."""
        settled: dict[str, GroupStatus] = await self._run(self._producing.wait(timeout))
        return settled


class AsyncConsumer(AsyncIterator[LeasedJob]):
    """Like :class:`~offbeat.Consumer`, for ``async for``; ``extend_lease`` must be awaited."""

    def __init__(
        self,
        handle: Handle,
        consumer_id: str,
        batch_size: int,
        wait: float,
        patience: float,
        run_: Callable[[Steps[Any]], Awaitable[Any]],
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

    async def flush(self) -> list[tuple[LeasedJob, SettleOutcome]]:
        """Send the pending settlements; return their outcomes."""
        settled: list[tuple[LeasedJob, SettleOutcome]] = await self._run(self._consuming.flush())
        return settled

    async def aclose(self) -> None:
        """Send the settlements, and release the jobs that were not handed out."""
        self._consuming.release_rest()
        await self.flush()

    def _settle(self, job: LeasedJob, action: SettleAction, delay: timedelta | None) -> None:
        self._consuming.settlements.add(job, action, delay)

    async def _extend_lease(self, job: LeasedJob) -> datetime | None:
        end_time: datetime | None = await self._run(self._consuming.extend_lease(job))
        return end_time
