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
    """The calls of ``SlotService`` about schedules, slots and assignments."""

    def describe_schedule(
        self,
        schedule: AnySchedule,
        *,
        at_time: datetime | None = None,
        population: int | None = None,
        timeout: float | timedelta | None = None,
    ) -> Description:
        """Describe a schedule: its resolved defaults, fingerprint, slot, kinds and load."""
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
        """List the slots that start in a window; by default, one cycle's slots from now on.

        The slot that runs at ``start_time`` is listed only if it starts at that instant. A
        window holds at most 4,096 slots. With a ``sql_target``, each slot has the
        ``predicate`` that selects its rows; if the schedule declares kinds, those of
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
        """Return the SQL condition that selects the rows of a table that run in a window.

        The window starts now by default. It may be as long as the longest cycle, and with a
        calendar 24 h longer. ``Placement.TWISTER`` is refused, because no database can compute
        its offsets. If the schedule declares kinds, ``kind`` says whose runs to select. With a
        calendar and ``SqlTarget.time_zone_column``, rows run by the clock of their own zone,
        which must be one of ``time_zones`` (up to 64); rows with another zone, or without one,
        are never selected.
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
        stored fraction, for ``Placement.FRACTION``. The answer has the next ``next_run_count``
        runs (0 to 1,000, default: 1) at or after ``from_time`` (default: now). ``kind`` names
        the kind of job, and is part of the run keys. If the schedule declares kinds, it must be
        one of them and decides slot and time; otherwise it is only a label (default:
        ``"default"``). With a ``weight``, in the unit of the schedule's ``weight_quantum``, a
        large ID has several ``pieces``. With a ``new_id``, the answer has its ``first_run``.
        With a calendar, ``time_zone`` is the zone in which the ID lives, as its IANA name or as
        a ``ZoneInfo`` (default: the zone of the schedule).
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
        """Assign any number of IDs of one type, in as few requests as possible.

        ``from_time``, ``kind`` and ``id_type`` are as in :meth:`assign_slot`. If some
        IDs are refused, raises :class:`~offbeat.BadIds`, which carries the assignments of the
        others; with ``return_errors``, returns these assignments with the refused IDs in
        ``errors``. ``timeout`` applies to each request. With ``weights``, one for each ID, there
        is a row for each piece. With a calendar, ``time_zones`` are the zones in which the IDs
        live: one for each ID, with ``None`` for the zone of the schedule, or a mapping from some
        IDs to their zones; up to 600 zones among 65,536 IDs, fewer with many kinds.

        ``columns`` names the columns to return. Default: ``DEFAULT_COLUMNS``, which
        rows need. The last runs are returned only on request:
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
        """Assign packed IDs without an object for each: bytes in, arrays out.

        Pass either ``uuids``, 16 bytes each, end to end (a million may be one ``bytes``), or
        ``integers``, an ``array("q")``. Use this for IDs that already are packed: from a
        binary column of a database, from numpy, from a file. ``columns`` names the columns to
        return, such as ``["next_run_unix_millis"]``: fewer columns are faster. Default: all
        except ``last_run_unix_millis``. Time zones by ID are packed too: ``time_zones`` has each
        name once, and ``time_zone_indexes``, an ``array("i")``, has for each ID the index of its
        zone there, or -1 for the zone of the schedule. All else is as in :meth:`assign_slots`.
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

        Holds only a few batches in memory, however many IDs there are. Refused IDs are listed
        in the ``errors`` of their batch; their indexes count from the start of the stream, as
        does the ``first_id_index`` of the batch. Without a ``timeout``, the stream may take as
        long as it needs. ``weights`` and ``time_zones`` are read batch by batch, after the IDs.
        ``columns`` is as in :meth:`assign_slots`.
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
        """Say in which slots kinds of job must run so that no two meet on the same ID.

        Pass ``kind_count``, or in ``run_times`` how long a run of each kind takes.
        The answer is relative to ``slot_index``. A schedule that declares ``kinds`` places them
        in the same way. With a calendar, gaps and run budgets are those of the worst change of
        its clocks from 2020 to 2037. With ``kind_conflicts``, pairs of kinds, only these pairs
        must not meet. Two delays are subtracted from the run budgets: ``polling_delay`` is how
        long a due job may wait to be enqueued, and ``slot_job_delay`` how long the job that
        enqueues a slot may wait and run.
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
        """Say whether 2 to 32 jobs of existing schedules are kept apart on each ID.

        It says so only where it is certain. To keep new jobs apart, declare ``kinds`` in one
        schedule.
        """
        return self._ask(compare_schedules(jobs), timeout)
