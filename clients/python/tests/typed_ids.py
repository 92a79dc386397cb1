"""For mypy alone: the IDs of an answer have the type of those of its question."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any, Union
from uuid import UUID

import offbeat
from offbeat import AsyncClient, Client, IdValue, Row, Run, Schedule, SlotAssignments

if TYPE_CHECKING:
    from typing_extensions import assert_type


def many(client: Client, schedule: Schedule, ids: list[UUID], zones: dict[UUID, str]) -> None:
    rows = client.assign_slots(schedule, ids, time_zones=zones)
    assert_type(rows, SlotAssignments[UUID])
    assert_type(rows.ids, list[UUID])
    assert_type(rows[0], Row[UUID])
    assert_type(rows[0].id, UUID)
    assert_type(rows[0].next_run.id, UUID)
    assert_type([row.id.hex for row in rows], list[str])
    assert_type([row.id for row in rows.accepted()], list[UUID])
    assert_type(rows[1:], list[Row[UUID]])
    assert_type(rows[0].last_run_time, Union[datetime, None])


def other_types(client: Client, schedule: Schedule) -> None:
    assert_type(client.assign_slots(schedule, ["a", "b"])[0].id, str)
    assert_type(client.assign_slots(schedule, range(9))[0].id, int)
    assert_type(client.assign_slots(schedule, (n / 9 for n in range(9)))[0].id, float)
    either: list[UUID | str] = ["a"]
    assert_type(client.assign_slots(schedule, either)[0].id, Union[UUID, str])
    anything: list[IdValue] = ["a"]
    assert_type(client.assign_slots(schedule, anything)[0].id, IdValue)
    client.assign_slots(schedule, [b"a"])  # type: ignore[type-var]
    client.assign_slots(schedule, [None])  # type: ignore[type-var]
    client.assign_slot(schedule, b"a")  # type: ignore[type-var]
    client.assign_slots(schedule, [UUID(int=1)], time_zones={1: "UTC"})  # type: ignore[misc]


def one(client: Client, schedule: Schedule, id_value: UUID) -> None:
    assignment = client.assign_slot(schedule, id_value)
    assert_type(assignment.id, UUID)
    assert_type(assignment.next_run.id, UUID)
    assert_type(assignment.pieces[0].next_runs[0].id, UUID)
    assert_type(client.assign_slot(schedule, "acme").id, str)


def due(client: Client, schedule: Schedule, ids: Iterator[UUID], mark: datetime) -> None:
    runs = client.list_due_runs(schedule, ids, watermark=mark)
    assert_type(runs.ids, list[UUID])
    assert_type([run.id for run in runs], list[UUID])


def stream(client: Client, schedule: Schedule, ids: Iterator[UUID]) -> None:
    for rows in client.stream_slot_assignments(schedule, ids):
        assert_type(rows, SlotAssignments[UUID])
        assert_type(rows[0].id, UUID)


def migration(client: Client, old: Schedule, new: Schedule, ids: list[UUID]) -> None:
    plan = client.plan_migration(old, new, ids)
    if plan.ids is not None:
        assert_type(plan.ids[0].id, UUID)
        assert_type(plan.ids[0].last_old_run.id, UUID)
        assert_type([row.first_new_run for row in plan.ids.accepted()], list[Run[UUID]])
    assert_type(client.plan_migration(old, new).path, offbeat.MigrationPath)


async def asynchronous(
    client: AsyncClient, schedule: Schedule, ids: AsyncIterator[UUID], mark: datetime
) -> None:
    assert_type((await client.assign_slots(schedule, ids))[0].id, UUID)
    assert_type((await client.assign_slots(schedule, ["a"]))[0].id, str)
    assert_type((await client.assign_slot(schedule, 7)).id, int)
    assert_type((await client.list_due_runs(schedule, [7], watermark=mark))[0].id, int)
    async for rows in client.stream_slot_assignments(schedule, ids):
        assert_type(rows[0].id, UUID)
    plan = await client.plan_migration(schedule, schedule, [7])
    if plan.ids is not None:
        assert_type(plan.ids[0].id, int)


def enqueue(run: Run) -> IdValue:
    """Take a run of any ID: its type may be left out."""
    assert_type(run.id, IdValue)
    return run.id


def passes(client: Client, schedule: Schedule, ids: list[UUID]) -> Any:
    rows = client.assign_slots(schedule, ids)
    enqueue(rows[0].next_run)
    anything: SlotAssignments = rows
    return anything, offbeat.LatenessRecorder().record("a/1", rows[0])


def names() -> None:
    Schedule(slot_count=96)
    Schedule(None, 96)  # type: ignore[call-arg]
    offbeat.LanePrediction(0.5)  # type: ignore[call-arg]
    offbeat.SpreadLimits(5)  # type: ignore[call-arg]
