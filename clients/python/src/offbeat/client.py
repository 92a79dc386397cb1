"""The client."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from datetime import datetime, timedelta, timezone
from queue import SimpleQueue
from types import TracebackType
from typing import Any, TypeVar

from ._channel import Channel
from ._duty_calls import DutyCalls
from ._lane_calls import LaneCalls
from ._modes import Decisions, Mode, SchedulesFile
from ._server_calls import ServerCalls
from ._settings import Timeout, resolve_address, resolve_timeout, to_seconds
from ._slot_calls import SlotCalls
from ._stage_calls import StageCalls
from ._streams import translated
from .access import Tls, TokenSource, resolve_access
from .breaker import Breaker, Circuit, resolve_breaker
from .named import NamedSpread, NamedSpreadSpec, SpreadDescription, SpreadLimits
from .named._steps import Call
from .spread import (
    Dispatcher,
    ShortagePolicy,
    Spread,
    SpreadCertificate,
    SpreadPlace,
    SpreadPolicy,
    SpreadTurn,
    spread_start,
)
from .v1 import named_spread_pb2 as named_pb
from .v1 import spread_pb2 as spread_pb

J = TypeVar("J")


class Client(SlotCalls, DutyCalls, StageCalls, LaneCalls, ServerCalls):
    """Asks a sidecar.

    ``address`` is ``HOST:PORT`` or ``unix:PATH``; by default the environment variable
    ``OFFBEAT_ADDRESS``, else ``127.0.0.1:2328``. ``timeout`` applies to every call (and to
    each request of a large batch), in seconds or as a ``timedelta``; by default
    ``OFFBEAT_TIMEOUT``, else 10 s. It may be ``"web"``, 0.3 s with a ``breaker``, or
    ``"worker"``, 10 s without one. A stream has only the timeout that its own call names.
    Calls that did not reach the sidecar are retried for up to 4 s, within their timeout.
    Calls of a named spread are retried for a third of a second only, because its producers and
    consumers retry themselves.

    ``mode`` says who decides; by default ``OFFBEAT_MODE``, else ``"remote"``: the sidecar. In
    ``"auto"``, the client itself decides what needs no sidecar, bit for bit as the sidecar would.
    Streams and bulk calls of 1,000 IDs or more still go to the sidecar; a bulk call that gets no
    answer is decided by the client. In ``"local"``, no sidecar is asked, and what needs one raises
    ``NeedsSidecar``; :meth:`local_refusal` tells in advance whether a schedule does.
    ``schedules`` is a file of schedules by name, which ``offbeat schedules export`` writes; by
    default ``OFFBEAT_SCHEDULES``. It is read again when it changes.

    ``breaker`` is a :class:`~offbeat.Breaker`, ``True`` for one with its defaults, or ``False``:
    after some calls in a row without an answer, calls fail at once with ``CircuitOpen``. It does
    not apply to streams.

    ``tls`` is a :class:`~offbeat.Tls`, or ``True`` to trust the system's authorities; without it
    nothing is encrypted. ``token`` is a bearer token that every call carries, or a function that
    returns the current one: it is called for each call, in the calling thread, and should be
    quick. Without TLS, a token is only allowed for an address on this machine.

    A client connects at its first call, may be shared by threads, and may be
    used on both sides of a fork.
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
        channel = Channel(resolve_access(self.address, tls, token))
        self._channel = self._decisions.channel(channel)

    def _now(self) -> datetime:
        return datetime.now(timezone.utc)

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; the next call makes a new one."""
        self._channel.close()

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
    ) -> Spread[J]:
        """Interleave the jobs of groups: those of one group stay ``feeder_count`` turns apart.

        ``groups`` is an iterable of iterables of any objects; jobs stay in this process. Groups
        and jobs are read when they are needed: up to ``job_window`` jobs (default: 256) of
        each open group, and up to ``group_window`` groups (default: 0) before a feeder
        needs them. ``max_open_group_count`` and ``on_shortage`` are for
        ``SpreadPolicy.COOLDOWN`` only, whose groups must have a length. The spread is an
        iterator of turns, and has a ``certificate`` when it has ended.
        """
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
    ) -> Spread[J]:
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
    ) -> Spread[J]:
        dispatcher = Dispatcher(groups, start)
        seconds = None if timeout is None else to_seconds(timeout)
        return Spread(dispatcher, lambda spread: self._deal(spread, dispatcher, seconds))

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
    ) -> NamedSpread:
        """Take part in a spread that outlives a call: as a producer, as a consumer, or both.

        Producers submit groups, and any number of consumers pull their jobs, spread. A job is
        leased for ``lease_duration`` (default: 30 s), and becomes a dead letter after
        ``max_attempt_count`` attempts (default: 5). Producers and consumers must pass the same
        parameters. By default, the service holds spreads in memory: all producers and consumers
        of a spread must then reach the same process.
        """
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
        return NamedSpread(name, spec, self._call_named, self._channel.stub, self.address)

    def list_spreads(self) -> Iterator[SpreadDescription]:
        """List the named spreads by name; the next page is fetched when it is needed."""
        request = named_pb.ListSpreadsRequest()
        while True:
            page = self._call_named(Call("ListSpreads", request))
            yield from map(SpreadDescription.from_message, page.spreads)
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    def _call_named(self, call: Call) -> Any:
        return self._call(call.method, call.request, self.timeout + call.wait)

    def _deal(
        self, spread: Spread[J], dispatcher: Dispatcher[J], seconds: float | None
    ) -> Generator[SpreadTurn[J], None, None]:
        # Groups are read here, in the thread that takes the turns; grpc's thread only sends.
        outgoing: SimpleQueue[Any] = SimpleQueue()
        outgoing.put(dispatcher.start.request)
        call = self._channel.stub().Spread(iter(outgoing.get, None), timeout=seconds)
        try:
            for response in translated(call, [], self.address):
                if response.HasField("demand"):
                    answer = dispatcher.answer(response.demand)
                    outgoing.put(spread_pb.SpreadRequest(input=answer))
                elif response.HasField("turns"):
                    yield from dispatcher.turns(response.turns)
                else:
                    spread._certificate = SpreadCertificate.from_message(response.certificate)
        finally:
            outgoing.put(None)
            call.cancel()  # a caller who stops early leaves nothing running
