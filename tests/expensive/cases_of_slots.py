"""The most expensive requests of SlotService that are legal, as far as we know."""

from __future__ import annotations

from measure import Case
from offbeat.v1 import audit_pb2, due_runs_pb2, id_pb2, migration_pb2, slots_pb2
from offbeat.v1.schedule_pb2 import PLACEMENT_FRACTION, TWISTER_PROFILE_PYTHON, Schedule
from offbeat.v1.sql_pb2 import (
    SQL_COLUMN_TYPE_FRACTION,
    SQL_COLUMN_TYPE_TEXT,
    SQL_DIALECT_POSTGRESQL,
    SQL_PARAMETER_STYLE_NAMED,
    SqlTarget,
)
from schedules import (
    DAY,
    IDS,
    LONGEST_PERIOD,
    NOW,
    PRIME,
    decimals,
    excluded,
    exclusions,
    integers,
    long_and_excluded,
    millis,
    schedule,
    seconds,
    skipped,
    skipped_months,
    texts,
    twister,
    uuids,
    windowed,
)


def case(method: str, request: str, message: object, **more: object) -> Case:
    """A case whose message is made only when it is needed."""
    make = lambda: [message().SerializeToString()]  # noqa: E731
    return Case(f"SlotService/{method}", request, make, **more)


def column(kind: int = SQL_COLUMN_TYPE_TEXT, length: int = 120) -> SqlTarget:
    """A column with long names."""
    return SqlTarget(
        dialect=SQL_DIALECT_POSTGRESQL,
        table="t" * length,
        table_alias="a" * length,
        column="n" * length,
        column_type=kind,
        parameter_style=SQL_PARAMETER_STYLE_NAMED,
    )


def assign(schedule: Schedule, **more: object) -> slots_pb2.AssignSlotRequest:
    """One ID."""
    id_ = id_pb2.Id(text="acme")
    return slots_pb2.AssignSlotRequest(schedule=schedule, id=id_, from_time=NOW, **more)


def many(schedule: Schedule, ids: id_pb2.IdBatch, **more: object) -> slots_pb2.AssignSlotsRequest:
    """A batch."""
    return slots_pb2.AssignSlotsRequest(schedule=schedule, ids=ids, from_time=NOW, **more)


def due(
    schedule: Schedule, days: float, ids: id_pb2.IdBatch, **policy: object
) -> due_runs_pb2.ListDueRunsRequest:
    """Due runs of IDs with different watermarks, each about `days` ago."""
    marks = millis(NOW.seconds - days * DAY + at / 100 for at in range(len(ids.integers)))
    return due_runs_pb2.ListDueRunsRequest(
        schedule=schedule,
        ids=ids,
        watermark_unix_millis=marks,
        now_time=NOW,
        catch_up_policy=due_runs_pb2.CatchUpPolicy(horizon=seconds(LONGEST_PERIOD * DAY), **policy),
    )


def migration(old: Schedule, new: Schedule, **more: object) -> migration_pb2.PlanMigrationRequest:
    """A migration from one schedule to another."""
    return migration_pb2.PlanMigrationRequest(
        old_schedule=old, new_schedule=new, cutover_time=NOW, **more
    )


def stream(message: slots_pb2.AssignSlotsRequest, count: int) -> list[bytes]:
    """A stream that sends the same IDs `count` times."""
    first = slots_pb2.StreamSlotAssignmentsRequest(
        schedule=message.schedule, from_time=message.from_time, ids=message.ids
    )
    later = slots_pb2.StreamSlotAssignmentsRequest(ids=message.ids).SerializeToString()
    return [first.SerializeToString(), *[later] * (count - 1)]


def streamed(request: str, message: object, count: int) -> Case:
    """StreamSlotAssignments."""
    make = lambda: stream(message(), count)  # noqa: E731
    return Case("SlotService/StreamSlotAssignments", request, make, streams=(True, True))


