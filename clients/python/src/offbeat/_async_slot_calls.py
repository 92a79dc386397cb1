"""Calls about slots, as coroutines."""

from __future__ import annotations

from array import array
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Sequence
from datetime import datetime, timedelta

from . import _questions as questions
from . import reciprocals
from ._asking import AsyncAsking
from ._settings import to_seconds
from ._streams import async_catching, async_translated
from ._zones import TimeZone, TimeZones
from .answers import Assignment, Description, ListedSchedule, Slot
from .assignments import SlotAssignments
from .comparisons import ComparedJob, Comparison, compare_schedules
from .ids import IdT, IdType, batches
from .kinds import KindSpacing
from .new_ids import NewId
from .packed import PackedAssignments, assign_packed
from .reciprocals import Reciprocals
from .schedule import AnySchedule
from .sql import SqlPredicate, SqlTarget
from .v1 import slots_pb2 as pb


class AsyncSlotCalls(AsyncAsking):
    """The calls of ``SlotService`` about schedules, slots and assignments, as coroutines."""

    async def describe_schedule(
        self,
        schedule: AnySchedule,
        *,
        at_time: datetime | None = None,
        population: int | None = None,
        timeout: float | timedelta | None = None,
    ) -> Description:
        """See :meth:`offbeat.Client.describe_schedule`."""
        question = questions.describe_schedule(schedule, at_time, population)
        return await self._ask(question, timeout)

    async def list_schedules(
        self, *, name: str = "", timeout: float | timedelta | None = None
    ) -> list[ListedSchedule]:
        """See :meth:`offbeat.Client.list_schedules`."""
        return await self._ask(questions.list_schedules(name), timeout)

    async def list_slots(
        self,
        schedule: AnySchedule,
        *,
        start_time: datetime | None = None,
        end_time: datetime | None = None,
        sql_target: SqlTarget | None = None,
        kind: str = "",
        timeout: float | timedelta | None = None,
    ) -> list[Slot]:
        """See :meth:`offbeat.Client.list_slots`."""
        question = questions.list_slots(schedule, start_time, end_time, sql_target, kind)
        return await self._ask(question, timeout)

    async def window_predicate(
        self,
        schedule: AnySchedule,
        sql_target: SqlTarget,
        *,
        end_time: datetime,
        start_time: datetime | None = None,
        kind: str = "",
        time_zones: Iterable[TimeZone] = (),
        timeout: float | timedelta | None = None,
    ) -> SqlPredicate:
        """See :meth:`offbeat.Client.window_predicate`."""
        question = questions.window_predicate(
            schedule, sql_target, start_time, end_time, kind, time_zones
        )
        return await self._ask(question, timeout)

    async def assign_slot(
        self,
        schedule: AnySchedule,
        id: IdT,
        *,
        from_time: datetime | None = None,
        next_run_count: int | None = None,
        kind: str = "",
        id_type: IdType | None = None,
        weight: int | None = None,
        new_id: NewId | None = None,
        time_zone: TimeZone | None = None,
        timeout: float | timedelta | None = None,
    ) -> Assignment[IdT]:
        """See :meth:`offbeat.Client.assign_slot`."""
        question = questions.assign_slot(
            schedule, id, from_time, next_run_count, kind, id_type, weight, new_id, time_zone
        )
        return await self._ask(question, timeout)

    async def assign_slots(
        self,
        schedule: AnySchedule,
        ids: Iterable[IdT] | AsyncIterable[IdT],
        *,
        from_time: datetime | None = None,
        kind: str = "",
        id_type: IdType | None = None,
        weights: Iterable[int] | None = None,
        time_zones: TimeZones[IdT] | None = None,
        columns: Iterable[str] = (),
        return_errors: bool = False,
        timeout: float | timedelta | None = None,
    ) -> SlotAssignments[IdT]:
        """See :meth:`offbeat.Client.assign_slots`; takes asynchronous iterables too."""
        known = [value async for value in ids] if isinstance(ids, AsyncIterable) else ids
        question = questions.assign_slots(
            schedule, known, from_time, kind, id_type, weights, time_zones, columns, return_errors
        )
        return await self._ask(question, timeout)

    async def assign_packed(
        self,
        schedule: AnySchedule,
        *,
        uuids: bytes | bytearray | memoryview | None = None,
        integers: array[int] | None = None,
        from_time: datetime | None = None,
        kind: str = "",
        columns: Iterable[str] = (),
        time_zones: Iterable[TimeZone] = (),
        time_zone_indexes: array[int] | None = None,
        return_errors: bool = False,
        timeout: float | timedelta | None = None,
    ) -> PackedAssignments:
        """See :meth:`offbeat.Client.assign_packed`."""
        question = assign_packed(
            schedule,
            uuids,
            integers,
            from_time,
            kind,
            columns,
            time_zones,
            time_zone_indexes,
            return_errors,
        )
        return await self._ask(question, timeout)

    async def stream_slot_assignments(
        self,
        schedule: AnySchedule,
        ids: Iterable[IdT] | AsyncIterable[IdT],
        *,
        from_time: datetime | None = None,
        kind: str = "",
        id_type: IdType | None = None,
        weights: Iterable[int] | None = None,
        time_zones: TimeZones[IdT] | None = None,
        columns: Iterable[str] = (),
        timeout: float | timedelta | None = None,
    ) -> AsyncIterator[SlotAssignments[IdT]]:
        """See :meth:`offbeat.Client.stream_slot_assignments`; takes asynchronous iterables too."""
        limits = await self._ask(questions.piece_limits(schedule, weights), timeout)
        stream = questions.Stream(
            schedule,
            self._decisions.clock() if from_time is None else from_time,
            kind,
            id_type,
            weights,
            limits,
            time_zones,
            columns,
            self._decisions.streams_by,
        )

        async def requests() -> AsyncIterator[pb.StreamSlotAssignmentsRequest]:
            yield stream.opening
            async for batch in _batches(ids, stream.BATCH_IDS):
                for request in stream.requests(batch):
                    yield request
            stream.end()

        failures: list[BaseException] = []
        seconds = None if timeout is None else to_seconds(timeout)
        call = self._channel.stub().StreamSlotAssignments(
            async_catching(requests(), failures), timeout=seconds
        )
        try:
            async for response in async_translated(call, failures, self.address):
                yield stream.answer(response)
        finally:
            call.cancel()  # a caller who stops early leaves nothing running

    async def reciprocal_slots(
        self,
        schedule: AnySchedule,
        *,
        slot_index: int = 0,
        kind_count: int | None = None,
        run_times: Sequence[timedelta] = (),
        kind_spacing: KindSpacing | None = None,
        kind_conflicts: Iterable[tuple[int, int]] = (),
        polling_delay: timedelta | None = None,
        slot_job_delay: timedelta | None = None,
        timeout: float | timedelta | None = None,
    ) -> Reciprocals:
        """See :meth:`offbeat.Client.reciprocal_slots`."""
        question = reciprocals.reciprocal_slots(
            schedule,
            slot_index,
            kind_count,
            run_times,
            kind_spacing,
            kind_conflicts,
            polling_delay,
            slot_job_delay,
        )
        return await self._ask(question, timeout)

    async def compare_schedules(
        self,
        jobs: Iterable[ComparedJob],
        *,
        timeout: float | timedelta | None = None,
    ) -> Comparison:
        """See :meth:`offbeat.Client.compare_schedules`."""
        return await self._ask(compare_schedules(jobs), timeout)


async def _batches(ids: Iterable[IdT] | AsyncIterable[IdT], size: int) -> AsyncIterator[list[IdT]]:
    """Cut IDs lazily into batches that each fit into one message."""
    if not isinstance(ids, AsyncIterable):
        for batch in batches(ids, size):
            yield batch
        return
    gathered: list[IdT] = []
    async for value in ids:
        gathered.append(value)
        if len(gathered) == size:
            for batch in batches(gathered, size):
                yield batch
            gathered = []
    for batch in batches(gathered, size):
        yield batch
