"""The client."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta, timezone
from types import TracebackType
from typing import Any, Callable

from google.protobuf.timestamp_pb2 import Timestamp

from ._channel import LazyChannel
from .answers import Assignment, BadIds, Description, Reciprocals, Slot, SlotAssignments
from .errors import from_rpc_error, refused
from .ids import BATCH_IDS, IdEncoder, IdType, IdValue, batches, checked_text
from .schedule import KindSpacing, Schedule, set_enum, set_integer
from .times import to_duration, to_timestamp
from .v1 import slots_pb2 as pb

#: Where a sidecar listens.
DEFAULT_ADDRESS = "127.0.0.1:2328"

#: IDs in one message of a stream: enough to be quick, few enough to start at once.
_STREAM_IDS = 8_192


class Client:
    """Asks a sidecar.

    ``address`` is ``HOST:PORT`` or ``unix:PATH``; by default the variable
    ``OFFBEAT_ADDRESS``, else ``127.0.0.1:2328``. ``timeout`` bounds every call
    (and each call of a large batch) in seconds or as a ``timedelta``; a stream has
    only the one that it is given itself. Calls that did not reach the sidecar are made
    again, quickly, up to three times.

    A client connects at its first call, may be shared by threads, and may be
    used on both sides of a fork.
    """

    def __init__(self, address: str | None = None, *, timeout: float | timedelta = 10.0) -> None:
        """Remember whom to ask; nothing connects yet."""
        if address is None:
            address = os.environ.get("OFFBEAT_ADDRESS") or DEFAULT_ADDRESS
        self.address = _checked_address(address)
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
            set_integer(request, "", "population", population)
        return Description.from_message(self._call("DescribeSchedule", request, timeout))

    def list_slots(
        self,
        schedule: Schedule,
        *,
        start_time: datetime | None = None,
        end_time: datetime | None = None,
        timeout: float | timedelta | None = None,
    ) -> list[Slot]:
        """List the slots that start in a window; by default in the period from now on.

        The slot that runs at ``start_time`` is listed only if it starts just then. A
        window holds 4,096 slots at most.
        """
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
        stored fraction, for ``Placement.FRACTION``. Runs at or after ``from_time``
        (default: now) are next: ``next_run_count`` of them (default: 1). ``kind``
        names the kind of job: it is part of the run keys, and changes neither slot
        nor time (for that, :meth:`Schedule.shifted`).
        """
        request = pb.AssignSlotRequest(
            schedule=schedule.to_message(),
            id=IdEncoder(id_type).one(id),
            kind=checked_text("kind", kind),
        )
        if from_time is not None:
            request.from_time.CopyFrom(to_timestamp("from_time", from_time))
        if next_run_count is not None:
            set_integer(request, "", "next_run_count", next_run_count)
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

        ``from_time``, ``kind`` and ``id_type`` are as in :meth:`assign_slot`. If some
        IDs are refused, raises :class:`~offbeat.BadIds`, which carries
        the answers of the others; with ``return_errors`` returns them all, the
        refused ones in ``errors``. ``timeout`` bounds each call.
        """
        answer = SlotAssignments(id_type=id_type)
        encoder = IdEncoder(id_type)
        from_message = _timestamp_or_now(from_time)
        schedule_message = schedule.to_message()
        for batch in map(encoder.take, batches(ids, BATCH_IDS)):
            first = len(answer)
            request = pb.AssignSlotsRequest(
                schedule=schedule_message,
                ids=encoder.column(batch),
                from_time=from_message,
                kind=checked_text("kind", kind),
            )
            response: pb.AssignSlotsResponse = self._call("AssignSlots", request, timeout)
            answer.fingerprint = response.identity.fingerprint
            answer.add(batch, response.assignments, first)
        if not answer.ids:  # nothing was asked: let the schedule be checked all the same
            answer.fingerprint = self.describe_schedule(schedule, timeout=timeout).fingerprint
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

        Holds a few batches at a time, however many IDs there are. Refused IDs stand
        in the ``errors`` of their batch, counted from the start of the stream (that
        of the batch is its ``first_id_index``). Without a ``timeout`` the stream
        may take as long as it needs.
        """
        sent: list[list[IdValue]] = []
        encoder = IdEncoder(id_type)
        opening = pb.StreamSlotAssignmentsRequest(
            schedule=schedule.to_message(),
            from_time=_timestamp_or_now(from_time),
            kind=checked_text("kind", kind),
        )

        def requests() -> Iterator[pb.StreamSlotAssignmentsRequest]:
            yield opening
            for batch in map(encoder.take, batches(ids, _STREAM_IDS)):
                column = encoder.column(batch)
                sent.append(batch)
                yield pb.StreamSlotAssignmentsRequest(ids=column)

        failures: list[BaseException] = []
        stub = self._channel.stub().StreamSlotAssignments
        seconds = None if timeout is None else _seconds(timeout)
        call = stub(_catching(requests(), failures), timeout=seconds)
        fingerprint = ""
        try:
            for response in _translated(call, failures, self.address):
                fingerprint = fingerprint or response.identity.fingerprint
                answer = SlotAssignments(
                    id_type=id_type,
                    fingerprint=fingerprint,
                    first_id_index=response.first_id_index,
                )
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
        """Say at which slots kinds of job must run so that no two meet on the same user.

        Give ``kind_count``, or how long a run of each kind takes in ``run_times``.
        ``slot_index`` is the slot to look from. A schedule for each kind is
        ``schedule.shifted(kind.offset)``.
        """
        request = pb.GetReciprocalSlotsRequest(
            schedule=schedule.to_message(),
            run_times=[
                to_duration(f"run_times[{index}]", run_time)
                for index, run_time in enumerate(run_times)
            ],
        )
        set_integer(request, "", "slot_index", slot_index)
        if kind_count is not None:
            set_integer(request, "", "kind_count", kind_count)
        if spacing is not None:
            set_enum(request, "", "spacing", spacing, KindSpacing)
        return Reciprocals.from_message(self._call("GetReciprocalSlots", request, timeout))

    def _call(self, method: str, request: Any, timeout: float | timedelta | None) -> Any:
        import grpc

        seconds = self.timeout if timeout is None else _seconds(timeout)
        call: Callable[..., Any] = getattr(self._channel.stub(), method)
        try:
            return call(request, timeout=seconds)
        except grpc.RpcError as error:
            raise from_rpc_error(error, self.address) from error


