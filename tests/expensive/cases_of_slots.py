"""The most expensive requests of SlotService that are legal, as far as we know."""

from __future__ import annotations

import itertools

from google.protobuf.timestamp_pb2 import Timestamp
from measure import Case
from offbeat.v1 import audit_pb2, due_runs_pb2, id_pb2, migration_pb2, reciprocal_pb2, slots_pb2
from offbeat.v1.schedule_pb2 import PLACEMENT_FRACTION, TWISTER_PROFILE_PYTHON, Schedule
from offbeat.v1.sql_pb2 import (
    SQL_COLUMN_TYPE_FRACTION,
    SQL_COLUMN_TYPE_TEXT,
    SQL_DIALECT_POSTGRESQL,
    SQL_PARAMETER_STYLE_NAMED,
    SqlColumn,
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

YEAR_1, YEAR_9999 = Timestamp(seconds=-62_135_596_800), Timestamp(seconds=253_402_300_799)


def case(method: str, request: str, message: object, **more: object) -> Case:
    """A request whose message is made when it is needed."""
    make = lambda: [message().SerializeToString()]  # noqa: E731
    return Case(f"SlotService/{method}", request, make, **more)


def column(kind: int = SQL_COLUMN_TYPE_TEXT, length: int = 120) -> SqlColumn:
    """A column with long names."""
    return SqlColumn(
        dialect=SQL_DIALECT_POSTGRESQL,
        table="t" * length,
        table_alias="a" * length,
        name="n" * length,
        type=kind,
        parameter_style=SQL_PARAMETER_STYLE_NAMED,
    )


def assign(schedule: Schedule, **more: object) -> slots_pb2.AssignSlotRequest:
    """One ID."""
    id_ = id_pb2.Id(text="acme")
    return slots_pb2.AssignSlotRequest(schedule=schedule, id=id_, from_time=NOW, **more)


def many(schedule: Schedule, ids: id_pb2.IdColumn, **more: object) -> slots_pb2.AssignSlotsRequest:
    """A batch."""
    return slots_pb2.AssignSlotsRequest(schedule=schedule, ids=ids, from_time=NOW, **more)


def due(
    schedule: Schedule, days: float, ids: id_pb2.IdColumn, **more: object
) -> due_runs_pb2.ListDueRunsRequest:
    """Runs of IDs each of which was last asked about at another time, about so long ago."""
    marks = millis(NOW.seconds - days * DAY + at / 100 for at in range(len(ids.integers)))
    return due_runs_pb2.ListDueRunsRequest(
        schedule=schedule,
        ids=ids,
        watermark_unix_millis=marks,
        now_time=NOW,
        catch_up_horizon=seconds(LONGEST_PERIOD * DAY),
        **more,
    )


def migration(
    old: Schedule, new: Schedule, **more: object
) -> migration_pb2.PlanMigrationRequest:
    """From one schedule to another."""
    return migration_pb2.PlanMigrationRequest(
        old_schedule=old, new_schedule=new, cutover_time=NOW, **more
    )


def reciprocals(**more: object) -> reciprocal_pb2.GetReciprocalSlotsRequest:
    """Of as many slots as can be."""
    more = {"schedule": schedule(period=seconds(1 << 20), slot_count=1 << 20), **more}
    return reciprocal_pb2.GetReciprocalSlotsRequest(**more)


def listed(schedule: Schedule, start: int, end: int, **more: object) -> slots_pb2.ListSlotsRequest:
    """A window."""
    return slots_pb2.ListSlotsRequest(
        schedule=schedule,
        start_time=Timestamp(seconds=start),
        end_time=Timestamp(seconds=end),
        **more,
    )


def described(**spec: object) -> slots_pb2.DescribeScheduleRequest:
    """With the load to expect."""
    population = 1_000_000_000
    return slots_pb2.DescribeScheduleRequest(
        schedule=schedule(**spec), at_time=NOW, population=population
    )


def conflicts() -> list[reciprocal_pb2.KindConflict]:
    """Each of eight kinds with each other."""
    pairs = itertools.combinations(range(8), 2)
    return [
        reciprocal_pb2.KindConflict(first_kind_index=one, second_kind_index=other)
        for one, other in pairs
    ]


def sparse_conflicts() -> list[reciprocal_pb2.KindConflict]:
    """A wheel and its spokes, which leave more to search."""
    rim = [(at, at % 7 + 1) for at in range(1, 8)]
    pairs = sorted({tuple(sorted(pair)) for pair in rim + [(0, at) for at in range(1, 8)]})
    return [
        reciprocal_pb2.KindConflict(first_kind_index=one, second_kind_index=other)
        for one, other in pairs
    ]


def stream(message: slots_pb2.AssignSlotsRequest, count: int) -> list[bytes]:
    """The same IDs again and again."""
    first = slots_pb2.StreamSlotAssignmentsRequest(
        schedule=message.schedule, from_time=message.from_time, ids=message.ids
    )
    later = slots_pb2.StreamSlotAssignmentsRequest(ids=message.ids).SerializeToString()
    return [first.SerializeToString(), *[later] * (count - 1)]


def streamed(request: str, message: object, count: int) -> Case:
    """StreamSlotAssignments."""
    make = lambda: stream(message(), count)  # noqa: E731
    return Case("SlotService/StreamSlotAssignments", request, make, streams=(True, True))


#: 16 cycles are worked out at a time: with weights IDs come in pieces that are all searched for.
CASES = [
    case("AssignSlot", "300 exclusions, weight of 4,096 pieces", lambda: assign(excluded(300, slot_count=14_400 // 4, weight_quantum=1), weight=4_096)),
    case("AssignSlot", "100 exclusions, 16 pieces of 1,000 runs", lambda: assign(excluded(100, slot_count=3_600, weight_quantum=1), weight=16, next_run_count=1_000)),
    case("AssignSlot", "skipped always, 3,600 pieces", lambda: assign(skipped(slot_count=3_600, weight_quantum=1), weight=4_096)),
    case("AssignSlot", "skipped always by months, 1,000 runs", lambda: assign(skipped_months(), next_run_count=1_000), burst=8),
    case("AssignSlot", "period of 366 days, 10 exclusions a day", lambda: assign(long_and_excluded(10, 366), next_run_count=1_000)),
    case("AssignSlot", "366 windows, 1,000 runs, x 32", lambda: assign(windowed(), next_run_count=1_000), burst=32),
    case("AssignSlot", "prime period, 524,288 slots, x 32", lambda: assign(PRIME), burst=32),
    case("AssignSlots", "65,536 UUIDs as text, twister", lambda: many(twister(), uuids())),
    case("AssignSlots", "65,536 decimals, twister of Python", lambda: many(twister(bucket_count=65_536, profile=TWISTER_PROFILE_PYTHON), decimals())),
    case("AssignSlots", "65,536 texts, 300 exclusions", lambda: many(excluded(300), texts())),
    case("AssignSlots", "65,536 integers, skipped always", lambda: many(skipped(), integers())),
    case("AssignSlots", "65,536 integers, skipped always by months", lambda: many(skipped_months(), integers())),
    case("AssignSlots", "an ID of 65,536 pieces, 300 exclusions", lambda: many(schedule(period=seconds(1 << 16), slot_count=1 << 16, weight_quantum=1, exclusions=exclusions(300)), id_pb2.IdColumn(integers=[1]), weights=[1 << 16])),
    case("AssignSlots", "65,536 integers, 366 windows", lambda: many(windowed(), integers())),
    case("AssignSlots", "65,536 integers, period of 3,660 days excluded daily", lambda: many(long_and_excluded(), integers())),
    case("AssignSlots", "60,000 refused integers", lambda: many(schedule(placement=PLACEMENT_FRACTION), integers(60_000))),
    streamed("4 messages of 65,536 UUIDs as text, twister", lambda: many(twister(), uuids()), 4),
    streamed("a message of 65,536 integers, skipped always", lambda: many(skipped(), integers()), 1),
    streamed("4 messages of 65,536 texts, 300 exclusions", lambda: many(excluded(300), texts()), 4),
    case("ListDueRuns", "65,536 watermarks 250 days old, 1 exclusion", lambda: due(excluded(1), 250, integers())),
    case("ListDueRuns", "16,384 watermarks 1,000 days old, 1 exclusion", lambda: due(excluded(1), 1_000, integers(IDS // 4))),
    case("ListDueRuns", "65,536 watermarks 30 days old, 300 exclusions", lambda: due(excluded(300), 30, integers())),
    case("ListDueRuns", "65,536 watermarks 3,000 days old, by the wall clock", lambda: due(schedule(calendar=excluded(1).spec.calendar), 3_000, integers())),
    case("ListDueRuns", "all runs of 65,536 IDs, smeared, 300 exclusions", lambda: due(excluded(300), 1, integers(), missed_run_policy=due_runs_pb2.MISSED_RUN_POLICY_RUN_ALL, smear_span=seconds(80_000))),
    case("ListDueRuns", "65,536 watermarks 250 days old, skipped always", lambda: due(skipped(), 250, integers())),
    case("PlanMigration", "65,536 IDs, 300 exclusions and 299", lambda: migration(excluded(300), excluded(299), ids=texts())),
    case("PlanMigration", "65,536 IDs, skipped always by both", lambda: migration(skipped(), skipped_months(), ids=integers())),
    case("PlanMigration", "SQL, nearly equal periods", lambda: migration(schedule(period=seconds(86_399), resolution=seconds(1)), schedule(), min_gap=seconds(43_000), sql_column=column())),
    case("PlanMigration", "SQL, a step for each of 8,192 ticks", lambda: migration(schedule(salt="a"), schedule(salt="b"), min_gap=seconds(8_192), sql_column=column(length=10))),
    case("PlanMigration", "SQL, fractions, 3,660 days", lambda: migration(schedule(placement=PLACEMENT_FRACTION, period=seconds(LONGEST_PERIOD * DAY - 1)), schedule(placement=PLACEMENT_FRACTION, period=seconds(LONGEST_PERIOD * DAY)), min_gap=seconds(LONGEST_PERIOD * DAY // 2), sql_column=column(SQL_COLUMN_TYPE_FRACTION))),
    case("AuditIds", "65,536 integers, 2^20 slots", lambda: audit_pb2.AuditIdsRequest(schedule=schedule(period=seconds(1 << 20), slot_count=1 << 20), ids=integers())),
    case("AuditIds", "65,536 texts, 300 exclusions", lambda: audit_pb2.AuditIdsRequest(schedule=excluded(300), ids=texts(), from_time=NOW)),
    case("AuditIds", "65,536 integers, skipped always", lambda: audit_pb2.AuditIdsRequest(schedule=skipped(), ids=integers(), from_time=NOW)),
    case("AuditIds", "65,536 decimals with weights, twister", lambda: audit_pb2.AuditIdsRequest(schedule=twister(bucket_count=65_536, slot_count=128, weight_quantum=1), ids=decimals(), weights=[1] * IDS)),
    case("DescribeSchedule", "2^20 slots, 1e9 IDs, x 8", lambda: described(period=seconds(1 << 20), slot_count=1 << 20), burst=8),
    case("DescribeSchedule", "2 slots, 1e9 IDs, x 8", lambda: described(slot_count=2), burst=8),
    case("DescribeSchedule", "3,660 days excluded daily, 1e9 IDs", lambda: described(period=seconds(LONGEST_PERIOD * DAY), slot_count=2, exclusions=exclusions(1)), burst=8),
    case("DescribeSchedule", "366 exclusions, 1e9 IDs", lambda: described(calendar=excluded(1).spec.calendar, exclusions=exclusions(366)), burst=8),
    case("DescribeSchedule", "prime period, 524,288 slots, x 32", lambda: slots_pb2.DescribeScheduleRequest(schedule=PRIME), burst=32),
    case("ListSlots", "4,096 slots with predicates, long names", lambda: listed(schedule(period=seconds(4_096), slot_count=4_096), 0, 4_096, sql_column=column())),
    case("ListSlots", "days of 9,998 years by the wall clock", lambda: slots_pb2.ListSlotsRequest(schedule=schedule(calendar=excluded(1).spec.calendar, slot_count=1), start_time=Timestamp(seconds=YEAR_1.seconds + 400 * DAY), end_time=Timestamp(seconds=YEAR_9999.seconds - 400 * DAY))),
    case("ListSlots", "periods of a millisecond with windows, 9,998 years", lambda: listed(Schedule(spec={"period": seconds(1), "resolution": {"nanos": 1_000_000}, "slot_count": 1, "active_windows": [{"start_offset": {}, "end_offset": {"nanos": 500_000_000}}]}), YEAR_1.seconds + DAY, YEAR_9999.seconds - DAY)),
    case("ListSlots", "4,096 slots with 366 windows each", lambda: listed(windowed(slot_count=1), 0, 4_095 * 366 * DAY)),
    case("ListSlots", "4,096 slots, 300 exclusions, predicates", lambda: listed(excluded(300, slot_count=3_600), NOW.seconds, NOW.seconds + DAY, sql_column=column())),
    case("GetWindowPredicate", "3,660 days excluded daily", lambda: slots_pb2.GetWindowPredicateRequest(schedule=long_and_excluded(), start_time=NOW, end_time=Timestamp(seconds=NOW.seconds + LONGEST_PERIOD * DAY), sql_column=column()), burst=8),
    case("GetWindowPredicate", "366 windows, 10 exclusions a day", lambda: slots_pb2.GetWindowPredicateRequest(schedule=Schedule(spec={**{"period": seconds(366 * DAY), "exclusions": exclusions(10), "active_windows": list(windowed().spec.active_windows)}}), start_time=NOW, end_time=Timestamp(seconds=NOW.seconds + 366 * DAY), sql_column=column()), burst=8),
    case("GetReciprocalSlots", "28 conflicts, 2^20 slots, x 8", lambda: reciprocals(kind_count=8, conflicts=conflicts()), burst=8),
    case("GetReciprocalSlots", "a wheel of conflicts, 2^20 slots, x 8", lambda: reciprocals(kind_count=8, conflicts=sparse_conflicts()), burst=8),
    case("GetReciprocalSlots", "1,000 kinds with run times, x 8", lambda: reciprocals(run_times=[seconds(1_000)] * 1_000), burst=8),
    case("GetReciprocalSlots", "1,000 schedules to compare, x 8", lambda: reciprocals(schedule=schedule(salt="s" * 200), kind_count=1_000, kind_schedules=[schedule(salt="s" * 200)] * 1_000), burst=8),
    case("GetReciprocalSlots", "prime period, 524,288 slots, x 32", lambda: reciprocals(schedule=PRIME, kind_count=2), burst=32),
]
