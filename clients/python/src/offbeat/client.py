"""The client."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta, timezone
from types import TracebackType
from typing import Any, Callable

from ._channel import LazyChannel
from .answers import Assignment, BadIds, Description, Reciprocals, Slot, SlotAssignments
from .errors import from_rpc_error
from .ids import BATCH_IDS, IdType, IdValue, batches, to_column, to_id
from .schedule import KindSpacing, Schedule, set_enum, set_int32
from .times import to_duration, to_timestamp
from .v1 import slots_pb2 as pb

#: Where a sidecar listens.
DEFAULT_ADDRESS = "127.0.0.1:2328"

#: IDs in one message of a stream: enough to be quick, few enough to start at once.
_STREAM_IDS = 8_192


class Client:
    """Asks a sidecar.

    ``address`` is ``HOST:PORT`` or ``unix:PATH``; by default the variable
    ``OFFBEAT_ADDRESS``, else ``127.0.0.1:2328``. ``timeout`` bounds every call,
    in seconds or as a ``timedelta``; a stream, its whole. Calls that the
    sidecar could not take are made again, quickly, up to three times.

    A client connects at its first call, may be shared by threads, and may be
    used on both sides of a fork.
    """

    def __init__(self, address: str | None = None, *, timeout: float | timedelta = 10.0) -> None:
        """Remember whom to ask; nothing connects yet."""
        self.address = address or os.environ.get("OFFBEAT_ADDRESS") or DEFAULT_ADDRESS
        self.timeout = _seconds(timeout)
        self._channel = LazyChannel(self.address)

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
        request = pb.DescribeScheduleRequest(schedule=schedule.to_message())
        if at_time is not None:
            request.at_time.CopyFrom(to_timestamp("at_time", at_time))
        if population is not None:
            set_int32(request, "", "population", population)
        return Description.from_message(self._call("DescribeSchedule", request, timeout))

    def list_slots(
        self,
        schedule: Schedule,
        *,
        start_time: datetime | None = None,
        end_time: datetime | None = None,
        timeout: float | timedelta | None = None,
    ) -> list[Slot]:
        """List the slots that start in a window; by default in the period from now on."""
        request = pb.ListSlotsRequest(schedule=schedule.to_message())
        if start_time is not None:
            request.start_time.CopyFrom(to_timestamp("start_time", start_time))
        if end_time is not None:
            request.end_time.CopyFrom(to_timestamp("end_time", end_time))
        response: pb.ListSlotsResponse = self._call("ListSlots", request, timeout)
        return [Slot.from_message(slot) for slot in response.slots]

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
        stored fraction, for ``Placement.FRACTION``.
        """
        request = pb.AssignSlotRequest(
            schedule=schedule.to_message(), id=to_id(id, id_type), kind=kind
        )
        if from_time is not None:
            request.from_time.CopyFrom(to_timestamp("from_time", from_time))
        if next_run_count is not None:
            set_int32(request, "", "next_run_count", next_run_count)
        return Assignment.from_message(id, self._call("AssignSlot", request, timeout))

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

        If some IDs are refused, raises :class:`~offbeat.BadIds`, which carries
        the answers of the others; with ``return_errors`` returns them all, the
        refused ones in ``errors``. ``timeout`` bounds each call.
        """
        answer = SlotAssignments(id_type=id_type)
        from_message = to_timestamp("from_time", from_time or datetime.now(timezone.utc))
        schedule_message = schedule.to_message()
        for batch in batches(ids, BATCH_IDS):
            first = len(answer)
            request = pb.AssignSlotsRequest(
                schedule=schedule_message,
                ids=to_column(batch, first, id_type),
                from_time=from_message,
                kind=kind,
            )
            response: pb.AssignSlotsResponse = self._call("AssignSlots", request, timeout)
            answer.fingerprint = response.identity.fingerprint
            answer.add(batch, response.assignments, first)
        if answer.errors and not return_errors:
            raise BadIds(answer)
        return answer

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

        Holds a few batches at a time, however many IDs there are. Refused IDs
        stand in the ``errors`` of their batch. Without a ``timeout`` the stream
        may take as long as it needs.
        """
        sent: list[list[IdValue]] = []
        from_message = to_timestamp("from_time", from_time or datetime.now(timezone.utc))

        def requests() -> Iterator[pb.StreamSlotAssignmentsRequest]:
            first = 0
            for batch in batches(ids, _STREAM_IDS):
                column = to_column(batch, first, id_type)
                if first == 0:
                    request = pb.StreamSlotAssignmentsRequest(
                        schedule=schedule.to_message(),
                        from_time=from_message,
                        kind=kind,
                        ids=column,
                    )
                else:
                    request = pb.StreamSlotAssignmentsRequest(ids=column)
                sent.append(batch)
                first += len(batch)
                yield request

        failures: list[BaseException] = []
        stub = self._channel.stub().StreamSlotAssignments
        seconds = None if timeout is None else _seconds(timeout)
        call = stub(_catching(requests(), failures), timeout=seconds)
        fingerprint = ""
        try:
            for response in _translated(call, failures):
                fingerprint = fingerprint or response.identity.fingerprint
                answer = SlotAssignments(id_type=id_type, fingerprint=fingerprint)
                answer.add(sent.pop(0), response.assignments, 0)
                yield answer
        finally:
            call.cancel()  # a caller who stops early leaves nothing running

    def get_reciprocal_slots(
        self,
        schedule: Schedule,
        *,
        slot_index: int = 0,
        kind_count: int | None = None,
        run_times: Sequence[timedelta] = (),
        spacing: KindSpacing | None = None,
        timeout: float | timedelta | None = None,
    ) -> Reciprocals:
        """Say at which slots kinds of job must run so that no two meet on the same user."""
        request = pb.GetReciprocalSlotsRequest(
            schedule=schedule.to_message(),
            run_times=[to_duration(run_time) for run_time in run_times],
        )
        set_int32(request, "", "slot_index", slot_index)
        if kind_count is not None:
            set_int32(request, "", "kind_count", kind_count)
        if spacing is not None:
            set_enum(request, "", "spacing", spacing)
        return Reciprocals.from_message(self._call("GetReciprocalSlots", request, timeout))

    def _call(self, method: str, request: Any, timeout: float | timedelta | None) -> Any:
        import grpc

        seconds = self.timeout if timeout is None else _seconds(timeout)
        call: Callable[..., Any] = getattr(self._channel.stub(), method)
        try:
            return call(request, timeout=seconds)
        except grpc.RpcError as error:
            raise from_rpc_error(error) from error


def _seconds(timeout: float | timedelta) -> float:
    return timeout.total_seconds() if isinstance(timeout, timedelta) else float(timeout)


def _catching(requests: Iterator[Any], failures: list[BaseException]) -> Iterator[Any]:
    """Pass requests on; keep what their making raised, which grpc would only log."""
    try:
        yield from requests
    except BaseException as error:
        failures.append(error)
        raise


def _translated(call: Any, failures: list[BaseException]) -> Iterator[Any]:
    import grpc

    try:
        yield from call
    except grpc.RpcError as error:
        if failures:
            raise failures[0] from None
        raise from_rpc_error(error) from error
