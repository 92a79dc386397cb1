"""Changing from one schedule to another."""

from __future__ import annotations

import enum
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Generic

from ._fields import set_span, set_time
from ._questions import Question, cut
from ._rows import BadIds, IdError, Rows, composed_run_key, id_errors
from ._weights import PieceLimits
from .ids import IdT, IdT_co, IdType, checked_text
from .runs import DEFAULT_KIND, Run
from .schedule import AnySchedule, schedule_message
from .sql import SqlIndex, SqlPredicate, SqlTarget
from .times import from_optional_duration, from_timestamp, from_unix_millis
from .v1 import migration_pb2 as pb


class MigrationPath(enum.IntEnum):
    """What a change of schedule moves."""

    #: Both schedules mean the same: no ID moves.
    UNCHANGED = 1
    #: Only the slot count differs: every ID keeps its time.
    SAME_TIMES = 2
    #: The cycle differs: each ID keeps its share of the cycle, and so the IDs keep their order.
    SAME_ORDER = 3
    #: The new places of IDs have nothing to do with the old ones.
    NEW_PLACES = 4


@dataclass(frozen=True)
class MigratedId(Generic[IdT_co]):
    """An ID that changes its schedule."""

    id: IdT_co
    last_old_run: Run[IdT_co]
    first_new_run: Run[IdT_co]

    @property
    def last_old_time(self) -> datetime:
        """When the old schedule runs the ID for the last time."""
        return self.last_old_run.start_time

    @property
    def first_new_time(self) -> datetime:
        """When the new schedule runs the ID for the first time."""
        return self.first_new_run.start_time

    @property
    def gap(self) -> timedelta:
        """From the last old to the first new run."""
        return self.first_new_time - self.last_old_time


@dataclass(frozen=True)
class MigratedIds(Rows[MigratedId[IdT_co]], Generic[IdT_co]):
    """IDs that change their schedule: a sequence of rows, and the columns they come from.

    A refused ID has -1 in all columns and an entry in ``errors``; its row raises
    ``LookupError``, and :meth:`accepted` skips it.
    """

    ids: list[IdT_co] = field(repr=False)
    #: Last old runs, in milliseconds since the Unix epoch.
    last_old_unix_millis: array[int] = field(repr=False)
    last_old_cycle_indexes: array[int] = field(repr=False)
    #: First new runs, in milliseconds since the Unix epoch.
    first_new_unix_millis: array[int] = field(repr=False)
    first_new_cycle_indexes: array[int] = field(repr=False)
    #: IDs whose first new run is not when the old schedule would have run them next.
    moved_id_count: int
    #: The same as a share of the IDs that were not refused: 0 to 1.
    moved_ratio: float
    #: Shortest time from the last old to the first new run of an ID; ``None`` if all were refused.
    observed_min_gap: timedelta | None
    #: Longest time from the last old to the first new run of an ID; ``None`` if all were refused.
    observed_max_gap: timedelta | None
    #: New runs left out because they came within ``min_gap`` of an old one.
    left_out_run_count: int
    #: Prefix of the old run keys.
    old_run_key_prefix: str
    #: Prefix of the new run keys.
    new_run_key_prefix: str
    #: The refused IDs.
    errors: tuple[IdError, ...] = ()
    #: The type that IDs given as ``str`` stand for.
    id_type: IdType | None = None
    #: The kind of job; ``"default"`` if none was named.
    kind: str = DEFAULT_KIND

    def __len__(self) -> int:
        return len(self.ids)

    def accepted(self) -> Iterator[MigratedId[IdT_co]]:
        """Yield the rows of the IDs that were not refused."""
        refused = {error.id_index for error in self.errors}
        return (self._made(position) for position in range(len(self)) if position not in refused)

    def _row(self, position: int) -> MigratedId[IdT_co]:
        # Refused IDs have -1 as their times, but so may runs before the epoch.
        if self.last_old_unix_millis[position] == -1 and any(
            error.id_index == position for error in self.errors
        ):
            raise LookupError(f"ids[{position}] was refused: see errors")
        return self._made(position)

    def _made(self, position: int) -> MigratedId[IdT_co]:
        value = self.ids[position]

        def run(unix_millis: int, cycle_index: int, prefix: str) -> Run[IdT_co]:
            start_time = from_unix_millis(unix_millis)
            return Run(
                id=value,
                kind=self.kind,
                piece_index=0,
                cycle_index=cycle_index,
                scheduled_time=start_time,
                start_time=start_time,
                run_key=composed_run_key(prefix, cycle_index, 0, value, self.id_type),
            )

        return MigratedId(
            id=value,
            last_old_run=run(
                self.last_old_unix_millis[position],
                self.last_old_cycle_indexes[position],
                self.old_run_key_prefix,
            ),
            first_new_run=run(
                self.first_new_unix_millis[position],
                self.first_new_cycle_indexes[position],
                self.new_run_key_prefix,
            ),
        )


@dataclass(frozen=True)
class MigrationStep:
    """What to enqueue in a span of time: the rows that the predicate selects, once."""

    start_time: datetime
    end_time: datetime
    #: Whether the new schedule runs them.
    by_new_schedule: bool
    predicate: SqlPredicate


