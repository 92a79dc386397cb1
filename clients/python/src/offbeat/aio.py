"""The client for asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Iterable, Sequence
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, TypeVar

from . import _questions as questions
from ._channel import LoopChannel
from ._lane_calls import AsyncLaneCalls
from ._settings import resolve_address, resolve_timeout, to_seconds
from ._stage_calls import AsyncStageCalls
from .access import Tls, TokenSource, resolve_access
from .answers import Assignment, Description, Reciprocals, Slot, SlotAssignments
from .errors import from_rpc_error
from .ids import IdType, IdValue, batches
from .named import AsyncNamedSpread, NamedSpreadSpec, SpreadDescription
from .named._steps import Call
from .schedule import KindSpacing, Schedule
from .spread import (
    AsyncSpread,
    Dispatcher,
    ShortagePolicy,
    SpreadCertificate,
    SpreadPolicy,
    SpreadTurn,
    first_request,
    spread_spec,
)
from .sql import Predicate, SqlColumn
from .v1 import named_spread_pb2 as named_pb
from .v1 import slots_pb2 as pb
from .v1 import spread_pb2 as spread_pb

J = TypeVar("J")


class AsyncClient(AsyncStageCalls, AsyncLaneCalls):
    """Asks a sidecar, from asyncio.

    As :class:`~offbeat.Client`, but its methods are coroutines, and
    :meth:`stream_slot_assignments` is an asynchronous generator. Calls may run at the
    same time; a cancelled task cancels its call. A process that forks must do so
    before it uses grpc's asyncio, which has no state for a child: there, and wherever
    forks are out of your hands, use :class:`~offbeat.Client` in a thread.
    """

    def __init__(
        self,
        address: str | None = None,
        *,
        timeout: float | timedelta | None = None,
        tls: Tls | bool | None = None,
        token: TokenSource | None = None,
    ) -> None:
        """Remember whom to ask; nothing connects yet."""
        self.address = resolve_address(address)
        self.timeout = resolve_timeout(timeout)
        self._channel = LoopChannel(resolve_access(self.address, tls, token))

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connection; the next call makes a new one."""
        await self._channel.close()

    async def describe_schedule(
        self,
        schedule: Schedule,
        *,
        at_time: datetime | None = None,
        population: int | None = None,
        timeout: float | timedelta | None = None,
    ) -> Description:
        """See :meth:`offbeat.Client.describe_schedule`."""
        question = questions.describe_schedule(schedule, at_time, population)
        return await self._ask(question, timeout)

    async def list_slots(
        self,
        schedule: Schedule,
        *,
        start_time: datetime | None = None,
        end_time: datetime | None = None,
        sql_column: SqlColumn | None = None,
        timeout: float | timedelta | None = None,
    ) -> list[Slot]:
        """See :meth:`offbeat.Client.list_slots`."""
        question = questions.list_slots(schedule, start_time, end_time, sql_column)
        return await self._ask(question, timeout)

    async def window_predicate(
        self,
        schedule: Schedule,
        sql_column: SqlColumn,
        *,
        end_time: datetime,
        start_time: datetime | None = None,
        timeout: float | timedelta | None = None,
    ) -> Predicate:
        """See :meth:`offbeat.Client.window_predicate`."""
        question = questions.window_predicate(schedule, sql_column, start_time, end_time)
        return await self._ask(question, timeout)

    async def assign_slot(
        self,
        schedule: Schedule,
        id: IdValue,
        *,
        from_time: datetime | None = None,
        next_run_count: int | None = None,
        kind: str = "",
        id_type: IdType | None = None,
        timeout: float | timedelta | None = None,
    ) -> Assignment:
        """See :meth:`offbeat.Client.assign_slot`."""
        question = questions.assign_slot(schedule, id, from_time, next_run_count, kind, id_type)
        return await self._ask(question, timeout)

    async def assign_slots(
        self,
        schedule: Schedule,
        ids: Iterable[IdValue] | AsyncIterable[IdValue],
        *,
        from_time: datetime | None = None,
        kind: str = "",
        id_type: IdType | None = None,
        return_errors: bool = False,
        timeout: float | timedelta | None = None,
    ) -> SlotAssignments:
        """See :meth:`offbeat.Client.assign_slots`; takes asynchronous iterables too."""
        known = [value async for value in ids] if isinstance(ids, AsyncIterable) else ids
        question = questions.assign_slots(schedule, known, from_time, kind, id_type, return_errors)
        return await self._ask(question, timeout)

    async def stream_slot_assignments(
        self,
        schedule: Schedule,
        ids: Iterable[IdValue] | AsyncIterable[IdValue],
        *,
        from_time: datetime | None = None,
        kind: str = "",
        id_type: IdType | None = None,
        timeout: float | timedelta | None = None,
    ) -> AsyncIterator[SlotAssignments]:
        """See :meth:`offbeat.Client.stream_slot_assignments`; takes asynchronous iterables too."""
        stream = questions.Stream(schedule, from_time, kind, id_type)

        async def requests() -> AsyncIterator[pb.StreamSlotAssignmentsRequest]:
            yield stream.opening
            async for batch in _batches(ids, stream.BATCH_IDS):
                yield stream.request(batch)

        failures: list[BaseException] = []
        seconds = None if timeout is None else to_seconds(timeout)
        call = self._channel.stub().StreamSlotAssignments(
            _catching(requests(), failures), timeout=seconds
        )
        try:
            async for response in _translated(call, failures, self.address):
                yield stream.answer(response)
        finally:
            call.cancel()  # a caller who stops early leaves nothing running

    async def reciprocal_slots(
        self,
        schedule: Schedule,
        *,
        slot_index: int = 0,
        kind_count: int | None = None,
        run_times: Sequence[timedelta] = (),
        spacing: KindSpacing | None = None,
        timeout: float | timedelta | None = None,
    ) -> Reciprocals:
        """See :meth:`offbeat.Client.reciprocal_slots`."""
        question = questions.reciprocal_slots(schedule, slot_index, kind_count, run_times, spacing)
        return await self._ask(question, timeout)

    def named_spread(
        self,
        name: str,
        feeder_count: int,
        *,
        policy: SpreadPolicy | None = None,
        max_open_groups: int | None = None,
        lease: timedelta | None = None,
        max_attempts: int | None = None,
        max_consumer_leases: int | None = None,
        max_groups: int | None = None,
        max_jobs: int | None = None,
        max_bytes: int | None = None,
    ) -> AsyncNamedSpread:
        """As :meth:`Client.named_spread`; consumers pull, and do not stream."""
        spec = NamedSpreadSpec(
            feeder_count,
            policy,
            max_open_groups,
            lease,
            max_attempts,
            max_consumer_leases,
            max_groups,
            max_jobs,
            max_bytes,
        )
        return AsyncNamedSpread(name, spec, self._call_named)

    async def list_spreads(self) -> AsyncIterator[SpreadDescription]:
        """List the named spreads of the service by name, as they are asked for."""
        request = named_pb.ListSpreadsRequest()
        while True:
            page = await self._call_named(Call("ListSpreads", request))
            for spread in page.spreads:
                yield SpreadDescription.from_message(spread)
            if not page.has_more:
                return
            request.after_spread = page.spreads[-1].spread

    async def _call_named(self, call: Call) -> Any:
        return await self._call(call.method, call.request, self.timeout + call.wait)

    def spread(
        self,
        groups: Iterable[Iterable[J]],
        feeder_count: int,
        *,
        policy: SpreadPolicy | None = None,
        max_open_groups: int | None = None,
        on_shortage: ShortagePolicy | None = None,
        job_window: int | None = None,
        group_window: int | None = None,
        timeout: float | timedelta | None = None,
    ) -> AsyncSpread[J]:
        """See :meth:`offbeat.Client.spread`; the spread is an asynchronous iterator."""
        spec = spread_spec(
            feeder_count, policy, max_open_groups, on_shortage, job_window, group_window
        )
        return self._spread(groups, spread_pb.SpreadRequest(spec=spec), timeout)

    def resume_spread(
        self,
        groups: Iterable[Iterable[J]],
        resume_token: bytes,
        *,
        timeout: float | timedelta | None = None,
    ) -> AsyncSpread[J]:
        """Go on with a spread behind the turns that were taken, by its ``resume_token``.

        ``groups`` must be the same, in the same order: they are pulled from the first on, and
        what had its turn is dropped. Other groups: ``FailedPrecondition``, before a turn.
        """
        return self._spread(groups, first_request(resume_token), timeout)

    def _spread(
        self,
        groups: Iterable[Iterable[J]],
        first: spread_pb.SpreadRequest,
        timeout: float | timedelta | None,
    ) -> AsyncSpread[J]:
        dispatcher = Dispatcher(groups, first)
        seconds = None if timeout is None else to_seconds(timeout)
        return AsyncSpread(dispatcher, lambda spread: self._deal(spread, dispatcher, seconds))

    async def _deal(
        self, spread: AsyncSpread[J], dispatcher: Dispatcher[J], seconds: float | None
    ) -> AsyncGenerator[SpreadTurn[J], None]:
        outgoing: asyncio.Queue[Any] = asyncio.Queue()
        outgoing.put_nowait(dispatcher.first)

        async def requests() -> AsyncIterator[Any]:
            while True:
                yield await outgoing.get()

        call = self._channel.stub().Spread(requests(), timeout=seconds)
        try:
            async for response in _translated(call, [], self.address):
                if response.HasField("demand"):
                    answer = dispatcher.answer(response.demand)
                    outgoing.put_nowait(spread_pb.SpreadRequest(input=answer))
                elif response.HasField("turns"):
                    for turn in dispatcher.turns(response.turns):
                        yield turn
                else:
                    spread._certificate = SpreadCertificate.from_message(response.certificate)
        finally:
            call.cancel()  # a caller who stops early leaves nothing running


async def _batches(
    ids: Iterable[IdValue] | AsyncIterable[IdValue], size: int
) -> AsyncIterator[list[IdValue]]:
    """Cut IDs into batches that fit into messages; lazily."""
    if not isinstance(ids, AsyncIterable):
        for batch in batches(ids, size):
            yield batch
        return
    gathered: list[IdValue] = []
    async for value in ids:
        gathered.append(value)
        if len(gathered) == size:
            for batch in batches(gathered, size):
                yield batch
            gathered = []
    for batch in batches(gathered, size):
        yield batch


async def _catching(
    requests: AsyncIterator[Any], failures: list[BaseException]
) -> AsyncIterator[Any]:
    """Pass requests on; keep what their making raised, which grpc would only log."""
    try:
        async for request in requests:
            yield request
    except Exception as error:
        failures.append(error)
        raise


async def _translated(call: Any, failures: list[BaseException], address: str) -> AsyncIterator[Any]:
    import grpc

    try:
        async for response in call:
            yield response
    except asyncio.CancelledError:
        if failures:  # grpc cancels a call whose requests fail
            raise failures[0] from None
        raise
    except grpc.RpcError as error:
        if failures:
            raise failures[0] from None
        raise from_rpc_error(error, address) from error
