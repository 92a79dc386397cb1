"""Comparisons of existing schedules: whether their jobs are kept apart."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

import offbeat
from offbeat import ComparedJob, Kind, Schedule, Separation

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAILY = Schedule(24 * HOUR, slot_count=24, kinds=["import", "export"])


def test_kinds_of_one_schedule_are_apart(client):
    jobs = [ComparedJob(DAILY, "import"), ComparedJob(DAILY, "export", run_time=11 * HOUR)]
    compared = client.compare_schedules(iter(jobs))
    assert compared.separation is Separation.APART
    (pair,) = compared.pairs
    assert (pair.first_job_index, pair.second_job_index) == (0, 1)
    assert (pair.separation, bool(pair.message)) == (Separation.APART, True)
    assert (pair.first_to_second, pair.second_to_first) == (12 * HOUR, 12 * HOUR)


def test_the_worst_of_all_pairs_is_that_of_all(client):
    jobs = [
        ComparedJob(DAILY, "import"),
        ComparedJob(DAILY, "export"),
        ComparedJob(Schedule(24 * HOUR, slot_count=24, salt="other"), run_time=MINUTE),
        ComparedJob(Schedule(24 * HOUR, slot_count=24)),
    ]
    compared = client.compare_schedules(jobs)
    pairs = {(pair.first_job_index, pair.second_job_index): pair for pair in compared.pairs}
    assert list(pairs) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert compared.separation is Separation.MEET
    # The fourth job has the same place as kind 0.
    assert pairs[0, 3].separation is Separation.MEET
    assert pairs[1, 3].separation is Separation.APART
    # Another salt places IDs independently.
    assert pairs[0, 2].separation is not Separation.APART


def test_what_is_not_known_is_not_taken_for_apart(client):
    jobs = [
        ComparedJob(Schedule(24 * HOUR, slot_count=24)),
        ComparedJob(Schedule(7 * HOUR, slot_count=7)),
    ]
    (pair,) = client.compare_schedules(jobs).pairs
    assert pair.separation is not Separation.APART


def test_schedules_by_name_and_run_times_of_kinds(client):
    timed = Schedule(
        8 * HOUR, slot_count=96, kinds=[Kind("a", 50 * MINUTE), Kind("b", 50 * MINUTE)]
    )
    apart = client.compare_schedules([ComparedJob(timed, "a"), ComparedJob(timed, "b")])
    assert apart.separation is Separation.APART
    long = client.compare_schedules(
        [ComparedJob(timed, "a", run_time=5 * HOUR), ComparedJob(timed, "b")]
    )
    assert long.separation is Separation.MEET
    named = [ComparedJob("accounts/1", "import"), ComparedJob("bank-sync/1")]
    assert client.compare_schedules(named).separation is Separation.MEET


def test_asyncio_answers_the_same(client):
    jobs = [ComparedJob(DAILY, "import"), ComparedJob(DAILY, "export")]

    async def ask():
        async with offbeat.AsyncClient() as asyncio_client:
            return await asyncio_client.compare_schedules(jobs)

    assert asyncio.run(ask()) == client.compare_schedules(jobs)


@pytest.mark.parametrize(
    ("jobs", "field"),
    [
        ([ComparedJob(DAILY, "import")], "jobs"),
        ([ComparedJob(DAILY, "import")] * 33, "jobs"),
        ([ComparedJob(DAILY, "import"), DAILY], "jobs[1]"),
        ([ComparedJob(DAILY, "import"), ComparedJob("daily")], "jobs[1].schedule"),
        ([ComparedJob(DAILY, "import"), ComparedJob(DAILY)], "jobs[1].kind"),
        ([ComparedJob(DAILY, "import"), ComparedJob(DAILY, 5)], "jobs[1].kind"),
        (
            [ComparedJob(DAILY, "import"), ComparedJob(DAILY, "export", run_time=5)],
            "jobs[1].run_time",
        ),
        (
            [ComparedJob(DAILY, "import"), ComparedJob(DAILY, "export", run_time=25 * HOUR)],
            "jobs[1].run_time",
        ),
        (
            [ComparedJob(DAILY, "import"), ComparedJob(Schedule(HOUR, slot_count=7))],
            "jobs[1].schedule.spec.slot_count",
        ),
    ],
)
def test_jobs_that_cannot_be_are_refused_by_their_field(client, jobs, field):
    with pytest.raises(offbeat.InvalidArgument) as caught:
        client.compare_schedules(jobs)
    assert caught.value.field == field
