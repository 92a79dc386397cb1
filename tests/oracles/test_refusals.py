"""Invalid requests are refused with a message, and endless ones are refused soon."""

from __future__ import annotations

import math
import random
import time

import grpc
from cases import a_case, duration, instant
from conftest import Cases, asked
from offbeat.v1 import audit_pb2, due_runs_pb2, migration_pb2, reciprocal_pb2, slots_pb2
from offbeat.v1 import schedule_pb2 as schedules
from offbeat.v1.slots_pb2_grpc import SlotServiceStub

METHODS = {
    "AssignSlot": slots_pb2.AssignSlotRequest,
    "AssignSlots": slots_pb2.AssignSlotsRequest,
    "AuditIds": audit_pb2.AuditIdsRequest,
    "DescribeSchedule": slots_pb2.DescribeScheduleRequest,
    "GetReciprocalSlots": reciprocal_pb2.GetReciprocalSlotsRequest,
    "GetWindowPredicate": slots_pb2.GetWindowPredicateRequest,
    "ListDueRuns": due_runs_pb2.ListDueRunsRequest,
    "ListSlots": slots_pb2.ListSlotsRequest,
    "PlanMigration": migration_pb2.PlanMigrationRequest,
}
SMALL = [
    0,
    1,
    -1,
    2,
    7,
    256,
    1_000,
    4_096,
    4_097,
    65_536,
    1 << 20,
    (1 << 20) + 1,
    2**31 - 1,
    -(2**31),
]
LARGE = [*SMALL, 2**53, 2**53 + 1, 2**63 - 1, -(2**63), 86_400, 316_224_000, 316_224_001]
SECONDS = [*LARGE, 253_402_300_799, 253_402_300_800, -62_135_596_800, -62_135_596_801]
NANOS = [0, 0, 0, 0, 1, 10**6, 10**9 - 1, -1, 10**9]
TEXTS = ["", "Europe/Berlin", "utc", "Europe/Atlantis", "x" * 300, "a/b", "42", "\0", str(2**128)]
DOUBLES = [0.0, -0.0, 0.5, 1.0, math.nextafter(1, 0), math.nan, math.inf, -1.0, 5e-324, 1e300]


def fill(rng: random.Random, message, share: float, depth: int = 0) -> None:
    """Sets about this share of the fields to values at or beyond their limits."""
    for field in message.DESCRIPTOR.fields:
        if rng.random() > share or depth > 6:
            continue
        for _ in range(rng.choice([0, 1, 1, 3]) if field.is_repeated else 1):
            if field.message_type:
                one = getattr(message, field.name)
                one = one.add() if field.is_repeated else one
                name = field.message_type.full_name
                if name in ("google.protobuf.Duration", "google.protobuf.Timestamp"):
                    one.seconds, one.nanos = rng.choice(SECONDS), rng.choice(NANOS)
                else:
                    one.SetInParent()
                    fill(rng, one, max(share, 0.5) if "Schedule" in name else share, depth + 1)
                continue
            if field.type == field.TYPE_STRING:
                value = rng.choice(TEXTS)
            elif field.type == field.TYPE_BYTES:
                value = rng.choice([b"", b"x" * 16, b"y" * 15, bytes(48)])
            elif field.type == field.TYPE_DOUBLE:
                value = rng.choice(DOUBLES)
            elif field.type == field.TYPE_BOOL:
                value = rng.random() < 0.5
            elif field.type in (field.TYPE_INT64, field.TYPE_SFIXED64, field.TYPE_SINT64):
                value = rng.choice(LARGE)
            else:
                value = rng.choice(SMALL)
            if field.is_repeated:
                getattr(message, field.name).append(value)
            else:
                setattr(message, field.name, value)


