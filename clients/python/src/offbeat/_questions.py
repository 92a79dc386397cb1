"""The questions, without any way to ask them.

Each is a generator: it yields a method's name and a request, is sent the response,
perhaps several times, and returns the answer. So that a question is written once, and
asked by :class:`~offbeat.Client` and :class:`~offbeat.AsyncClient` alike.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any, TypeVar

from google.protobuf.timestamp_pb2 import Timestamp

from ._fields import set_enum, set_integer
from .answers import Assignment, BadIds, Description, Reciprocals, Slot, SlotAssignments
from .ids import BATCH_IDS, IdEncoder, IdType, IdValue, batches, checked_text
from .schedule import KindSpacing, Schedule
from .sql import Predicate, SqlColumn
from .times import to_duration, to_timestamp
from .v1 import slots_pb2 as pb

T = TypeVar("T")
Question = Generator["tuple[str, Any]", Any, T]


def describe_schedule(
    schedule: Schedule, at_time: datetime | None, population: int | None
) -> Question[Description]:
    """Ask what a schedule is."""
    request = pb.DescribeScheduleRequest(schedule=schedule.to_message())
    _set_time(request, "at_time", at_time)
    if population is not None:
        set_integer(request, "", "population", population)
    return Description.from_message((yield "DescribeSchedule", request))


def list_slots(
    schedule: Schedule,
    start_time: datetime | None,
    end_time: datetime | None,
    sql_column: SqlColumn | None,
) -> Question[list[Slot]]:
    """Ask which slots start in a window."""
    request = pb.ListSlotsRequest(schedule=schedule.to_message())
    _set_time(request, "start_time", start_time)
    _set_time(request, "end_time", end_time)
    if sql_column is not None:
        request.sql_column.CopyFrom(sql_column.to_message())
    response: pb.ListSlotsResponse = yield "ListSlots", request
    return [Slot.from_message(slot, response.sql_index) for slot in response.slots]


def window_predicate(
    schedule: Schedule,
    sql_column: SqlColumn,
    start_time: datetime | None,
    end_time: datetime,
) -> Question[Predicate]:
    """Ask which rows run in a window."""
    request = pb.GetWindowPredicateRequest(
        schedule=schedule.to_message(), sql_column=sql_column.to_message()
    )
    _set_time(request, "start_time", start_time)
    _set_time(request, "end_time", end_time)
    response: pb.GetWindowPredicateResponse = yield "GetWindowPredicate", request
    return Predicate.from_message(response.predicate, response.sql_index)


def assign_slot(
    schedule: Schedule,
    id_value: IdValue,
    from_time: datetime | None,
    next_run_count: int | None,
    kind: str,
    id_type: IdType | None,
) -> Question[Assignment]:
    """Ask about one ID."""
    request = pb.AssignSlotRequest(
        schedule=schedule.to_message(),
        id=IdEncoder(id_type).one(id_value),
        kind=checked_text("kind", kind),
    )
    _set_time(request, "from_time", from_time)
    if next_run_count is not None:
        set_integer(request, "", "next_run_count", next_run_count)
    return Assignment.from_message(id_value, (yield "AssignSlot", request))


def assign_slots(
    schedule: Schedule,
    ids: Iterable[IdValue],
    from_time: datetime | None,
    kind: str,
    id_type: IdType | None,
    return_errors: bool,
) -> Question[SlotAssignments]:
    """Ask about any number of IDs, batch by batch."""
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
        response: pb.AssignSlotsResponse = yield "AssignSlots", request
        answer.fingerprint = response.identity.fingerprint
        answer.add(batch, response.assignments, first)
    if not answer.ids:  # nothing was asked: let the schedule be checked all the same
        description = yield from describe_schedule(schedule, None, None)
        answer.fingerprint = description.fingerprint
    if answer.errors and not return_errors:
        raise BadIds(answer)
    return answer


def reciprocal_slots(
    schedule: Schedule,
    slot_index: int,
    kind_count: int | None,
    run_times: Sequence[timedelta],
    spacing: KindSpacing | None,
) -> Question[Reciprocals]:
    """Ask where kinds of job stand that must not meet."""
    request = pb.GetReciprocalSlotsRequest(
        schedule=schedule.to_message(),
        run_times=[
            to_duration(f"run_times[{index}]", run_time) for index, run_time in enumerate(run_times)
        ],
    )
    set_integer(request, "", "slot_index", slot_index)
    if kind_count is not None:
        set_integer(request, "", "kind_count", kind_count)
    if spacing is not None:
        set_enum(request, "", "spacing", spacing, KindSpacing)
    return Reciprocals.from_message((yield "GetReciprocalSlots", request))


class Stream:
    """A stream of assignments: the messages of both directions, in step."""

    #: IDs in one message: enough to be quick, few enough to start at once.
    BATCH_IDS = 8_192

    def __init__(
        self, schedule: Schedule, from_time: datetime | None, kind: str, id_type: IdType | None
    ) -> None:
        """Prepare the first message, which has no IDs."""
        self._sent: list[list[IdValue]] = []
        self._id_type = id_type
        self._encoder = IdEncoder(id_type)
        self._fingerprint = ""
        self.opening = pb.StreamSlotAssignmentsRequest(
            schedule=schedule.to_message(),
            from_time=_timestamp_or_now(from_time),
            kind=checked_text("kind", kind),
        )

    def request(self, ids: list[IdValue]) -> pb.StreamSlotAssignmentsRequest:
        """Turn a batch into the next message."""
        batch = self._encoder.take(ids)
        column = self._encoder.column(batch)
        self._sent.append(batch)
        return pb.StreamSlotAssignmentsRequest(ids=column)

    def answer(self, response: pb.StreamSlotAssignmentsResponse) -> SlotAssignments:
        """Turn the next response into the answer to the oldest batch without one."""
        self._fingerprint = self._fingerprint or response.identity.fingerprint
        answer = SlotAssignments(
            id_type=self._id_type,
            fingerprint=self._fingerprint,
            first_id_index=response.first_id_index,
        )
        answer.add(self._sent.pop(0), response.assignments, 0)
        return answer


def _set_time(request: Any, field: str, time: datetime | None) -> None:
    if time is not None:
        getattr(request, field).CopyFrom(to_timestamp(field, time))


def _timestamp_or_now(from_time: datetime | None) -> Timestamp:
    """Take now once, so that all IDs of a call are asked about at one instant."""
    return to_timestamp("from_time", datetime.now(timezone.utc) if from_time is None else from_time)
