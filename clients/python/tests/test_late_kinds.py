"""Late runs of different kinds keep apart."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest
from three_kinds import EPOCH, PERIOD, SLOTS, THREE, place

import offbeat
from offbeat import CatchUpPolicy, FirstRunPolicy, Kind, NewId

UTC = timezone.utc
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)


def late_runs(client, schedule, ids, now, **question):
    """Return the late runs of each kind after an outage of a day, by kind and ID."""
    found = {}
    for kind in schedule.kinds:
        due = client.list_due_runs(
            schedule,
            ids,
            watermark=now - timedelta(days=1),
            now_time=now,
            kind=kind.name,
            **question,
        )
        assert due.kind == kind.name
        for run in due:
            assert (run.kind, run.late) == (kind.name, run.start_time > run.scheduled_time)
            if run.late:
                found.setdefault(run.id, {})[kind.name] = run.start_time
    return found


def test_late_kinds_keep_apart(client):
    now = NOON + timedelta(minutes=17, microseconds=3)
    late = late_runs(client, THREE, range(1_000), now)
    # A turn is an hour, an eighth of a cycle, and each kind has a third of it.
    apart = 20 * MINUTE - timedelta(milliseconds=1)
    pairs = 0
    for starts in late.values():
        in_order = sorted(starts.values())
        assert in_order[0] >= now
        pairs += len(in_order) - 1
        assert all(b - a >= apart for a, b in zip(in_order, in_order[1:]))
    assert pairs > 1_000

    # Half of that is also kept free around the regular runs of other kinds.
    for id_, starts in late.items():
        for kind, start in starts.items():
            for other in set(SLOTS) - {kind}:
                ahead = (EPOCH + place(id_, other)[1] - start) % PERIOD
                assert min(ahead, PERIOD - ahead) >= 10 * MINUTE - timedelta(milliseconds=1)


def test_a_schedule_may_have_a_catch_up_span_of_its_own(client):
    now = NOON + 17 * MINUTE
    quick = replace(THREE, catch_up_span=10 * MINUTE)
    soon, later = (
        [start for starts in late_runs(client, schedule, range(300), now).values()
         for start in starts.values()]
        for schedule in (quick, THREE)
    )  # fmt: skip
    # Most start in the first turn, which is within the span.
    assert sorted(soon)[len(soon) // 2] < now + 10 * MINUTE < sorted(later)[len(later) // 2]


def test_a_new_id_of_a_kind_starts_in_a_free_turn(client):
    created = NOON + 7 * HOUR
    passed = [id_ for id_ in range(100) if place(id_, "export")[1] < 3 * HOUR]  # of the cycle
    first = {"import": [], "export": [], "check": []}
    for kind, starts in first.items():
        for id_ in passed:
            new_id = NewId(created, FirstRunPolicy.NOW_SMEARED)
            one = client.assign_slot(THREE, id_, from_time=created, kind=kind, new_id=new_id)
            starts.append(one.first_run.start_time)
    assert len(passed) > 20
    for starts in zip(*first.values()):
        in_order = sorted(starts)
        assert in_order[0] >= created
        assert all(b - a >= 10 * MINUTE - SECOND for a, b in zip(in_order, in_order[1:]))
    assert any(start < created + HOUR for start in first["export"])


def test_a_run_that_is_on_time_leaves_the_next_kind_alone(client):
    timed = replace(THREE, kinds=[Kind(kind, 20 * MINUTE) for kind in SLOTS])
    # A run takes 20 of 160 minutes, which leaves 140 for the tolerance.
    question = {"watermark": NOON, "now_time": NOON, "kind": "check"}
    client.list_due_runs(
        timed, ["acme"], catch_up_policy=CatchUpPolicy(on_time_tolerance=140 * MINUTE), **question
    )
    longer = CatchUpPolicy(on_time_tolerance=140 * MINUTE + SECOND)
    with pytest.raises(offbeat.InvalidArgument) as caught:
        client.list_due_runs(timed, ["acme"], catch_up_policy=longer, **question)
    assert caught.value.field == "catch_up_policy.on_time_tolerance"


def test_what_the_catch_up_clock_decides_is_not_asked_for(client):
    with pytest.raises(offbeat.InvalidArgument) as caught:
        client.list_due_runs(
            THREE,
            ["acme"],
            watermark=NOON,
            kind="check",
            catch_up_policy=CatchUpPolicy(smear_span=HOUR),
        )
    assert caught.value.field == "catch_up_policy.smear_span"
    with pytest.raises(offbeat.InvalidArgument) as caught:
        client.assign_slot(
            THREE, "acme", kind="check", new_id=NewId(NOON, FirstRunPolicy.NOW_SMEARED, HOUR)
        )
    assert caught.value.field == "new_id.smear_span"
