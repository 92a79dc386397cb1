"""Due runs: each is listed once, at any polling interval."""

from __future__ import annotations

import asyncio
import hashlib
import random
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

import offbeat
from offbeat import (
    CatchUpPolicy,
    IdType,
    MissedRunPolicy,
    Placement,
    Schedule,
    _questions,
    due_runs,
)
from offbeat.times import ceil_timestamp, ceil_unix_millis
from offbeat.v1 import due_runs_pb2

UTC = timezone.utc
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
HOURLY = Schedule(HOUR, slot_count=60)


def offset(id_value: object) -> timedelta:
    h = int.from_bytes(hashlib.md5(str(id_value).encode()).digest()[:8], "big")
    return timedelta(seconds=h * 3_600 >> 64)


def runs_between(ids, start: datetime, end: datetime) -> list[tuple[object, datetime]]:
    """All runs of an hourly schedule, by Python's own arithmetic."""
    hours = range((start - EPOCH) // HOUR - 1, (end - EPOCH) // HOUR + 1)
    runs = [(id_, EPOCH + hour * HOUR + offset(id_)) for id_ in ids for hour in hours]
    return [(id_, run) for id_, run in runs if start <= run < end]


def test_no_run_is_lost_and_none_comes_twice(client):
    rng = random.Random("polls")
    ids = [f"user-{number}" for number in range(200)]
    now = watermark = NOON
    listed = []
    while now < NOON + 6 * HOUR:
        now += timedelta(microseconds=rng.choice([0, 1, 700, 10**6, 90 * 10**6, 3 * 10**9]))
        due = client.list_due_runs(
            HOURLY,
            ids,
            watermark=watermark,
            now_time=now,
            catch_up_policy=CatchUpPolicy(MissedRunPolicy.RUN_ALL, horizon=timedelta(days=1)),
        )
        listed += [(run.id, run.scheduled_time) for run in due]
        watermark = due.next_watermark_time
    assert sorted(listed) == sorted(runs_between(ids, NOON, watermark))
    assert len(listed) >= 1_200


def test_rows_are_those_of_the_columns_and_keys_those_of_assignments(client):
    ids = ["acme", "beta", "acme"]
    due = client.list_due_runs(
        HOURLY,
        ids,
        watermark=NOON,
        now_time=NOON + 2 * HOUR,
        kind="sync",
        catch_up_policy=CatchUpPolicy(3, horizon=timedelta(days=1)),
    )
    assert len(due) == 6
    assert list(due.id_indexes) == [0, 0, 1, 1, 2, 2]
    for run in due:
        one = client.assign_slot(HOURLY, run.id, from_time=run.scheduled_time, kind="sync")
        assert run.scheduled_time == one.next_run.start_time
        assert replace(run, start_time=run.scheduled_time) == one.next_run
        assert run.late is (run.start_time == NOON + 2 * HOUR)
        assert (run.piece_index, due.fingerprint) == (0, one.fingerprint)
    assert due[-1] == due[1]
    assert [run.id for run in due[1:3]] == ["acme", "beta"]
    with pytest.raises(IndexError):
        due[6]


def test_policies_of_missed_runs(client):
    ids = list(range(500))
    question = {
        "watermark": NOON - 5 * HOUR,
        "now_time": NOON,
    }
    policy = CatchUpPolicy(horizon=4 * HOUR, on_time_tolerance=2 * MINUTE)
    all_runs = runs_between(ids, NOON - 5 * HOUR, NOON)
    on_time = [run for run in all_runs if run[1] >= NOON - 2 * MINUTE]
    within = [run for run in all_runs if run[1] >= NOON - 4 * HOUR]

    def late_start(id_) -> datetime:
        u = int.from_bytes(hashlib.md5(str(id_).encode()).digest()[8:], "big")
        return NOON + timedelta(milliseconds=u * 1_800_000 >> 64)

    def asked(missed_run_policy, **more):
        asked_policy = replace(policy, missed_run_policy=missed_run_policy, **more)
        due = client.list_due_runs(HOURLY, ids, catch_up_policy=asked_policy, **question)
        assert due.next_watermark_time == NOON
        assert due.late_run_count == len(due) - len(on_time)
        return due

    dropping = asked(MissedRunPolicy.DROP)
    assert sorted((run.id, run.scheduled_time) for run in dropping) == sorted(on_time)
    assert dropping.dropped_run_count == len(all_runs) - len(on_time)
    every = asked(MissedRunPolicy.RUN_ALL)
    assert sorted((run.id, run.scheduled_time) for run in every) == sorted(within)
    once = asked(MissedRunPolicy.RUN_ONCE, smear_span=30 * MINUTE)
    late = [run for run in once if run.late]
    assert len(late) == once.late_run_count
    # A late run that would start after the ID's next run is superseded by it.
    superseded = {id_ for id_ in ids if late_start(id_) >= NOON + offset(id_)}
    superseded -= {id_ for id_, _ in on_time}
    assert once.superseded_run_count == len(superseded)
    assert sorted(run.id for run in once) == sorted(set(ids) - superseded)
    assert [run.start_time for run in late] == [late_start(run.id) for run in late]
    assert all(NOON <= run.start_time < NOON + 30 * MINUTE for run in late)
    assert len({run.start_time for run in late}) > 200
    assert asked(None, smear_span=30 * MINUTE) == once


def test_each_id_may_have_a_watermark_of_its_own(client):
    ids = list(range(300))
    marks = [NOON - timedelta(seconds=number, microseconds=1) for number in ids]
    due = client.list_due_runs(HOURLY, ids, watermarks=iter(marks), now_time=NOON, timeout=5)
    expected = [run for id_, mark in zip(ids, marks) for run in runs_between([id_], mark, NOON)]
    assert [(run.id, run.scheduled_time) for run in due] == expected
    assert expected
    assert due.next_watermark_time == NOON


def test_batches_of_any_size_are_asked_about_one_instant(client):
    ids = range(70_000)
    before = datetime.now(UTC)
    due = client.list_due_runs(HOURLY, ids, watermark=before - MINUTE)
    assert before - timedelta(seconds=1) < due.next_watermark_time <= datetime.now(UTC)
    assert due.ids == list(ids)
    assert list(due.id_indexes) == sorted(due.id_indexes)
    assert sorted((run.id, run.scheduled_time) for run in due) == sorted(
        runs_between(ids, before - MINUTE, due.next_watermark_time)
    )
    assert due.id_indexes[-1] > 65_536


def test_what_an_outage_makes_too_large_for_an_answer_comes_in_pages(client):
    # 40,000 IDs of 1 to 7 missed runs are 160,000 rows, where a page holds 65,536.
    ids = list(range(40_000))
    marks = [NOON - (1 + id_ % 7) * HOUR for id_ in ids]
    due = client.list_due_runs(
        HOURLY,
        ids,
        watermarks=marks,
        now_time=NOON,
        catch_up_policy=CatchUpPolicy(MissedRunPolicy.RUN_ALL, horizon=8 * HOUR),
    )
    assert due.ids == ids
    assert list(due.id_indexes) == [id_ for id_ in ids for _ in range(1 + id_ % 7)]
    assert due.late_run_count + len(runs_between(ids, NOON - MINUTE, NOON)) == len(due)
    assert due.next_due_time == min(run for _, run in runs_between(ids, NOON, NOON + HOUR))
    # The same for a single ID.
    one = client.list_due_runs(
        Schedule(timedelta(seconds=1), slot_count=1),
        ["acme"],
        watermark=NOON - 30 * HOUR,
        now_time=NOON,
        catch_up_policy=CatchUpPolicy(MissedRunPolicy.RUN_ALL, horizon=40 * HOUR),
    )
    assert len(one) == 30 * 3_600
    assert len(set(one.cycle_indexes)) == 30 * 3_600


def test_weighted_ids_have_a_run_for_each_piece(client):
    schedule = Schedule(HOUR, slot_count=60, weight_quantum=10)
    due = client.list_due_runs(
        schedule, ["acme", "beta"], weights=[35, 1], watermark=NOON - HOUR, now_time=NOON,
        catch_up_policy=CatchUpPolicy(MissedRunPolicy.RUN_ALL),
    )  # fmt: skip
    assert [(run.id, run.piece_index) for run in due] == [
        ("acme", 0),
        ("acme", 1),
        ("acme", 2),
        ("acme", 3),
        ("beta", 0),
    ]
    pieces = client.assign_slot(schedule, "acme", from_time=NOON - HOUR, weight=35).pieces
    assert [run.run_key for run in due][:4] == [piece.next_runs[0].run_key for piece in pieces]


def test_refused_ids_do_not_cost_the_others_their_runs(client):
    ids = ["0" * 32, "bad", "1" * 32]
    question = {"watermark": NOON - HOUR, "now_time": NOON, "id_type": IdType.UUID}
    with pytest.raises(offbeat.BadIds) as caught:
        client.list_due_runs(HOURLY, ids, **question)
    due = caught.value.answer
    assert [run.id for run in due] == ["0" * 32, "1" * 32]
    assert [error.id_index for error in due.errors] == [1]
    assert due == client.list_due_runs(HOURLY, ids, return_errors=True, **question)
    assert due[0].run_key.endswith("/0/00000000-0000-0000-0000-000000000000")


def test_fractions_have_no_key(client):
    schedule = Schedule(HOUR, placement=Placement.FRACTION)
    due = client.list_due_runs(schedule, [0.5], watermark=NOON - HOUR, now_time=NOON)
    assert [run.run_key for run in due] == [""]


def test_no_ids_have_no_runs_and_a_watermark(client):
    due = client.list_due_runs(HOURLY, [], watermark=NOON, now_time=NOON + HOUR)
    assert (len(due), due.next_watermark_time) == (0, NOON + HOUR)
    assert client.list_due_runs(
        HOURLY, [], watermark=NOON, now_time=NOON - HOUR
    ).next_watermark_time == (NOON)
    with pytest.raises(offbeat.InvalidArgument):
        client.list_due_runs(Schedule(HOUR, slot_count=7), [], watermark=NOON)


def policy(**fields) -> dict[str, object]:
    return {"watermark": NOON, "catch_up_policy": CatchUpPolicy(**fields)}


@pytest.mark.parametrize(
    ("question", "field"),
    [
        ({}, "watermark_time"),
        ({"watermark": NOON, "watermarks": [NOON]}, "watermark_time"),
        ({"watermark": datetime(2026, 3, 1)}, "watermark_time"),
        ({"watermarks": [datetime(2026, 3, 1)]}, "watermarks[0]"),
        ({"watermarks": []}, "watermarks"),
        ({"watermarks": [NOON, NOON]}, "watermarks[1]"),
        ({"watermark": NOON, "now_time": NOON - HOUR}, "watermark_time"),
        ({"watermark": NOON, "catch_up_policy": MissedRunPolicy.DROP}, "catch_up_policy"),
        (policy(missed_run_policy="all"), "catch_up_policy.missed_run_policy"),
        (policy(missed_run_policy=MissedRunPolicy.DROP), "catch_up_policy.on_time_tolerance"),
        (policy(on_time_tolerance=2 * HOUR), "catch_up_policy.on_time_tolerance"),
        (policy(horizon=timedelta(0)), "catch_up_policy.horizon"),
        (policy(smear_span=5), "catch_up_policy.smear_span"),
        (policy(min_gap=2 * HOUR), "catch_up_policy.min_gap"),
        ({"watermark": NOON, "max_clock_skew": 2 * HOUR}, "max_clock_skew"),
        ({"watermark": NOON, "look_ahead": 2 * HOUR}, "look_ahead"),
        ({"watermark": NOON, "look_ahead": 5}, "look_ahead"),
    ],
)
def test_questions_that_are_wrong_are_refused(client, question, field):
    with pytest.raises(offbeat.InvalidArgument) as caught:
        client.list_due_runs(HOURLY, ["acme"], **question)
    assert caught.value.field == field


def test_a_clock_that_is_fast_lists_nothing_and_keeps_its_watermark(client):
    due = client.list_due_runs(
        HOURLY, range(70_000), watermark=NOON + MINUTE, now_time=NOON, max_clock_skew=2 * MINUTE
    )
    assert (len(due), due.next_watermark_time) == (0, NOON + MINUTE)


def test_asyncio_answers_the_same(client):
    question = {"watermark": NOON - HOUR, "now_time": NOON, "weights": None, "kind": "sync"}

    async def ask():
        async with offbeat.AsyncClient() as asyncio_client:
            ids = range(70_000)
            return await asyncio_client.list_due_runs(HOURLY, ids, **question)

    assert asyncio.run(ask()) == client.list_due_runs(HOURLY, range(70_000), **question)


def test_watermarks_are_never_rounded_down():
    run = Timestamp(seconds=1_000, nanos=5_000_000)
    asked = Timestamp(seconds=1_000, nanos=5_000_500)
    assert ceil_timestamp(run) == EPOCH + timedelta(seconds=1_000, milliseconds=5)
    # The run before it was listed: rounded down, it would be listed again.
    assert ceil_timestamp(asked) == EPOCH + timedelta(seconds=1_000, microseconds=5_001)
    assert ceil_unix_millis("watermark", ceil_timestamp(asked)) == 1_000_006
    assert ceil_unix_millis("watermark", EPOCH - timedelta(microseconds=1)) == 0
    assert ceil_unix_millis("watermark", EPOCH - timedelta(milliseconds=1)) == -1


def test_the_instant_of_the_first_batch_is_that_of_all():
    poll = due_runs.Poll(NOON, look_ahead=5 * MINUTE)
    question = due_runs.list_due_runs(
        HOURLY, range(_questions.BATCH_IDS + 1), poll, None, None, None, "", None, False
    )
    _, first = next(question)
    assert not first.HasField("now_time")
    answer = due_runs_pb2.ListDueRunsResponse(
        next_watermark_time=Timestamp(seconds=377, nanos=1_000)
    )
    _, second = question.send(answer)
    # The look-ahead does not move the current time.
    assert second.now_time == Timestamp(seconds=77, nanos=1_000)
    assert list(second.ids.integers) == [65_536]


def test_pages_are_asked_for_until_the_last_one_and_counts_are_those_of_it():
    poll = due_runs.Poll(NOON)
    question = due_runs.list_due_runs(
        HOURLY, ["a", "b"], poll, None, None, None, "sync", None, True
    )
    _, request = next(question)
    assert not request.page_token
    runs = {"cycle_indexes": [1], "scheduled_unix_millis": [5], "start_unix_millis": [7]}
    page = due_runs_pb2.ListDueRunsResponse(next_page_token="more")
    page.runs.MergeFrom(
        due_runs_pb2.DueRuns(id_indexes=[0], piece_indexes=[0], run_key_prefix="s/1/sync", **runs)
    )
    page.runs.errors.add(id_index=1)
    _, request = question.send(page)
    assert request.page_token == "more"
    # The token knows the instant of the first page.
    assert not request.HasField("now_time")
    last = due_runs_pb2.ListDueRunsResponse(
        next_watermark_time=Timestamp(seconds=77),
        late_run_count=3,
        dropped_run_count=4,
        superseded_run_count=5,
        skipped_run_count=6,
        next_due_time=Timestamp(seconds=99),
    )
    last.runs.CopyFrom(page.runs)
    with pytest.raises(StopIteration) as ended:
        question.send(last)
    due = ended.value.value
    assert list(due.id_indexes) == [0, 0]
    assert [error.id_index for error in due.errors] == [1]
    assert (due.late_run_count, due.dropped_run_count) == (3, 4)
    assert (due.superseded_run_count, due.skipped_run_count) == (5, 6)
    assert due.next_due_time == EPOCH + timedelta(seconds=99)
    assert due.next_watermark_time == EPOCH + timedelta(seconds=77)
    assert due[0].run_key == "s/1/sync/1/0/a"
    assert due[0].late


def test_a_batch_begins_with_a_first_page():
    poll = due_runs.Poll(NOON, NOON)
    question = due_runs.list_due_runs(
        HOURLY, range(_questions.BATCH_IDS + 1), poll, None, None, None, "", None, False
    )
    next(question)
    _, second_page = question.send(due_runs_pb2.ListDueRunsResponse(next_page_token="more"))
    assert second_page.page_token == "more"
    last_page = due_runs_pb2.ListDueRunsResponse(
        next_due_time=Timestamp(seconds=88), superseded_run_count=2, skipped_run_count=3
    )
    _, second_batch = question.send(last_page)
    assert not second_batch.page_token
    assert list(second_batch.ids.integers) == [65_536]
    last_page.next_due_time.seconds = 99
    with pytest.raises(StopIteration) as ended:
        question.send(last_page)
    due = ended.value.value
    # The first of all IDs is due first.
    assert due.next_due_time == EPOCH + timedelta(seconds=88)
    assert (due.superseded_run_count, due.skipped_run_count) == (4, 6)