def test_nonsense_is_refused_with_a_word(stub: SlotServiceStub, cases: Cases) -> None:
    allowed = (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.NOT_FOUND)

    def check(rng: random.Random) -> None:
        name = rng.choice(list(METHODS))
        request = METHODS[name]()
        fill(rng, request, rng.choice([0.2, 0.5, 0.9]))
        if rng.random() < 0.6:
            for field in request.DESCRIPTOR.fields:
                if field.message_type and field.message_type.name == "Schedule":
                    if not field.is_repeated:
                        getattr(request, field.name).CopyFrom(a_case(rng).schedule)
                elif field.name == "ids" and rng.random() < 0.9:
                    request.ids.Clear()
                    request.ids.integers.extend([1, 2, 3, -5])
        _, refused = asked(getattr(stub, name), request)
        if refused:
            assert refused.code() in allowed, f"{name} {request}"
            assert 10 < len(refused.details()) < 1_500

    cases(check)


def excluded_daily(millis: int) -> list[schedules.Exclusion]:
    window = schedules.CycleWindow(start_offset=duration(0), end_offset=duration(millis))
    calendar = schedules.CalendarCycle(unit=1, time_zone="Africa/Cairo")
    recurring = schedules.RecurringExclusion(calendar=calendar, window=window)
    return [schedules.Exclusion(recurring=recurring, policy=1)]


def test_what_would_take_forever_is_refused_soon(stub: SlotServiceStub) -> None:
    """Ten years of a daily exclusion would be evaluated for each of very many IDs or pieces."""
    spec = schedules.ScheduleSpec(
        period=duration(3_660 * 86_400_000),
        slot_count=3_200,
        exclusions=excluded_daily(86_399_000),
        weight_quantum=1,
    )
    schedule = schedules.Schedule(spec=spec)
    now = instant(1_767_225_600_000)
    ids = {"integers": range(3_000)}
    requests = {
        "AssignSlot": slots_pb2.AssignSlotRequest(
            schedule=schedule, id={"integer": 5}, from_time=now, weight=2**53
        ),
        "PlanMigration": migration_pb2.PlanMigrationRequest(
            old_schedule=schedule, new_schedule=schedule, cutover_time=now, ids=ids
        ),
    }
    # Overlapping ones, a hundred in each day of eight thousand years.
    many = [one for at in range(100) for one in excluded_daily(3_600_000 + at)]
    monthly = schedules.CalendarCycle(unit=3, time_zone="Africa/Casablanca")
    months = schedules.ScheduleSpec(
        calendar=monthly, slot_count=1, resolution=duration(1), exclusions=many
    )
    requests["ListDueRuns"] = due_runs_pb2.ListDueRunsRequest(
        schedule=schedules.Schedule(spec=months),
        ids={"integers": [5]},
        watermark_time=instant(-60_000_000_000_000),
        now_time=instant(200_000_000_000_000),
    )
    for name, request in requests.items():
        started = time.monotonic()
        _, refused = asked(getattr(stub, name), request)
        assert refused, name
        assert refused.code() == grpc.StatusCode.INVALID_ARGUMENT, f"{name}: {refused}"
        most = "16777216" if name == "ListDueRuns" else "2097152"
        assert most in refused.details()
        assert time.monotonic() - started < 20


def test_an_id_that_never_runs_cannot_migrate(stub: SlotServiceStub) -> None:
    """Such an ID is in the errors, and in no figure."""
    spec = schedules.ScheduleSpec(
        period=duration(86_400_000), exclusions=excluded_daily(43_200_000)
    )
    never = schedules.Schedule(spec=spec)
    always = schedules.Schedule(spec=schedules.ScheduleSpec(period=duration(86_400_000)))
    for old, new in [(never, always), (always, never)]:
        answer = stub.PlanMigration(
            migration_pb2.PlanMigrationRequest(
                old_schedule=old,
                new_schedule=new,
                cutover_time=instant(1_767_225_600_000),
                ids={"integers": range(100)},
            )
        ).ids
        refused = [error.id_index for error in answer.errors]
        without = [row for row, at in enumerate(answer.first_new_unix_millis) if at == -1]
        assert refused == without
        assert 20 < len(refused) < 80
