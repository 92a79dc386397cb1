"""The client."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from queue import SimpleQueue
from types import TracebackType
from typing import Any, TypeVar

from . import _questions as questions
from ._channel import LazyChannel
from ._lane_calls import LaneCalls
from ._settings import resolve_address, resolve_timeout, to_seconds
from ._stage_calls import StageCalls
from .access import Tls, TokenSource, resolve_access
from .answers import Assignment, Description, Reciprocals, Slot, SlotAssignments
from .errors import from_rpc_error
from .ids import IdType, IdValue, batches
from .named import NamedSpread, NamedSpreadSpec, SpreadDescription
from .named._steps import Call
from .schedule import KindSpacing, Schedule
from .spread import (
    Dispatcher,
    ShortagePolicy,
    Spread,
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


class Client(StageCalls, LaneCalls):
    """Asks a sidecar.

    ``address`` is ``HOST:PORT`` or ``unix:PATH``; by default the variable
    ``OFFBEAT_ADDRESS``, else ``127.0.0.1:2328``. ``timeout`` bounds every call
    (and each call of a large batch) in seconds or as a ``timedelta``; by default
    ``OFFBEAT_TIMEOUT``, else 10 s; a stream has only the one that it is given itself.
    Calls that did not reach the sidecar are made again, for up to 4 s and within their
    timeout; those of a named spread are made once, but its producers and consumers are
    patient themselves.

    ``tls`` is a :class:`~offbeat.Tls`, or ``True`` for the system's authorities; without it
    nothing is encrypted. ``token`` is a bearer token that every call carries, or what returns
    the one of now: it is called for each call, in the thread that makes it, and should be
    quick. Without TLS a token goes to this machine only.

    A client connects at its first call, may be shared by threads, and may be
    used on both sides of a fork.
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
        self._channel = LazyChannel(resolve_access(self.address, tls, token))

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

    def describe_schedule(
        self,
        schedule: Schedule,
        *,
        at_time: datetime | None = None,
        population: int | None = None,
        timeout: float | timedelta | None = None,
    ) -> Description:
        """Say what a schedule's defaults resolve to, its fingerprint, slot and expected load."""
        question = questions.describe_schedule(schedule, at_time, population)
        return self._ask(question, timeout)

    def list_slots(
        self,
        schedule: Schedule,
        *,
        start_time: datetime | None = None,
        end_time: datetime | None = None,
        sql_column: SqlColumn | None = None,
        timeout: float | timedelta | None = None,
    ) -> list[Slot]:
        """List the slots that start in a window; by default in the period from now on.

        The slot that runs at ``start_time`` is listed only if it starts just then. A
        window holds 4,096 slots at most. With a ``sql_column`` each slot has the
        ``predicate`` that selects its rows.
        """
        question = questions.list_slots(schedule, start_time, end_time, sql_column)
        return self._ask(question, timeout)

    def window_predicate(
        self,
        schedule: Schedule,
        sql_column: SqlColumn,
        *,
        end_time: datetime,
        start_time: datetime | None = None,
        timeout: float | timedelta | None = None,
    ) -> Predicate:
        """Say which rows of a table run in a window of up to a period, by default from now on.

        Not under ``Placement.TWISTER``, whose offsets no database can compute.
        """
        question = questions.window_predicate(schedule, sql_column, start_time, end_time)
        return self._ask(question, timeout)

    def assign_slot(
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
        """Assign one ID. For more than a few, :meth:`assign_slots` is far quicker.

        A ``str`` is text unless ``id_type`` says otherwise; a ``float`` is a
        stored fraction, for ``Placement.FRACTION``. Runs at or after ``from_time``
        (default: now) are next: ``next_run_count`` of them (default: 1). ``kind``
        names the kind of job: it is part of the run keys, and changes neither slot
        nor time (for that, :meth:`Schedule.shifted`).
        """
        question = questions.assign_slot(schedule, id, from_time, next_run_count, kind, id_type)
        return self._ask(question, timeout)

    def assign_slots(
        self,
        schedule: Schedule,
        ids: Iterable[IdValue],
        *,
        from_time: datetime | None = None,
        kind: str = "",
        id_type: IdType | None = None,
        return_errors: bool = False,
        timeout: float | timedelta | None = None,
    ) -> SlotAssignments:
        """Assign any number of IDs of one type, in as few calls as that takes.

        ``from_time``, ``kind`` and ``id_type`` are as in :meth:`assign_slot`. If some
        IDs are refused, raises :class:`~offbeat.BadIds`, which carries
        the answers of the others; with ``return_errors`` returns them all, the
        refused ones in ``errors``. ``timeout`` bounds each call.
        """
        question = questions.assign_slots(schedule, ids, from_time, kind, id_type, return_errors)
        return self._ask(question, timeout)

    def stream_slot_assignments(
        self,
        schedule: Schedule,
        ids: Iterable[IdValue],
        *,
        from_time: datetime | None = None,
        kind: str = "",
        id_type: IdType | None = None,
        timeout: float | timedelta | None = None,
    ) -> Iterator[SlotAssignments]:
        """Assign IDs as they come, over one stream; yields the answers batch by batch.

        Holds a few batches at a time, however many IDs there are. Refused IDs stand
        in the ``errors`` of their batch, counted from the start of the stream (that
        of the batch is its ``first_id_index``). Without a ``timeout`` the stream
        may take as long as it needs.
        """
        stream = questions.Stream(schedule, from_time, kind, id_type)

        def requests() -> Iterator[pb.StreamSlotAssignmentsRequest]:
            yield stream.opening
            yield from map(stream.request, batches(ids, stream.BATCH_IDS))

        failures: list[BaseException] = []
        seconds = None if timeout is None else to_seconds(timeout)
        call = self._channel.stub().StreamSlotAssignments(
            _catching(requests(), failures), timeout=seconds
        )
        try:
            yield from map(stream.answer, _translated(call, failures, self.address))
        finally:
            call.cancel()  # a caller who stops early leaves nothing running

    def reciprocal_slots(
        self,
        schedule: Schedule,
        *,
        slot_index: int = 0,
        kind_count: int | None = None,
        run_times: Sequence[timedelta] = (),
        spacing: KindSpacing | None = None,
        timeout: float | timedelta | None = None,
    ) -> Reciprocals:
        """Say at which slots kinds of job must run so that no two meet on the same user.

        Give ``kind_count``, or how long a run of each kind takes in ``run_times``.
        ``slot_index`` is the slot to look from. A schedule for each kind is
        ``schedule.shifted(kind.offset)``.
        """
        question = questions.reciprocal_slots(schedule, slot_index, kind_count, run_times, spacing)
        return self._ask(question, timeout)

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
    ) -> Spread[J]:
        """Deal the jobs of groups so that jobs of one group stay ``feeder_count`` turns apart.

        ``groups`` is an iterable of iterables of anything; jobs stay in this process. Groups
        and jobs are pulled when they are needed: up to ``job_window`` jobs (default: 256) of
        each group that is open, and up to ``group_window`` groups (default: 0) before a feeder
        needs them. ``max_open_groups`` and ``on_shortage`` belong to ``SpreadPolicy.COOLDOWN``,
        whose groups must have a length. The spread is an iterator of turns, and has a
        ``certificate`` when it has ended.
        """
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
    ) -> Spread[J]:
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
    ) -> Spread[J]:
        dispatcher = Dispatcher(groups, first)
        seconds = None if timeout is None else to_seconds(timeout)
        return Spread(dispatcher, lambda spread: self._deal(spread, dispatcher, seconds))

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
    ) -> NamedSpread:
        """Take part in a spread that outlives a call: as a producer, as a consumer, or both.

        Producers submit groups, any number of consumers draw their jobs, spread; a job is lent
        for ``lease`` (default: 30 s) and given up after ``max_attempts`` (5). Everybody names
        the same parameters. The service holds spreads in memory: all of a spread's producers
        and consumers must reach the same one.
        """
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
        return NamedSpread(name, spec, self._call_named, self._channel.stub, self.address)

    def list_spreads(self) -> Iterator[SpreadDescription]:
        """List the named spreads of the service by name, as they are asked for."""
        request = named_pb.ListSpreadsRequest()
        while True:
            page = self._call_named(Call("ListSpreads", request))
            yield from map(SpreadDescription.from_message, page.spreads)
            if not page.has_more:
                return
            request.after_spread = page.spreads[-1].spread

    def _call_named(self, call: Call) -> Any:
        return self._call(call.method, call.request, self.timeout + call.wait)

    def _deal(
        self, spread: Spread[J], dispatcher: Dispatcher[J], seconds: float | None
    ) -> Generator[SpreadTurn[J], None, None]:
        # Groups are pulled here, by whoever takes the turns; grpc's thread only sends.
        outgoing: SimpleQueue[Any] = SimpleQueue()
        outgoing.put(dispatcher.first)
        call = self._channel.stub().Spread(iter(outgoing.get, None), timeout=seconds)
        try:
            for response in _translated(call, [], self.address):
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


def _catching(requests: Iterator[Any], failures: list[BaseException]) -> Iterator[Any]:
    """Pass requests on; keep what their making raised, which grpc would only log."""
    try:
        yield from requests
    except Exception as error:  # not GeneratorExit: that is grpc's, when the call has failed
        failures.append(error)
        raise


def _translated(call: Any, failures: list[BaseException], address: str) -> Iterator[Any]:
    import grpc

    try:
        yield from call
    except grpc.RpcError as error:
        if failures:
            raise failures[0] from None
        raise from_rpc_error(error, address) from error
