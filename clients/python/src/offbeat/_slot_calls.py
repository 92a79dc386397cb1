"""Calls about slots."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from . import _questions as questions
from . import reciprocals
from ._asking import Asking
from ._settings import to_seconds
from ._streams import catching, translated
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


class SlotCalls(Asking):
    """The calls of ``SlotService`` that say where IDs stand."""

    def describe_schedule(
        self,
        schedule: AnySchedule,
        *,
        at_time: datetime | None = None,
        population: int | None = None,
        timeout: float | timedelta | None = None,
    ) -> Description:
        """Say what a schedule's defaults resolve to, its fingerprint, slot, kinds and load."""
        question = questions.describe_schedule(schedule, at_time, population)
        return self._ask(question, timeout)

    def list_schedules(
        self, *, name: str = "", timeout: float | timedelta | None = None
    ) -> list[ListedSchedule]:
        """List the schedules that the sidecar has loaded, or the versions of one ``name``."""
        return self._ask(questions.list_schedules(name), timeout)

    def list_slots(
        self,
        schedule: AnySchedule,
        *,
        start_time: datetime | None = None,
        end_time: datetime | None = None,
        sql_target: SqlTarget | None = None,
        kind: str = "",
        timeout: float | timedelta | None = None,
    ) -> list[Slot]:
        """List the slots that start in a window; by default as many from now on as a cycle has.

        The slot that runs at ``start_time`` is listed only if it starts just then. A
        window holds 4,096 slots at most. With a ``sql_target`` each slot has the
        ``predicate`` that selects its rows: where the schedule declares kinds, those of
        ``kind``.
        """
        question = questions.list_slots(schedule, start_time, end_time, sql_target, kind)
        return self._ask(question, timeout)

    def window_predicate(
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
        """Say which rows of a table run in a window of up to the longest cycle.

        The window starts now by default; with a calendar it may be 24 h longer. Not under
        ``Placement.TWISTER``, whose offsets no database can compute. ``kind`` says
        whose runs, where the schedule declares kinds. With a calendar, and with
        ``SqlTarget.time_zone_column``, rows of the ``time_zones`` named, up to 64, run by the
        clock of their own; rows of others, or of none, are never selected.
        """
        question = questions.window_predicate(
            schedule, sql_target, start_time, end_time, kind, time_zones
        )
        return self._ask(question, timeout)

    def assign_slot(
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
        """Assign one ID. For more than a few, :meth:`assign_slots` is far quicker.

        A ``str`` is text unless ``id_type`` says otherwise; a ``float`` is a
        stored fraction, for ``Placement.FRACTION``. Runs at or after ``from_time``
        (default: now) are next: ``next_run_count`` of them (0 to 1,000, default: 1). ``kind``
        names the kind of job, and is part of the run keys: where the schedule declares
        kinds, one of them, which decides slot and time; elsewhere a label that moves nothing
        (default: ``"default"``). With a ``weight``, in the unit of the schedule's
        ``weight_quantum``, a large ID has several ``pieces``. With a ``new_id``, the
        answer has its ``first_run``. With a calendar, ``time_zone`` is that in which the ID
        lives (default: that of the schedule): its IANA name or a ``ZoneInfo``.
        """
        question = questions.assign_slot(
            schedule, id, from_time, next_run_count, kind, id_type, weight, new_id, time_zone
        )
        return self._ask(question, timeout)

    def assign_slots(
        self,
        schedule: AnySchedule,
        ids: Iterable[IdT],
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
        """Assign any number of IDs of one type, in as few calls as that takes.

        ``from_time``, ``kind`` and ``id_type`` are as in :meth:`assign_slot`. If some
        IDs are refused, raises :class:`~offbeat.BadIds`, which carries
        the answers of the others; with ``return_errors`` returns them all, the
        refused ones in ``errors``. ``timeout`` bounds each call. With ``weights``, one for
        each ID, there is a row for each piece. With a calendar, ``time_zones`` are those in
        which the IDs live: one for each ID, ``None`` for that of the schedule, or a mapping
        that has the zones of some IDs; up to 600 zones among 65,536 IDs, fewer with many kinds.

        ``columns`` names those of the answer that are wanted. Default: ``DEFAULT_COLUMNS``, which
        rows need. The last runs are there only on request:
        ``columns=[*offbeat.DEFAULT_COLUMNS, "last_run_unix_millis"]``.
        """
        question = questions.assign_slots(
            schedule, ids, from_time, kind, id_type, weights, time_zones, columns, return_errors
        )
        return self._ask(question, timeout)

    def assign_packed(
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
        """Assign packed IDs, at the speed of the wire: bytes in, arrays out.

        Give ``uuids``, 16 bytes each, end to end (a million may be one ``bytes``), or
        ``integers``, an ``array("q")``. For what makes no object of an ID: rows of a
        database's binary column, of numpy, of a file. ``columns`` are those that are wanted,
        such as ``["next_run_unix_millis"]``: fewer are sooner there. Default: all except
        ``last_run_unix_millis``. Time zones
        by ID are packed too: the names in ``time_zones``, each once, and for each ID which of
        them in ``time_zone_indexes``, an ``array("i")`` with -1 for the zone of the schedule.
        Otherwise as :meth:`assign_slots`.
        """
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
        return self._ask(question, timeout)

    def stream_slot_assignments(
        self,
        schedule: AnySchedule,
        ids: Iterable[IdT],
        *,
        from_time: datetime | None = None,
        kind: str = "",
        id_type: IdType | None = None,
        weights: Iterable[int] | None = None,
        time_zones: TimeZones[IdT] | None = None,
        columns: Iterable[str] = (),
        timeout: float | timedelta | None = None,
    ) -> Iterator[SlotAssignments[IdT]]:
        """Assign IDs as they come, over one stream; yields the answers batch by batch.

        Holds a few batches at a time, however many IDs there are. Refused IDs stand
        in the ``errors`` of their batch, counted from the start of the stream (that
        of the batch is its ``first_id_index``). Without a ``timeout`` the stream
        may take as long as it needs. ``weights`` and ``time_zones`` are drawn batch by batch,
        after the IDs. ``columns`` is as in :meth:`assign_slots`.
        """
        limits = self._ask(questions.piece_limits(schedule, weights), timeout)
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

        def requests() -> Iterator[pb.StreamSlotAssignmentsRequest]:
            yield stream.opening
            for batch in batches(ids, stream.BATCH_IDS):
                yield from stream.requests(batch)
            stream.end()

        failures: list[BaseException] = []
        seconds = None if timeout is None else to_seconds(timeout)
        call = self._channel.stub().StreamSlotAssignments(
            catching(requests(), failures), timeout=seconds
        )
        try:
            yield from map(stream.answer, translated(call, failures, self.address))
        finally:
            call.cancel()  # a caller who stops early leaves nothing running

    def reciprocal_slots(
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
        """Say at which slots kinds of job must run so that no two meet on the same ID.

        Give ``kind_count``, or how long a run of each kind takes in ``run_times``.
        ``slot_index`` is the slot to look from. A schedule that declares ``kinds`` places
        them so. Of a calendar, gaps and run budgets are those of the worst change of its
        clocks from 2020 to 2037. With ``kind_conflicts``, pairs of kinds, only those must not
        meet. The run budgets are shorter by ``polling_delay``, how long a due job may wait to be
        enqueued, and by ``slot_job_delay``, how long the job that enqueues a slot may wait and
        run.
        """
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
        return self._ask(question, timeout)

    def compare_schedules(
        self,
        jobs: Iterable[ComparedJob],
        *,
        timeout: float | timedelta | None = None,
    ) -> Comparison:
        """Say whether 2 to 32 jobs of schedules that exist today are kept apart on each ID.

        It never says that they are where it does not know. For jobs that are to be kept apart,
        declare ``kinds`` in one schedule.
        """
        return self._ask(compare_schedules(jobs), timeout)
