"""Runs that are late, ahead or skipped, and new IDs; against Python's own arithmetic."""

from __future__ import annotations

from datetime import datetime, time, timedelta, timezone

import pytest
from three_kinds import EPOCH, PERIOD, digest

import offbeat
from offbeat import (
    CalendarCycle,
    CalendarUnit,
    CatchUpPolicy,
    CycleWindow,
    MissedRunPolicy,
    NewId,
    Schedule,
)

UTC = timezone.utc
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)


def test_a_late_run_gives_way_to_the_next_regular_one(client):
    hourly = Schedule(HOUR, slot_count=60)
    ids = list(range(2_000))
    offsets = [int.from_bytes(digest(id_)[:8], "big") * 3_600 >> 64 for id_ in ids]
    question = {"watermark": NOON - 2 * HOUR, "now_time": NOON}
    due = client.list_due_runs(
        hourly, ids, catch_up_policy=CatchUpPolicy(min_gap=30 * MINUTE), **question
    )
    missed = [offset for offset in offsets if offset < 3_540]
    near = [offset for offset in missed if offset < 1_800]
    assert due.superseded_run_count == len(near)
    assert due.late_run_count == len(missed) - len(near)
    assert {run.id for run in due if run.late} == {
        id_ for id_, offset in zip(ids, offsets) if 1_800 <= offset < 3_540
    }
    every = client.list_due_runs(hourly, ids, **question)
    # The next runs of some IDs are at this very instant.
    now = missed.count(0)
    assert (every.superseded_run_count, every.late_run_count) == (now, len(missed) - now)


def test_runs_ahead_of_now_are_listed_and_asked_about_no_more(client):
    hourly = Schedule(HOUR, slot_count=60)
    ids = list(range(70_000))  # two batches with the same current time
    before = datetime.now(UTC)
    due = client.list_due_runs(
        hourly,
        ids,
        watermark=before - MINUTE,
        look_ahead=10 * MINUTE,
        # Nothing is late, however long the answer takes.
        catch_up_policy=CatchUpPolicy(on_time_tolerance=HOUR),
    )
    now = due.next_watermark_time - 10 * MINUTE
    assert before - SECOND < now <= datetime.now(UTC)
    expected = []
    for id_ in ids:
        offset = timedelta(seconds=int.from_bytes(digest(id_)[:8], "big") * 3_600 >> 64)
        run = before - MINUTE + (EPOCH + offset - before + MINUTE) % HOUR
        if run < due.next_watermark_time:
            expected.append((id_, run, run))
    assert [(run.id, run.scheduled_time, run.start_time) for run in due] == expected
    assert expected[-1][0] > 65_536
    assert due.late_run_count == 0
    # The next run is listed as soon as it is due, and not before.
    following = client.list_due_runs(
        hourly, ids, watermark=due.next_watermark_time, now_time=due.next_due_time
    )
    assert len(following) == 0
    following = client.list_due_runs(
        hourly, ids, watermark=due.next_watermark_time, now_time=due.next_due_time + SECOND
    )
    assert min(run.scheduled_time for run in following) == due.next_due_time
    nothing = client.list_due_runs(
        hourly, [], watermark=NOON, now_time=NOON, look_ahead=10 * MINUTE
    )
    assert (nothing.next_watermark_time, nothing.next_due_time) == (NOON + 10 * MINUTE, None)


def test_runs_that_exclusions_skip_are_counted(client):
    morning = offbeat.RecurringExclusion(
        CalendarCycle(CalendarUnit.DAY, "UTC"),
        CycleWindow(time(0), time(6)),
        offbeat.ExclusionPolicy.SKIP,
    )
    schedule = Schedule(timedelta(days=1), slot_count=24, exclusions=[morning])
    ids = list(range(400))
    hours = [int.from_bytes(digest(id_)[:8], "big") * 24 >> 64 for id_ in ids]
    due = client.list_due_runs(
        schedule,
        ids,
        watermark=NOON.replace(hour=0),
        now_time=NOON,
        catch_up_policy=CatchUpPolicy(MissedRunPolicy.RUN_ALL),
    )
    assert due.skipped_run_count == sum(hour < 6 for hour in hours)
    assert len(due) == sum(6 <= hour < 12 for hour in hours)


def test_new_ids_may_come_from_a_clock_that_is_fast(client):
    def ask(ahead, **new_id):
        return client.assign_slot(
            Schedule(PERIOD), "acme", from_time=NOON, new_id=NewId(NOON + ahead, **new_id)
        ).first_run

    assert ask(30 * SECOND).start_time >= NOON + 30 * SECOND
    assert ask(5 * MINUTE, max_clock_skew=5 * MINUTE).start_time >= NOON + 5 * MINUTE
    with pytest.raises(offbeat.InvalidArgument) as caught:
        ask(5 * MINUTE)
    assert caught.value.field == "new_id.create_time"
    with pytest.raises(offbeat.InvalidArgument) as caught:
        ask(SECOND, max_clock_skew=9 * HOUR)
    assert caught.value.field == "new_id.max_clock_skew"
    with pytest.raises(offbeat.InvalidArgument) as caught:
        ask(SECOND, max_clock_skew=60)
    assert caught.value.field == "new_id.max_clock_skew"
