"""The client for asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from datetime import datetime, timedelta, timezone
from types import TracebackType
from typing import Any, TypeVar

from ._async_slot_calls import AsyncSlotCalls
from ._duty_calls import AsyncDutyCalls
from ._grpc_channel import LoopChannel
from ._lane_calls import AsyncLaneCalls
from ._modes import Decisions, Mode, SchedulesFile
from ._server_calls import AsyncServerCalls
from ._settings import Timeout, resolve_address, resolve_timeout, to_seconds
from ._stage_calls import AsyncStageCalls
from ._streams import async_translated
from .access import Tls, TokenSource, resolve_access
from .breaker import Breaker, Circuit, resolve_breaker
from .named import AsyncNamedSpread, NamedSpreadSpec, SpreadDescription, SpreadLimits
from .named._steps import Call
from .spread import (
    AsyncSpread,
    Dispatcher,
    ShortagePolicy,
    SpreadCertificate,
    SpreadPlace,
    SpreadPolicy,
    SpreadTurn,
    spread_start,
)
from .v1 import named_spread_pb2 as named_pb
from .v1 import spread_pb2 as spread_pb

J = TypeVar("J")


class AsyncClient(
    AsyncSlotCalls, AsyncDutyCalls, AsyncStageCalls, AsyncLaneCalls, AsyncServerCalls
):
    """Asks a sidecar, from asyncio.

    It works like :class:`~offbeat.Client`, but its methods are coroutines, and
    :meth:`stream_slot_assignments` is an asynchronous generator. Calls may run
    concurrently; a cancelled task cancels its call. A process that forks must do so
    before it uses grpc's asyncio, which does not work in a forked child. If you do not
    control when the process forks, use :class:`~offbeat.Client` in a thread.
    """

    def __init__(
        self,
        address: str | None = None,
        *,
        mode: Mode | None = None,
        schedules: SchedulesFile | None = None,
        timeout: Timeout | None = None,
        breaker: Breaker | bool | None = None,
        tls: Tls | bool | None = None,
        token: TokenSource | None = None,
    ) -> None:
        """Store the settings; nothing connects yet."""
        self.address = resolve_address(address)
        self.timeout, is_web = resolve_timeout(timeout)
        self._circuit = Circuit(resolve_breaker(breaker, is_web), self.address)
        self._decisions = Decisions(mode, schedules, self._now)
        channel = LoopChannel(resolve_access(self.address, tls, token))
        self._channel = self._decisions.channel(channel)

    def _now(self) -> datetime:
        return datetime.now(timezone.utc)

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

    def named_spread(
        self,
        name: str,
        feeder_count: int,
        *,
        policy: SpreadPolicy | None = None,
        max_open_group_count: int | None = None,
        lease_duration: timedelta | None = None,
        max_attempt_count: int | None = None,
        max_consumer_lease_count: int | None = None,
        max_group_count: int | None = None,
        max_job_count: int | None = None,
        max_byte_count: int | None = None,
    ) -> AsyncNamedSpread:
        """See :meth:`offbeat.Client.named_spread`; consumers pull jobs, and do not stream them."""
        limits = SpreadLimits(
            max_attempt_count=max_attempt_count,
            max_consumer_lease_count=max_consumer_lease_count,
            max_group_count=max_group_count,
            max_job_count=max_job_count,
            max_byte_count=max_byte_count,
        )
        spec = NamedSpreadSpec(
            feeder_count,
            policy=policy,
            max_open_group_count=max_open_group_count,
            lease_duration=lease_duration,
            limits=limits,
        )
        return AsyncNamedSpread(name, spec, self._call_named)

    async def list_spreads(self) -> AsyncIterator[SpreadDescription]:
        """List the named spreads by name; the next page is fetched when it is needed."""
        request = named_pb.ListSpreadsRequest()
        while True:
            page = await self._call_named(Call("ListSpreads", request))
            for spread in page.spreads:
                yield SpreadDescription.from_message(spread)
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    async def _call_named(self, call: Call) -> Any:
        return await self._call(call.method, call.request, self.timeout + call.wait)

    def spread(
        self,
        groups: Iterable[Iterable[J]],
        feeder_count: int,
        *,
        policy: SpreadPolicy | None = None,
        max_open_group_count: int | None = None,
        on_shortage: ShortagePolicy | None = None,
        job_window: int | None = None,
        group_window: int | None = None,
        timeout: float | timedelta | None = None,
    ) -> AsyncSpread[J]:
        """See :meth:`offbeat.Client.spread`; the spread is an asynchronous iterator."""
        start = spread_start(
            feeder_count, policy, max_open_group_count, on_shortage, job_window, group_window
        )
        return self._spread(groups, start, timeout)

    def resume_spread(
        self,
        groups: Iterable[Iterable[J]],
        resume_token: bytes,
        *,
        timeout: float | timedelta | None = None,
    ) -> AsyncSpread[J]:
        """Continue a spread after the turns that were taken, by its ``resume_token``.

        ``groups`` must be the same, in the same order: they are read from the first one on, and
        jobs that had their turn are dropped. Other groups raise ``FailedPrecondition`` before
        the first turn.
        """
        return self._spread(groups, SpreadPlace.from_token(resume_token), timeout)

    def _spread(
        self,
        groups: Iterable[Iterable[J]],
        start: SpreadPlace,
        timeout: float | timedelta | None,
    ) -> AsyncSpread[J]:
        dispatcher = Dispatcher(groups, start)
        seconds = None if timeout is None else to_seconds(timeout)
        return AsyncSpread(dispatcher, lambda spread: self._deal(spread, dispatcher, seconds))

    async def _deal(
        self, spread: AsyncSpread[J], dispatcher: Dispatcher[J], seconds: float | None
    ) -> AsyncGenerator[SpreadTurn[J], None]:
        outgoing: asyncio.Queue[Any] = asyncio.Queue()
        outgoing.put_nowait(dispatcher.start.request)

        async def requests() -> AsyncIterator[Any]:
            while True:
                yield await outgoing.get()

        call = self._channel.stub().Spread(requests(), timeout=seconds)
        try:
            async for response in async_translated(call, [], self.address):
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