def _seconds(timeout: float | timedelta) -> float:
    seconds = timeout.total_seconds() if isinstance(timeout, timedelta) else timeout
    if not isinstance(seconds, (int, float)) or not seconds > 0:
        raise refused("timeout", timeout, "must be a positive number of seconds, or a timedelta")
    return float(seconds)


def _timestamp_or_now(from_time: datetime | None) -> Timestamp:
    """Take now once, so that all IDs of a call are asked about at one instant."""
    return to_timestamp("from_time", datetime.now(timezone.utc) if from_time is None else from_time)


def _checked_address(address: str) -> str:
    """Refuse what grpc would take for something else: port 443, a name to look up."""
    allowed = "must be HOST:PORT with a port of 1 to 65535, or unix:PATH"
    if not isinstance(address, str):
        raise refused("address", address, allowed)
    if address.startswith("unix:") and len(address) > len("unix:"):
        return address
    host, _, port = address.rpartition(":")
    if not host or "/" in host or not port.isdecimal() or not 1 <= int(port) <= 65_535:
        raise refused("address", address, allowed)
    return address


def _catching(requests: Iterator[Any], failures: list[BaseException]) -> Iterator[Any]:
    """Pass requests on; keep what their making raised, which grpc would only log."""
    try:
        yield from requests
    except BaseException as error:
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
