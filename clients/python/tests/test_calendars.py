"""Calendars, windows and exclusions, against Python's own clock and calendar."""

from __future__ import annotations

import hashlib
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
    RecurringExclusion,
    Schedule,
)

UTC = timezone.utc
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


def share(id_value: object) -> int:
    """The hash of an ID, which is its share of the cycle times 2^64."""
    return int.from_bytes(hashlib.md5(str(id_value).encode()).digest()[:8], "big")


@pytest.mark.parametrize("name", ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe"])
def test_a_daily_job_keeps_its_wall_clock_time(client, name):
    zone = ZoneInfo(name)
    schedule = Schedule(calendar=CalendarCycle(CalendarUnit.DAY, zone), slot_count=96)
    noon = next(id_ for id_ in range(999) if 12 * 3_600 < share(id_) * 86_400 >> 64 < 18 * 3_600)
    start = datetime(2026, 1, 1, tzinfo=zone)
    assignment = client.assign_slot(schedule, noon, from_time=start, next_run_count=730)
    wall = [run.start_time.astimezone(zone) for run in assignment.next_runs]
    offset = timedelta(seconds=share(noon) * 86_400 >> 64)
    assert assignment.cycle_offset == offset
    assert [at.date() for at in wall] == [(start + DAY * day).date() for day in range(730)]
    assert {at.replace(tzinfo=None) - datetime.combine(at, time()) for at in wall} == {offset}
    # The clocks did change.
    assert len({at.utcoffset() for at in wall}) == 2


def test_a_description_of_a_cycle_by_the_calendar(client):
    zone = ZoneInfo("Europe/Berlin")
    schedule = Schedule(
        calendar=CalendarCycle(CalendarUnit.DAY, zone),
        slot_count=4,
        active_windows=[CycleWindow(time(1), time(5))],
        exclusions=[
            RecurringExclusion(
                CalendarCycle(CalendarUnit.DAY, zone),
                CycleWindow(time(1), time(2)),
                ExclusionPolicy.SKIP,
            )
        ],
    )
    # 29 March 2026 has 23 hours, and no 02:00 to 03:00.
    described = client.describe_schedule(schedule, at_time=datetime(2026, 3, 29, 12, tzinfo=zone))
    assert described.slot is None
    assert described.cycle_start_time == datetime(2026, 3, 29, tzinfo=zone)
    assert described.cycle_end_time == datetime(2026, 3, 30, tzinfo=zone)
    assert described.cycle_end_time - described.cycle_start_time == 23 * HOUR
    assert described.active_duration == 4 * HOUR
    assert described.skipped_ratio == pytest.approx(0.25)
    assert described.deferred_ratio == 0
    resolved = described.schedule
    assert (resolved.calendar, resolved.active_windows, resolved.exclusions) == (
        schedule.calendar,
        schedule.active_windows,
        schedule.exclusions,
    )
    assert client.describe_schedule(resolved).fingerprint == described.fingerprint


def test_runs_stay_within_the_windows_and_the_load_even(client):
    zone = ZoneInfo("America/Sao_Paulo")
    weekdays = [CycleWindow(DAY * day + HOUR, DAY * day + 5 * HOUR) for day in range(5)]
    schedule = Schedule(
        calendar=CalendarCycle(CalendarUnit.WEEK, zone), slot_count=10, active_windows=weekdays
    )
    rows = client.assign_slots(schedule, range(5_000), from_time=datetime(2026, 6, 1, tzinfo=zone))
    for row in rows:
        wall = row.next_run_time.astimezone(zone)
        assert wall.weekday() < 5
        assert 1 <= wall.hour < 5
    counts = [list(rows.slot_indexes).count(slot) for slot in range(10)]
    assert min(counts) > 400


def test_nothing_starts_in_an_exclusion_and_deferred_runs_say_so(client):
    start = datetime(2026, 6, 1, tzinfo=UTC)
    quiet = DatedExclusion(start + 22 * HOUR, start + 23 * HOUR, ExclusionPolicy.DEFER)
    plain = Schedule(DAY, slot_count=24)
    schedule = Schedule(DAY, slot_count=24, exclusions=[quiet])
    held = [id_ for id_ in range(500) if share(id_) * 24 >> 64 == 22]
    assert len(held) > 10
    for id_ in held:
        (run, later) = client.assign_slot(
            schedule, id_, from_time=start, next_run_count=2
        ).next_runs
        regular = client.assign_slot(plain, id_, from_time=start).next_run.start_time
        assert run.nominal_time == regular
        assert quiet.end_time <= run.start_time < start + DAY + 22 * HOUR
        assert (later.nominal_time, later.start_time) == (None, regular + DAY)
    free = next(id_ for id_ in range(500) if share(id_) * 24 >> 64 == 3)
    run = client.assign_slot(schedule, free, from_time=start).next_run
    assert run.nominal_time is None


def test_an_id_that_never_runs_has_no_run(client):
    zone = "Asia/Kolkata"
    daily = CalendarCycle(CalendarUnit.DAY, zone)
    never = RecurringExclusion(daily, CycleWindow(time(12), time(18)), ExclusionPolicy.SKIP)
    schedule = Schedule(calendar=daily, slot_count=24, exclusions=[never])
    held = next(id_ for id_ in range(500) if 12 <= share(id_) * 24 >> 64 < 18)
    free = next(id_ for id_ in range(500) if share(id_) * 24 >> 64 < 12)
    assignment = client.assign_slot(schedule, held)
    assert (assignment.last_run, assignment.next_runs) == (None, ())
    with pytest.raises(LookupError, match="exclusions"):
        assignment.next_run  # noqa: B018
    with pytest.raises(offbeat.BadIds) as caught:
        client.assign_slots(schedule, [free, held])
    (error,) = caught.value.errors
    assert (error.id_index, error.reason) == (1, "ERROR_REASON_NO_RUN")
    assert [row.id for row in caught.value.answer.accepted()] == [free]
    with pytest.raises(offbeat.BadIds) as caught:
        client.plan_migration(schedule, Schedule(calendar=daily, slot_count=48), [free, held])
    (error,) = caught.value.errors
    assert (error.id_index, error.reason) == (1, "ERROR_REASON_NO_RUN")
    assert client.plan_migration(schedule, schedule).max_gap_bound is None
    audit = client.audit_ids(schedule, [free, held])
    assert [warning.finding for warning in audit.warnings] == [offbeat.AuditFinding.NEVER_RUN]
    assert audit.warnings[0].message.startswith("1 of 2 IDs")


def test_an_audit_looks_for_runs_from_an_instant_on(client):
    start, end = datetime(2026, 1, 1, tzinfo=UTC), datetime(2029, 1, 1, tzinfo=UTC)
    years = DatedExclusion(start, end, ExclusionPolicy.SKIP)
    schedule = Schedule(DAY, slot_count=24, exclusions=[years])
    never = client.audit_ids(schedule, ["a", "b"], from_time=start)
    assert [warning.finding for warning in never.warnings] == [offbeat.AuditFinding.NEVER_RUN]
    assert client.audit_ids(schedule, ["a", "b"], from_time=end - DAY).warnings == ()


def test_an_unknown_time_zone_is_refused(client):
    schedule = Schedule(calendar=CalendarCycle(CalendarUnit.DAY, "Europe/Bonn"))
    with pytest.raises(offbeat.InvalidArgument) as caught:
        client.describe_schedule(schedule)
    assert caught.value.reason == "ERROR_REASON_UNKNOWN_TIME_ZONE"
    assert caught.value.field == "schedule.spec.calendar.time_zone"
