"""Questions, independent of how they are asked.

A question is a generator: once or several times, it yields a method's name and a request, and is
sent the response (or thrown the error); then it returns the answer. So each question is written
once, for both :class:`~offbeat.Client` and :class:`~offbeat.AsyncClient`.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from google.protobuf.timestamp_pb2 import Timestamp

from ._columns import ColumnsResponse, read_mask
from ._fields import set_integer, set_time
from ._rows import BadIds
from ._weights import PieceLimits, Weights
from ._zones import TimeZone, TimeZones, Zones, set_zones, zone_name, zone_names
from .answers import Assignment, Description, ListedSchedule, Slot
from .assignments import SlotAssignments
from .ids import BATCH_IDS, IdEncoder, IdT, IdType, IdValue, batches, checked_text
from .new_ids import NewId
from .runs import DEFAULT_KIND
from .schedule import AnySchedule, schedule_message
from .sql import SqlPredicate, SqlTarget
from .times import to_timestamp
from .v1 import slots_pb2 as pb
from .v1.id_pb2 import IdBatch
from .v1.schedule_pb2 import ScheduleIdentity

T = TypeVar("T")
Question = Generator["tuple[str, Any]", Any, T]

#: A question yields this instead of a method to be sent the time of the client's clock.
NOW = "Now"


def describe_schedule(
    schedule: AnySchedule, at_time: datetime | None, population: int | None
) -> Question[Description]:
    """Ask for the description of a schedule."""
    request = pb.DescribeScheduleRequest(schedule=schedule_message(schedule))
    set_time(request, "", "at_time", at_time)
    if population is not None:
        set_integer(request, "", "population", population)
    return Description.from_message((yield "DescribeSchedule", request))


def list_schedules(name: str) -> Question[list[ListedSchedule]]:
    """Ask which schedules are loaded, page by page."""
    listed: list[ListedSchedule] = []
    request = pb.ListSchedulesRequest(name=checked_text("name", name))
    while True:
        response: pb.ListSchedulesResponse = yield "ListSchedules", request
        listed += map(ListedSchedule.from_message, response.schedules)
        if not response.next_page_token:
            return listed
        request.page_token = response.next_page_token


def list_slots(
    schedule: AnySchedule,
    start_time: datetime | None,
    end_time: datetime | None,
    sql_target: SqlTarget | None,
    kind: str,
) -> Question[list[Slot]]:
    """Ask which slots start in a window."""
    request = pb.ListSlotsRequest(
        schedule=schedule_message(schedule), kind=checked_text("kind", kind)
    )
    set_time(request, "", "start_time", start_time)
    set_time(request, "", "end_time", end_time)
    if sql_target is not None:
        request.sql_target.CopyFrom(sql_target.to_message())
    response: pb.ListSlotsResponse = yield "ListSlots", request
    return [Slot.from_message(slot, response.sql_index) for slot in response.slots]


def window_predicate(
    schedule: AnySchedule,
    sql_target: SqlTarget,
    start_time: datetime | None,
    end_time: datetime,
    kind: str,
    time_zones: Iterable[TimeZone],
) -> Question[SqlPredicate]:
    """Ask which rows run in a window."""
    request = pb.GetWindowPredicateRequest(
        schedule=schedule_message(schedule),
        sql_target=sql_target.to_message(),
        kind=checked_text("kind", kind),
        time_zones=zone_names("time_zones", time_zones),
    )
    set_time(request, "", "start_time", start_time)
    set_time(request, "", "end_time", end_time)
    response: pb.GetWindowPredicateResponse = yield "GetWindowPredicate", request
    return SqlPredicate.from_message(response.predicate, response.sql_index)


def assign_slot(
    schedule: AnySchedule,
    id_value: IdT,
    from_time: datetime | None,
    next_run_count: int | None,
    kind: str,
    id_type: IdType | None,
    weight: int | None,
    new_id: NewId | None,
    time_zone: TimeZone | None,
) -> Question[Assignment[IdT]]:
    """Ask about one ID."""
    request = pb.AssignSlotRequest(
        schedule=schedule_message(schedule),
        id=IdEncoder(id_type).one(id_value),
        kind=checked_text("kind", kind),
    )
    set_time(request, "", "from_time", from_time)
    if next_run_count is not None:
        set_integer(request, "", "next_run_count", next_run_count)
    if weight is not None:
        set_integer(request, "", "weight", weight)
    if new_id is not None:
        request.new_id.CopyFrom(new_id.to_message())
    if time_zone is not None:
        request.time_zone = zone_name("time_zone", time_zone)
    return Assignment.from_message(id_value, kind, (yield "AssignSlot", request))


def assign_slots(
    schedule: AnySchedule,
    ids: Iterable[IdT],
    from_time: datetime | None,
    kind: str,
    id_type: IdType | None,
    weights: Iterable[int] | None,
    time_zones: TimeZones[IdT] | None,
    columns: Iterable[str],
    return_errors: bool,
) -> Question[SlotAssignments[IdT]]:
    """Ask about any number of IDs, batch by batch."""
    answer: SlotAssignments[IdT] = SlotAssignments(id_type=id_type, kind=kind or DEFAULT_KIND)
    from_message = yield from timestamp_or_now(from_time)
    schedule_part = schedule_message(schedule)
    kind = checked_text("kind", kind)
    mask = read_mask(columns)
    limits = yield from piece_limits(schedule, weights)
    for batch in cut(ids, id_type, weights, limits, time_zones):
        first = len(answer.ids)
        request = pb.AssignSlotsRequest(
            schedule=schedule_part,
            ids=batch.column(),
            from_time=from_message,
            kind=kind,
            weights=batch.weights,
            read_mask=mask,
        )
        response: ColumnsResponse = yield "AssignSlots", request
        answer.fingerprint = response.identity.fingerprint
        answer.time_zone_database = response.identity.time_zone_database
        answer._add(batch.ids, response.assignments, first)
    if not answer.ids:  # no IDs: let the sidecar check the schedule anyway
        description = yield from describe_schedule(schedule, None, None)
        answer.fingerprint = description.fingerprint
    if answer.errors and not return_errors:
        raise BadIds(answer, answer.errors)
    return answer


@dataclass(frozen=True)
class Batch(Generic[IdT]):
    """IDs of one call that go into one message."""

    #: The IDs as the caller gave them.
    ids: list[IdT]
    #: The same IDs as they are sent.
    plain: Sequence[IdValue]
    #: One weight for each ID, or empty.
    weights: list[int]
    #: One time zone for each ID, or empty.
    zones: list[str | None]
    _encoder: IdEncoder

    def column(self) -> IdBatch:
        column = self._encoder.column(self.plain)
        set_zones(column, self.zones)
        return column

    def halves(self) -> tuple[Batch[IdT], Batch[IdT]]:
        middle = len(self.ids) // 2
        return self._part(slice(middle)), self._part(slice(middle, None))

    def _part(self, part: slice) -> Batch[IdT]:
        weights, zones = self.weights[part], self.zones[part]
        return Batch(self.ids[part], self.plain[part], weights, zones, self._encoder)


class Cutter:
    """Cuts the IDs of a call into batches, together with their weights and time zones."""

    def __init__(
        self,
        id_type: IdType | None,
        weights: Iterable[int] | None,
        limits: PieceLimits,
        time_zones: TimeZones[Any] | None,
    ) -> None:
        """Store the iterables; none is read yet."""
        self._encoder = IdEncoder(id_type)
        self._weights = Weights(weights, limits)
        self._zones = Zones(time_zones)

    def cut(self, ids: list[IdT]) -> Iterator[Batch[IdT]]:
        """Cut the next IDs: one batch, or several where weights make too many pieces."""
        plain = self._encoder.take(ids)
        zones = self._zones.take(plain)
        for part, weights in self._weights.cut(len(ids)):
            yield Batch(ids[part], plain[part], weights, zones[part], self._encoder)

    def end(self) -> None:
        """Refuse weights and time zones that are left when the IDs have ended."""
        self._weights.end()
        self._zones.end()


def cut(
    ids: Iterable[IdT],
    id_type: IdType | None,
    weights: Iterable[int] | None,
    limits: PieceLimits,
    time_zones: TimeZones[IdT] | None,
) -> Iterator[Batch[IdT]]:
    """Cut the IDs of a call lazily into batches, together with their weights and time zones."""
    cutter = Cutter(id_type, weights, limits, time_zones)
    for batch in batches(ids, BATCH_IDS):
        yield from cutter.cut(batch)
    cutter.end()


def piece_limits(schedule: AnySchedule, weights: Iterable[int] | None) -> Question[PieceLimits]:
    """Ask for the figures that say how many pieces a weight has, if there are weights."""
    if weights is None:
        return PieceLimits()
    description = yield from describe_schedule(schedule, None, None)
    resolved = description.schedule
    return PieceLimits(resolved.weight_quantum, resolved.slot_count or 1)


class Stream(Generic[IdT]):
    """A stream of assignments: builds its requests, and matches the responses to them."""

    #: IDs in one message: enough for throughput, few enough for an early first answer.
    BATCH_IDS = 8_192

    def __init__(
        self,
        schedule: AnySchedule,
        from_time: datetime,
        kind: str,
        id_type: IdType | None,
        weights: Iterable[int] | None,
        limits: PieceLimits,
        time_zones: TimeZones[IdT] | None,
        columns: Iterable[str],
        decided_by: str,
    ) -> None:
        """Prepare the first message, which has no IDs."""
        self._sent: list[list[IdT]] = []
        self._id_type = id_type
        self._kind = kind or DEFAULT_KIND
        self._decided_by = decided_by
        self._cutter = Cutter(id_type, weights, limits, time_zones)
        self._identity = ScheduleIdentity()
        self.end = self._cutter.end
        self.opening = pb.StreamSlotAssignmentsRequest(
            schedule=schedule_message(schedule),
            from_time=to_timestamp("from_time", from_time),
            kind=checked_text("kind", kind),
            read_mask=read_mask(columns),
        )

    def requests(self, ids: list[IdT]) -> Iterator[pb.StreamSlotAssignmentsRequest]:
        """Turn IDs into the next messages: one, or several where weights make many pieces."""
        for batch in self._cutter.cut(ids):
            self._sent.append(batch.ids)
            yield pb.StreamSlotAssignmentsRequest(ids=batch.column(), weights=batch.weights)

    def answer(self, response: pb.StreamSlotAssignmentsResponse) -> SlotAssignments[IdT]:
        """Turn the next response into the answer to the oldest batch without one."""
        if response.HasField("identity"):  # only in the first response
            self._identity = response.identity
        answer: SlotAssignments[IdT] = SlotAssignments(
            id_type=self._id_type,
            kind=self._kind,
            fingerprint=self._identity.fingerprint,
            time_zone_database=self._identity.time_zone_database,
            first_id_index=response.first_id_index,
            decided_by=self._decided_by,
        )
        answer._add(self._sent.pop(0), response.assignments, response.first_id_index)
        return answer


def timestamp_or_now(from_time: datetime | None) -> Question[Timestamp]:
    """Return ``from_time``, or now: read once, so that all IDs of a call have the same instant."""
    instant: datetime = (yield NOW, None) if from_time is None else from_time
    return to_timestamp("from_time", instant)