@dataclass(frozen=True)
class MigrationPlan(Generic[IdT_co]):
    """How to change from the old schedule to the new one."""

    #: Fingerprint of the old schedule.
    old_fingerprint: str
    #: Fingerprint of the new schedule.
    new_fingerprint: str
    cutover_time: datetime
    #: What the change moves.
    path: MigrationPath
    #: A cheaper way to the same end, in a sentence; empty if there is none.
    advice: str
    #: No ID waits longer than this from its last old to its first new run; ``None``
    #: with exclusions, which may skip any run.
    max_gap_bound: timedelta | None
    #: The IDs of the call; ``None`` if it had none.
    ids: MigratedIds[IdT_co] | None
    #: What to enqueue around the cutover; only if a ``sql_target`` was given.
    steps: tuple[MigrationStep, ...]
    #: The indexes that serve the steps: that of the old schedule, and that of the new one.
    sql_indexes: tuple[SqlIndex, ...]


def plan_migration(
    old_schedule: AnySchedule,
    new_schedule: AnySchedule,
    ids: Iterable[IdT],
    cutover_time: datetime | None,
    min_gap: timedelta | None,
    kind: str,
    id_type: IdType | None,
    sql_target: SqlTarget | None,
    return_errors: bool,
) -> Question[MigrationPlan[IdT]]:
    """Ask how to change schedules, batch by batch, with the cutover of the first batch for all."""
    request = pb.PlanMigrationRequest(
        old_schedule=schedule_message(old_schedule, "old_schedule"),
        new_schedule=schedule_message(new_schedule, "new_schedule"),
        kind=checked_text("kind", kind),
    )
    set_time(request, "", "cutover_time", cutover_time)
    set_span(request, "", "min_gap", min_gap)
    if sql_target is not None:
        request.sql_target.CopyFrom(sql_target.to_message())
    values: list[IdT] = []
    responses: list[pb.PlanMigrationResponse] = []
    errors: tuple[IdError, ...] = ()
    for batch in cut(ids, id_type, None, PieceLimits(), None):
        request.ids.CopyFrom(batch.column())
        response: pb.PlanMigrationResponse = yield "PlanMigration", request
        errors += id_errors(response.ids.errors, len(values))
        values.extend(batch.ids)
        responses.append(response)
        request.cutover_time.CopyFrom(response.cutover_time)
        request.ClearField("sql_target")  # one plan in SQL applies to all batches
    if not responses:
        responses.append((yield "PlanMigration", request))
    parts = [response.ids for response in responses]
    plan = _plan(responses[0], _migrated(values, parts, errors, id_type, kind) if values else None)
    if errors and not return_errors:
        raise BadIds(plan, errors)
    return plan


def _plan(message: pb.PlanMigrationResponse, ids: MigratedIds[IdT] | None) -> MigrationPlan[IdT]:
    indexes = message.sql_indexes  # only one if both schedules have the same index
    return MigrationPlan(
        old_fingerprint=message.old_identity.fingerprint,
        new_fingerprint=message.new_identity.fingerprint,
        cutover_time=from_timestamp(message.cutover_time),
        path=MigrationPath(message.path),
        advice=message.advice,
        max_gap_bound=from_optional_duration(message, "max_gap_bound"),
        ids=ids,
        steps=tuple(
            MigrationStep(
                start_time=from_timestamp(step.start_time),
                end_time=from_timestamp(step.end_time),
                by_new_schedule=step.by_new_schedule,
                predicate=SqlPredicate.from_message(
                    step.predicate, indexes[-1 if step.by_new_schedule else 0]
                ),
            )
            for step in message.steps
        ),
        sql_indexes=tuple(map(SqlIndex.from_message, indexes)),
    )


def _migrated(
    values: list[IdT],
    parts: list[pb.MigratedIds],
    errors: tuple[IdError, ...],
    id_type: IdType | None,
    kind: str,
) -> MigratedIds[IdT]:
    """Combine the answers to the batches."""

    def column(name: str) -> array[int]:
        return array("q", [value for part in parts for value in getattr(part, name)])

    gaps = [from_optional_duration(part, "observed_min_gap") for part in parts]
    longest = [from_optional_duration(part, "observed_max_gap") for part in parts]
    moved_id_count = sum(part.moved_id_count for part in parts)
    return MigratedIds(
        ids=values,
        last_old_unix_millis=column("last_old_unix_millis"),
        last_old_cycle_indexes=column("last_old_cycle_indexes"),
        first_new_unix_millis=column("first_new_unix_millis"),
        first_new_cycle_indexes=column("first_new_cycle_indexes"),
        moved_id_count=moved_id_count,
        moved_ratio=moved_id_count / max(len(values) - len(errors), 1),
        observed_min_gap=min((gap for gap in gaps if gap is not None), default=None),
        observed_max_gap=max((gap for gap in longest if gap is not None), default=None),
        left_out_run_count=sum(part.left_out_run_count for part in parts),
        old_run_key_prefix=parts[0].old_run_key_prefix,
        new_run_key_prefix=parts[0].new_run_key_prefix,
        errors=errors,
        id_type=id_type,
        kind=kind or DEFAULT_KIND,
    )
