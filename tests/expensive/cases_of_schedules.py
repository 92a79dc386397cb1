"""The most expensive requests of SlotService about schedules, without IDs."""

from __future__ import annotations

import itertools

from cases_of_slots import case, column
from google.protobuf.timestamp_pb2 import Timestamp
from offbeat.v1 import due_runs_pb2, id_pb2, reciprocal_pb2, schedule_pb2, slots_pb2
from offbeat.v1.schedule_pb2 import Schedule
from schedules import (
    DAY,
    LONGEST_PERIOD,
    NOW,
    PRIME,
    excluded,
    exclusions,
    long_and_excluded,
    schedule,
    seconds,
    windowed,
)

YEAR_1, YEAR_9999 = Timestamp(seconds=-62_135_596_800), Timestamp(seconds=253_402_300_799)


def reciprocals(**more: object) -> reciprocal_pb2.GetReciprocalSlotsRequest:
    """Reciprocals among as many slots as possible."""
    more = {"schedule": schedule(period=seconds(1 << 20), slot_count=1 << 20), **more}
    return reciprocal_pb2.GetReciprocalSlotsRequest(**more)


def listed(schedule: Schedule, start: int, end: int, **more: object) -> slots_pb2.ListSlotsRequest:
    return slots_pb2.ListSlotsRequest(
        schedule=schedule,
        start_time=Timestamp(seconds=start),
        end_time=Timestamp(seconds=end),
        **more,
    )


def described(**spec: object) -> slots_pb2.DescribeScheduleRequest:
    """A description with the expected load."""
    population = 1_000_000_000
    return slots_pb2.DescribeScheduleRequest(
        schedule=schedule(**spec), at_time=NOW, population=population
    )


def conflicts() -> list[reciprocal_pb2.KindIndexConflict]:
    """Every pair of eight kinds."""
    pairs = itertools.combinations(range(8), 2)
    return [
        reciprocal_pb2.KindIndexConflict(first_kind_index=one, second_kind_index=other)
        for one, other in pairs
    ]


def sparse_conflicts() -> list[reciprocal_pb2.KindIndexConflict]:
    """A wheel with spokes, whose conflicts leave more to search."""
    rim = [(at, at % 7 + 1) for at in range(1, 8)]
    pairs = sorted({tuple(sorted(pair)) for pair in rim + [(0, at) for at in range(1, 8)]})
    return [
        reciprocal_pb2.KindIndexConflict(first_kind_index=one, second_kind_index=other)
        for one, other in pairs
    ]


#: The gaps of the kinds differ, and each is searched for in the months of 18 years.
MONTHS_OF_KINDS = Schedule(
    spec=schedule_pb2.ScheduleSpec(
        calendar=schedule_pb2.CalendarCycle(
            unit=schedule_pb2.CALENDAR_UNIT_MONTH, time_zone="Europe/Berlin"
        ),
        slot_count=86_400,
        kinds=[
            schedule_pb2.Kind(name=f"k{kind}", run_time=seconds(28 * (kind + 1)))
            for kind in range(30)
        ],
    )
)

