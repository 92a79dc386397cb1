"""Schedules by name, and the parts of a schedule."""

from __future__ import annotations

import asyncio
from datetime import datetime, time, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

import offbeat
from offbeat import (
    CalendarCycle,
    CalendarUnit,
    CycleWindow,
    DatedExclusion,
    ExclusionPolicy,
    Kind,
    KindSpacing,
    RecurringExclusion,
    Schedule,
    ScheduleReference,
)

NOON = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
EIGHT_HOURS = Schedule(timedelta(hours=8))
NAMED = ScheduleReference("bank-sync", 1)
COLUMN = offbeat.SqlTarget(
    offbeat.SqlDialect.SQLITE, "account", "hash", offbeat.SqlColumnType.HASH_DIGITS
)
BERLIN = CalendarCycle(CalendarUnit.DAY, "Europe/Berlin")
HOURS = timedelta(hours=1)


@pytest.mark.parametrize(
    "ask",
    [
        lambda client, schedule: client.describe_schedule(schedule, at_time=NOON).canonical_text,
        lambda client, schedule: client.list_slots(schedule, start_time=NOON),
        lambda client, schedule: client.window_predicate(
            schedule, COLUMN, start_time=NOON, end_time=NOON + timedelta(minutes=1)
        ),
        lambda client, schedule: client.assign_slot(schedule, "acme", from_time=NOON).cycle_offset,
        lambda client, schedule: (
            client.assign_slots(schedule, range(99), from_time=NOON).slot_indexes
        ),
        lambda client, schedule: [
            answer.slot_indexes
            for answer in client.stream_slot_assignments(schedule, range(99), from_time=NOON)
        ],
        lambda client, schedule: client.reciprocal_slots(schedule, kind_count=3),
    ],
)
def test_a_name_stands_for_its_schedule_everywhere(client, ask):
    assert ask(client, NAMED) == ask(client, EIGHT_HOURS)
    assert ask(client, "bank-sync/1") == ask(client, EIGHT_HOURS)


def test_the_name_is_at_the_head_of_run_keys(client):
    described = client.describe_schedule(NAMED)
    assert described.run_key_root == "bank-sync/1"
    assert described.fingerprint == client.describe_schedule(EIGHT_HOURS).fingerprint
    run = client.assign_slot(NAMED, "acme", from_time=NOON, kind="sync").next_run
    assert run.run_key == f"bank-sync/1/sync/{run.cycle_index}/0/acme"
    assert client.assign_slots(NAMED, ["acme"], from_time=NOON, kind="sync").run_key(0) == (
        run.run_key
    )


def test_asyncio_takes_names_too(client):
    async def slots():
        async with offbeat.AsyncClient() as asyncio_client:
            one = await asyncio_client.assign_slot(NAMED, "acme", from_time=NOON)
            many = await asyncio_client.assign_slots(NAMED, ["acme"], from_time=NOON)
            return one, many

    assert asyncio.run(slots()) == (
        client.assign_slot(NAMED, "acme", from_time=NOON),
        client.assign_slots(NAMED, ["acme"], from_time=NOON),
    )


def test_a_name_that_is_not_loaded_is_not_found(client):
    with pytest.raises(offbeat.NotFound) as caught:
        client.assign_slot(ScheduleReference("bank-sync", 9), "acme")
    assert caught.value.reason == "ERROR_REASON_UNKNOWN_SCHEDULE"
    assert caught.value.field == "schedule.reference"


@pytest.mark.parametrize(
    ("schedule", "field"),
    [
        (ScheduleReference("bank/sync", 1), "schedule.reference.name"),
        (ScheduleReference("bank-sync", 0), "schedule.reference.version"),
        (ScheduleReference("bank-sync", "1"), "schedule.reference.version"),
        (ScheduleReference("bank-sync", 2**40), "schedule.reference.version"),
        (ScheduleReference(1, 1), "schedule.reference.name"),
        ("bank-sync", "schedule"),
        ("/1", "schedule"),
        ("bank-sync/", "schedule"),
        ("bank-sync/01", "schedule"),
        ("bank-sync/-1", "schedule"),
        ("bank-sync/v1", "schedule"),
        ("bank-sync/\N{ARABIC-INDIC DIGIT ONE}", "schedule"),
        ("bank-sync/" + "9" * 5_000, "schedule"),
        ("bank-sync/0", "schedule.reference.version"),
        ("bank-sync/9999999999", "schedule.reference.version"),
        ("bank/sync/1", "schedule.reference.name"),
        (8, "schedule"),
        (Schedule(), "schedule.spec.period"),
        (Schedule(timedelta(hours=8), calendar=BERLIN), "schedule.spec.period"),
        (Schedule(calendar=CalendarCycle("day", "UTC")), "schedule.spec.calendar.unit"),
        (Schedule(calendar=CalendarCycle(CalendarUnit.DAY, 1)), "schedule.spec.calendar.time_zone"),
        (Schedule(calendar=BERLIN, weight_quantum=2**70), "schedule.spec.weight_quantum"),
        (
            Schedule(calendar=BERLIN, active_windows=[(time(1), time(5))]),
            "schedule.spec.active_windows[0]",
        ),
        (
            Schedule(calendar=BERLIN, active_windows=CycleWindow(time(1), time(5))),
            "schedule.spec.active_windows",
        ),
        (
            Schedule(calendar=BERLIN, active_windows=[CycleWindow(1, 5)]),
            "schedule.spec.active_windows[0].start_offset",
        ),
        (
            Schedule(calendar=BERLIN, exclusions=[CycleWindow(time(1), time(5))]),
            "schedule.spec.exclusions[0]",
        ),
        (
            Schedule(calendar=BERLIN, exclusions=[DatedExclusion(datetime(2026, 1, 1), NOON)]),
            "schedule.spec.exclusions[0].dated.start_time",
        ),
        (
            Schedule(
                calendar=BERLIN,
                exclusions=[RecurringExclusion(BERLIN, CycleWindow(time(1), time(2)), "skip")],
            ),
            "schedule.spec.exclusions[0].policy",
        ),
    ],
)
def test_what_is_no_schedule_is_refused_by_its_field(client, schedule, field):
    with pytest.raises(offbeat.InvalidArgument) as caught:
        client.describe_schedule(schedule)
    assert caught.value.field == field


