"""Valid requests, and the paths of their methods."""

from __future__ import annotations

from google.protobuf.duration_pb2 import Duration
from google.protobuf.field_mask_pb2 import FieldMask
from offbeat.v1 import id_pb2, schedule_pb2
from offbeat.v1 import slots_pb2 as slots
from offbeat.v1 import sql_pb2 as sql

SLOTS = "/offbeat.v1.SlotService/"
ASSIGN_SLOT = SLOTS + "AssignSlot"
ASSIGN_SLOTS = SLOTS + "AssignSlots"
LIST_SLOTS = SLOTS + "ListSlots"
STREAM_SLOTS = SLOTS + "StreamSlotAssignments"
SPREAD = "/offbeat.v1.SpreadService/Spread"
SIMULATE = "/offbeat.v1beta1.SimulationService/Simulate"
PLAN_LANES = "/offbeat.v1beta1.LanePlanningService/PlanLanes"
SUBMIT_GROUPS = "/offbeat.v1.NamedSpreadService/SubmitGroups"
HEALTH = "/grpc.health.v1.Health/Check"

#: The number of IDs in a full batch.
BATCH = 65_536


def schedule(**spec: object) -> schedule_pb2.Schedule:
    """A schedule of one day with 24 slots, unless `spec` says otherwise."""
    spec = {"period": Duration(seconds=86_400), "slot_count": 24, **spec}
    return schedule_pb2.Schedule(spec=schedule_pb2.ScheduleSpec(**spec))


def twister() -> schedule_pb2.Schedule:
    """A schedule with the most expensive placement."""
    return schedule(placement=schedule_pb2.PLACEMENT_TWISTER)


def one_slot(next_runs: int = 1) -> bytes:
    """AssignSlot."""
    request = slots.AssignSlotRequest(
        schedule=schedule(), id=id_pb2.Id(text="acme"), next_run_count=next_runs
    )
    return request.SerializeToString()


def many_slots(count: int = BATCH, twisted: bool = False) -> bytes:
    """AssignSlots: 8 bytes per ID; the answer has 36 bytes per row."""
    ids = id_pb2.IdBatch(integers=range(1 << 40, (1 << 40) + count))
    request = slots.AssignSlotsRequest(schedule=twister() if twisted else schedule(), ids=ids)
    return request.SerializeToString()


def slot_offsets(count: int) -> bytes:
    """AssignSlots: 16 bytes per UUID; the answer has 8 bytes per row."""
    ids = id_pb2.IdBatch(packed_uuids=bytes(range(16)) * count)
    wanted = FieldMask(paths=["slot_offset_ticks"])
    return slots.AssignSlotsRequest(
        schedule=schedule(), ids=ids, read_mask=wanted
    ).SerializeToString()


def listed_slots() -> bytes:
    """ListSlots: some hundred bytes; the answer has 4,096 slots with predicates."""
    column = sql.SqlTarget(
        dialect=sql.SQL_DIALECT_POSTGRESQL,
        table="users",
        column="i" * 120,
        column_type=sql.SQL_COLUMN_TYPE_TEXT,
    )
    request = slots.ListSlotsRequest(
        schedule=schedule(period=Duration(seconds=4_096), slot_count=4_096), sql_target=column
    )
    return request.SerializeToString()