CASES = [
    case(
        "DescribeSchedule",
        "2^20 slots, 1e9 IDs, x 8",
        lambda: described(period=seconds(1 << 20), slot_count=1 << 20),
        burst=8,
    ),
    case("DescribeSchedule", "2 slots, 1e9 IDs, x 8", lambda: described(slot_count=2), burst=8),
    case(
        "DescribeSchedule",
        "3,660 days excluded daily, 1e9 IDs",
        lambda: described(
            period=seconds(LONGEST_PERIOD * DAY), slot_count=2, exclusions=exclusions(1)
        ),
        burst=8,
    ),
    case(
        "DescribeSchedule",
        "366 exclusions, 1e9 IDs",
        lambda: described(calendar=excluded(1).spec.calendar, exclusions=exclusions(366)),
        burst=8,
    ),
    case(
        "DescribeSchedule",
        "prime period, 524,288 slots, x 32",
        lambda: slots_pb2.DescribeScheduleRequest(schedule=PRIME),
        burst=32,
    ),
    case(
        "ListSlots",
        "4,096 slots with predicates, long names",
        lambda: listed(
            schedule(period=seconds(4_096), slot_count=4_096), 0, 4_096, sql_target=column()
        ),
    ),
    case(
        "ListSlots",
        "days of 9,998 years by the wall clock",
        lambda: slots_pb2.ListSlotsRequest(
            schedule=schedule(calendar=excluded(1).spec.calendar, slot_count=1),
            start_time=Timestamp(seconds=YEAR_1.seconds + 400 * DAY),
            end_time=Timestamp(seconds=YEAR_9999.seconds - 400 * DAY),
        ),
    ),
    case(
        "ListSlots",
        "periods of a millisecond with windows, 9,998 years",
        lambda: listed(
            Schedule(
                spec={
                    "period": seconds(1),
                    "resolution": {"nanos": 1_000_000},
                    "slot_count": 1,
                    "active_windows": [{"start_offset": {}, "end_offset": {"nanos": 500_000_000}}],
                }
            ),
            YEAR_1.seconds + DAY,
            YEAR_9999.seconds - DAY,
        ),
    ),
    case(
        "ListSlots",
        "4,096 slots with 366 windows each",
        lambda: listed(windowed(slot_count=1), 0, 4_095 * 366 * DAY),
    ),
    case(
        "ListSlots",
        "4,096 slots, 300 exclusions, predicates",
        lambda: listed(
            excluded(300, slot_count=3_600), NOW.seconds, NOW.seconds + DAY, sql_target=column()
        ),
    ),
    case(
        "GetWindowPredicate",
        "3,660 days excluded daily",
        lambda: slots_pb2.GetWindowPredicateRequest(
            schedule=long_and_excluded(),
            start_time=NOW,
            end_time=Timestamp(seconds=NOW.seconds + LONGEST_PERIOD * DAY),
            sql_target=column(),
        ),
        burst=8,
    ),
    case(
        "GetWindowPredicate",
        "366 windows, 10 exclusions a day",
        lambda: slots_pb2.GetWindowPredicateRequest(
            schedule=Schedule(
                spec={
                    **{
                        "period": seconds(366 * DAY),
                        "exclusions": exclusions(10),
                        "active_windows": list(windowed().spec.active_windows),
                    }
                }
            ),
            start_time=NOW,
            end_time=Timestamp(seconds=NOW.seconds + 366 * DAY),
            sql_target=column(),
        ),
        burst=8,
    ),
    case(
        "GetReciprocalSlots",
        "28 conflicts, 2^20 slots, x 8",
        lambda: reciprocals(kind_count=8, kind_conflicts=conflicts()),
        burst=8,
    ),
    case(
        "GetReciprocalSlots",
        "a wheel of conflicts, 2^20 slots, x 8",
        lambda: reciprocals(kind_count=8, kind_conflicts=sparse_conflicts()),
        burst=8,
    ),
    case(
        "GetReciprocalSlots",
        "1,000 kinds with run times, x 8",
        lambda: reciprocals(run_times=[seconds(1_000)] * 1_000),
        burst=8,
    ),
    case(
        "ListSchedules",
        "all that are loaded",
        lambda: slots_pb2.ListSchedulesRequest(page_size=1_000),
        burst=8,
    ),
    case(
        "CompareSchedules",
        "30 jobs by the months of a clock, x 2",
        lambda: reciprocal_pb2.CompareSchedulesRequest(
            jobs=[
                reciprocal_pb2.ComparedJob(schedule=MONTHS_OF_KINDS, kind=f"k{kind}")
                for kind in range(30)
            ]
        ),
        burst=2,
    ),
    case(
        "AssignSlot",
        "a month of 30 kinds with gaps of 30 lengths, x 8",
        lambda: slots_pb2.AssignSlotRequest(
            schedule=MONTHS_OF_KINDS, kind="k9", id=id_pb2.Id(text="x")
        ),
        burst=8,
    ),
    case(
        "ListDueRuns",
        "4,000 IDs of 30 kinds that were late, in turns",
        lambda: due_runs_pb2.ListDueRunsRequest(
            schedule=MONTHS_OF_KINDS,
            kind="k9",
            ids=id_pb2.IdBatch(integers=range(4_000)),
            watermark_time=Timestamp(seconds=NOW.seconds - 40 * DAY),
            now_time=NOW,
            catch_up_policy=due_runs_pb2.CatchUpPolicy(horizon=seconds(60 * DAY)),
        ),
        burst=1,
    ),
    case(
        "GetReciprocalSlots",
        "prime period, 524,288 slots, x 100",
        lambda: reciprocals(schedule=PRIME, kind_count=2),
        burst=100,
    ),
]