def test_each_schedule_of_a_question_has_a_path_of_its_own(client):
    with pytest.raises(offbeat.InvalidArgument) as caught:
        client.plan_migration(EIGHT_HOURS, Schedule(8))
    assert caught.value.field == "new_schedule.spec.period"
    with pytest.raises(offbeat.InvalidArgument) as caught:
        client.plan_migration(EIGHT_HOURS, "bank-sync")
    assert caught.value.field == "new_schedule"


def test_kinds_that_may_meet_and_delays_that_are_known(client):
    schedule = Schedule(8 * HOURS, slot_count=8)
    # Kinds 0 and 2 may meet: 1 is opposite to both.
    placed = client.reciprocal_slots(schedule, kind_count=3, kind_conflicts=[(0, 1), (2, 1)])
    assert [kind.offset_slot_count for kind in placed.kinds] == [0, 4, 0]
    assert placed.run_budget == 4 * HOURS
    minute = timedelta(minutes=1)
    late = client.reciprocal_slots(
        schedule, kind_count=2, polling_delay=minute, slot_job_delay=2 * minute
    )
    assert late.run_budget == 4 * HOURS - 3 * minute
    assert late.independent_run_budget == 3 * HOURS - 3 * minute
    with pytest.raises(offbeat.InvalidArgument) as caught:
        client.reciprocal_slots(schedule, kind_count=3, kind_conflicts=[(0, 1), 2])
    assert caught.value.field == "kind_conflicts[1]"


def test_times_of_day_and_zones_become_what_is_sent():
    window = CycleWindow(time(1, 30), time(23, 59, 59, 999_000))
    assert window.start_offset == timedelta(hours=1, minutes=30)
    assert window.end_offset == timedelta(days=1) - timedelta(milliseconds=1)
    assert CalendarCycle(CalendarUnit.DAY, ZoneInfo("Europe/Berlin")) == BERLIN
    with pytest.raises(offbeat.InvalidArgument, match="without a time zone"):
        CycleWindow(time(1, tzinfo=timezone.utc), time(2))


def test_schedules_can_be_keys_whatever_they_hold():
    windows = [CycleWindow(time(1), time(5))]
    exclusions = [DatedExclusion(NOON, NOON + HOURS)]
    one = Schedule(calendar=BERLIN, active_windows=windows, exclusions=exclusions)
    other = Schedule(calendar=BERLIN, active_windows=tuple(windows), exclusions=tuple(exclusions))
    assert one == other
    assert len({one, other, NAMED}) == 2
    kinds = {Schedule(kinds=["a", "b"], kind_conflicts=[["a", "b"]])}
    assert Schedule(kinds=(Kind("a"), Kind("b")), kind_conflicts=(("a", "b"),)) in kinds


def test_a_schedule_is_read_from_its_message_as_it_was_written():
    schedule = Schedule(
        slot_count=96,
        placement=offbeat.Placement.HASH,
        salt="billing",
        resolution=timedelta(seconds=1),
        calendar=CalendarCycle(CalendarUnit.WEEK, "Australia/Lord_Howe"),
        active_windows=[CycleWindow(HOURS * hour, HOURS * (hour + 4)) for hour in (1, 25, 49)],
        exclusions=[
            DatedExclusion(NOON, NOON + HOURS, ExclusionPolicy.SKIP),
            RecurringExclusion(BERLIN, CycleWindow(time(22), time(23)), ExclusionPolicy.DEFER),
        ],
        weight_quantum=1_000,
        kinds=["import", Kind("export", timedelta(minutes=10))],
        kind_spacing=KindSpacing.STABLE,
        kind_conflicts=[("import", "export")],
        catch_up_span=HOURS,
    )
    assert Schedule.from_message(schedule.to_message().spec) == schedule


def test_what_is_loaded_is_listed(client):
    listed = client.list_schedules()
    references = [ScheduleReference("accounts", 1), NAMED, ScheduleReference("bank-sync", 2)]
    assert [one.reference for one in listed] == references
    for one in listed:
        assert one.fingerprint == client.describe_schedule(one.reference).fingerprint
        assert one.fingerprint == client.describe_schedule(one.schedule).fingerprint
    assert [one.reference for one in client.list_schedules(name="bank-sync")] == references[1:]
    assert client.list_schedules(name="none") == []
    with pytest.raises(offbeat.InvalidArgument):
        client.list_schedules(name="a/b")

    async def ask():
        async with offbeat.AsyncClient() as asynchronous:
            return await asynchronous.list_schedules()

    assert asyncio.run(ask()) == listed