#: Cycles are computed 16 at a time; weighted IDs have pieces that are all searched for.
CASES = [
    case(
        "AssignSlot",
        "300 exclusions, weight of 4,096 pieces",
        lambda: assign(excluded(300, slot_count=14_400 // 4, weight_quantum=1), weight=4_096),
    ),
    case(
        "AssignSlot",
        "100 exclusions, 16 pieces of 1,000 runs",
        lambda: assign(
            excluded(100, slot_count=3_600, weight_quantum=1), weight=16, next_run_count=1_000
        ),
    ),
    case(
        "AssignSlot",
        "skipped always, 3,600 pieces",
        lambda: assign(skipped(slot_count=3_600, weight_quantum=1), weight=4_096),
    ),
    case(
        "AssignSlot",
        "skipped always by months, 3,600 pieces",
        lambda: assign(skipped_months(slot_count=3_600, weight_quantum=1), weight=4_096),
    ),
    case(
        "AssignSlot",
        "period of 366 days, 10 exclusions a day",
        lambda: assign(long_and_excluded(10, 366), next_run_count=1_000),
    ),
    case(
        "AssignSlot",
        "366 windows, 1,000 runs, x 32",
        lambda: assign(windowed(), next_run_count=1_000),
        burst=32,
    ),
    case("AssignSlot", "prime period, 524,288 slots, x 100", lambda: assign(PRIME), burst=100),
    case("AssignSlots", "65,536 UUIDs as text, twister", lambda: many(twister(), uuids())),
    case(
        "AssignSlots",
        "65,536 decimals, twister of Python",
        lambda: many(twister(bucket_count=65_536, profile=TWISTER_PROFILE_PYTHON), decimals()),
    ),
    case("AssignSlots", "65,536 texts, 300 exclusions", lambda: many(excluded(300), texts())),
    case(
        "AssignSlots",
        "65,536 integers, skipped always by months",
        lambda: many(skipped_months(), integers()),
    ),
    case(
        "AssignSlots",
        "an ID of 65,536 pieces, 300 exclusions",
        lambda: many(
            schedule(
                period=seconds(1 << 16),
                slot_count=1 << 16,
                weight_quantum=1,
                exclusions=exclusions(300),
            ),
            id_pb2.IdBatch(integers=[1]),
            weights=[1 << 16],
        ),
    ),
    case("AssignSlots", "65,536 integers, 366 windows", lambda: many(windowed(), integers())),
    case(
        "AssignSlots",
        "65,536 integers, period of 3,660 days excluded daily",
        lambda: many(long_and_excluded(), integers()),
    ),
    case(
        "AssignSlots",
        "60,000 refused integers",
        lambda: many(schedule(placement=PLACEMENT_FRACTION), integers(60_000)),
    ),
    streamed("4 messages of 65,536 UUIDs as text, twister", lambda: many(twister(), uuids()), 4),
    streamed(
        "a message of 65,536 integers, skipped always by months",
        lambda: many(skipped_months(), integers()),
        1,
    ),
    streamed("4 messages of 65,536 texts, 300 exclusions", lambda: many(excluded(300), texts()), 4),
    case(
        "ListDueRuns",
        "65,536 watermarks 250 days old, 1 exclusion",
        lambda: due(excluded(1), 250, integers()),
    ),
    case(
        "ListDueRuns",
        "16,384 watermarks 1,000 days old, 1 exclusion",
        lambda: due(excluded(1), 1_000, integers(IDS // 4)),
    ),
    case(
        "ListDueRuns",
        "65,536 watermarks 30 days old, 300 exclusions",
        lambda: due(excluded(300), 30, integers()),
    ),
    case(
        "ListDueRuns",
        "65,536 watermarks 3,000 days old, by the wall clock",
        lambda: due(schedule(calendar=excluded(1).spec.calendar), 3_000, integers()),
    ),
    case(
        "ListDueRuns",
        "all runs of 65,536 IDs, smeared, 300 exclusions",
        lambda: due(
            excluded(300),
            1,
            integers(),
            missed_run_policy=due_runs_pb2.MISSED_RUN_POLICY_RUN_ALL,
            smear_span=seconds(80_000),
        ),
    ),
    case(
        "ListDueRuns",
        "65,536 watermarks 250 days old, skipped always by months",
        lambda: due(skipped_months(), 250, integers()),
    ),
    case(
        "PlanMigration",
        "65,536 IDs, 300 exclusions and 299",
        lambda: migration(excluded(300), excluded(299), ids=texts()),
    ),
    case(
        "PlanMigration",
        "65,536 IDs, skipped always by months, by both",
        lambda: migration(skipped_months(), skipped_months(salt="b"), ids=integers()),
    ),
    case(
        "PlanMigration",
        "SQL, nearly equal periods",
        lambda: migration(
            schedule(period=seconds(86_399), resolution=seconds(1)),
            schedule(),
            min_gap=seconds(43_000),
            sql_target=column(),
        ),
    ),
    case(
        "PlanMigration",
        "SQL, a step for each of 8,192 ticks",
        lambda: migration(
            schedule(salt="a"),
            schedule(salt="b"),
            min_gap=seconds(8_192),
            sql_target=column(length=10),
        ),
    ),
    case(
        "PlanMigration",
        "SQL, fractions, 3,660 days",
        lambda: migration(
            schedule(placement=PLACEMENT_FRACTION, period=seconds(LONGEST_PERIOD * DAY - 1)),
            schedule(placement=PLACEMENT_FRACTION, period=seconds(LONGEST_PERIOD * DAY)),
            min_gap=seconds(LONGEST_PERIOD * DAY // 2),
            sql_target=column(SQL_COLUMN_TYPE_FRACTION),
        ),
    ),
    case(
        "AuditIds",
        "65,536 integers, 2^20 slots",
        lambda: audit_pb2.AuditIdsRequest(
            schedule=schedule(period=seconds(1 << 20), slot_count=1 << 20), ids=integers()
        ),
    ),
    case(
        "AuditIds",
        "65,536 texts, 300 exclusions",
        lambda: audit_pb2.AuditIdsRequest(schedule=excluded(300), ids=texts(), from_time=NOW),
    ),
    case(
        "AuditIds",
        "65,536 integers, skipped always by months",
        lambda: audit_pb2.AuditIdsRequest(schedule=skipped_months(), ids=integers(), from_time=NOW),
    ),
    case(
        "AuditIds",
        "65,536 decimals with weights, twister",
        lambda: audit_pb2.AuditIdsRequest(
            schedule=twister(bucket_count=65_536, slot_count=128, weight_quantum=1),
            ids=decimals(),
            weights=[1] * IDS,
        ),
    ),
]
