"""Stages: the allocations of an exhaustive search, and each field there and back."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from conftest import VECTORS

import offbeat
from offbeat import AllocationRule, Stage, StageChoiceReason, StageWeighting, WorkerMove

SECOND = timedelta(seconds=1)


@pytest.mark.parametrize(
    ("rule", "name"),
    [
        (None, "minimum_score"),
        (AllocationRule.MINIMUM_SCORE, "minimum_score"),
        (AllocationRule.D_HONDT, "highest_averages"),
    ],
)
def test_allocations_are_those_of_the_vectors(client, rule, name):
    cases = json.loads((VECTORS / "stage_allocation.json").read_text())["cases"]
    assert len(cases) > 400
    for case in cases:
        stages = [
            Stage(str(index), workload, SECOND, done=index in case["done"])
            for index, workload in enumerate(case["workloads"])
        ]
        allocation = client.allocate_workers(stages, case["workers"], rule=rule)
        wanted = case[name]
        if wanted is None:
            assert allocation is None, case
        else:
            assert list(allocation.worker_counts.values()) == wanted, case


def test_every_field_of_an_allocation(client):
    stages = [
        Stage("fetch", 90, run_times=[SECOND, 3 * SECOND], current_worker_count=5),
        Stage("parse", 20, current_worker_count=1, min_worker_count=2),
        Stage("store", 4, timedelta(microseconds=1_500_004), min_worker_count=1),
    ]
    allocation = client.allocate_workers(stages, 7)
    assert allocation.worker_counts == {"fetch": 4, "parse": 2, "store": 1}
    fetch, parse, store = allocation.stages
    assert (fetch.workload, fetch.weight, fetch.mean_run_time) == (180 * SECOND, 1, 2 * SECOND)
    assert fetch.score == 180e6 / 5
    assert fetch.next_quotient == 180e6 / 30
    assert not fetch.run_time_estimated
    assert parse.run_time_estimated
    assert parse.mean_run_time == timedelta(microseconds=1_750_002)
    assert store.workload == timedelta(microseconds=6_000_016)
    assert set(allocation.moves) == {WorkerMove("fetch", "parse", 1), WorkerMove(None, "store", 1)}
    scores = [stage.score for stage in allocation.stages]
    assert allocation.score == pytest.approx(sum(scores))
    assert allocation.unassigned_worker_count == 0


def test_workers_come_go_and_stay(client):
    full = [Stage("only", 9, SECOND, max_worker_count=2, current_worker_count=3)]
    allocation = client.allocate_workers(full, 3)
    assert allocation.moves == (WorkerMove("only", None, 1),)
    assert allocation.unassigned_worker_count == 1
    busy = [
        Stage("a", 0, SECOND, current_worker_count=4, busy_worker_count=3),
        Stage("b", 99, SECOND),
    ]
    assert client.allocate_workers(busy, 4).worker_counts == {"a": 3, "b": 1}


def test_weighting_and_what_keeps_workers_where_they_are(client):
    even = [Stage("a", 10, SECOND, current_worker_count=4), Stage("b", 10, SECOND)]
    best = client.allocate_workers(even, 4)
    assert best.worker_counts == {"a": 2, "b": 2}
    assert (best.score, best.current_score) == (pytest.approx(20e6 / 3), 12e6)
    assert not best.improvement_too_small
    assert client.allocate_workers(even, 4, max_move_count=1).worker_counts == {"a": 3, "b": 1}
    kept = client.allocate_workers(even, 4, min_improvement_percent=60)
    assert (kept.worker_counts, kept.improvement_too_small) == ({"a": 4, "b": 0}, True)
    assert kept.score == kept.current_score == 12e6
    late = client.allocate_workers(
        [Stage("a", 10, SECOND), Stage("b", 31, SECOND)], 3, weighting=StageWeighting.LATENCY
    )
    assert [stage.weight for stage in late.stages] == [1, 2]
    assert late.worker_counts == {"a": 0, "b": 3}


def test_where_one_worker_goes(client):
    def ask(stages, current=None, **options):
        return client.choose_stage(stages, current, **options)

    stages = [Stage("a", 10, SECOND, current_worker_count=3), Stage("b", 10, SECOND)]
    moved = ask(stages, "a")
    assert (moved.stage_name, moved.changes_stage, moved.reason) == (
        "b",
        True,
        StageChoiceReason.WORTH_MOST,
    )
    assert (moved.quotient, moved.current_quotient) == (10e6 / 2, 10e6 / 12)
    assert ask(stages).stage_name == "b"
    kept = ask(stages, "a", min_gain_percent=9_000)
    assert (kept.stage_name, kept.changes_stage) == ("a", False)
    assert kept.reason is StageChoiceReason.GAIN_TOO_SMALL
    late = [Stage("a", 15, SECOND), Stage("b", 10, SECOND)]
    assert ask(late).stage_name == "a"
    assert ask(late, weighting=StageWeighting.LATENCY).stage_name == "b"
    large = [
        Stage("a", 12, SECOND, current_worker_count=1),
        Stage("b", 5, SECOND),
    ]
    assert ask(large).stage_name == "b"
    assert ask(large, rule=AllocationRule.D_HONDT).stage_name == "a"
    short = [Stage("a", 99, SECOND), Stage("b", 0, SECOND, min_worker_count=1)]
    assert ask(short).reason is StageChoiceReason.BELOW_MINIMUM
    full = ask([Stage("a", 99, SECOND, max_worker_count=0)])
    assert (full.stage_name, full.changes_stage, full.reason) == (
        None,
        False,
        StageChoiceReason.ALL_FULL,
    )
    assert ask([Stage("a", 9, SECOND, done=True)]) is None


@pytest.mark.parametrize(
    ("stage", "field"),
    [
        (Stage(7), "name"),
        (Stage("b", -1), "backlog_count"),
        (Stage("b", 2**70), "backlog_count"),
        (Stage("b", 1.5), "backlog_count"),
        (Stage("b", 1, -SECOND), "mean_run_time"),
        (Stage("b", 1, 60), "mean_run_time"),
        (Stage("b", 1, run_times=[SECOND, 3]), "run_times[1]"),
        (Stage("b", 1, done="yes"), "done"),
        (Stage("b", current_worker_count=1, busy_worker_count=2), "busy_worker_count"),
    ],
)
def test_refusals_name_the_field(client, stage, field):
    stages = [Stage("a"), stage]
    for ask in (lambda: client.allocate_workers(stages, 2), lambda: client.choose_stage(stages)):
        with pytest.raises(offbeat.InvalidArgument) as caught:
            ask()
        assert caught.value.field == f"stages[1].{field}"


def test_refusals_of_the_rest(client):
    for field, options in [
        ("worker_count", {"worker_count": -1}),
        ("worker_count", {"worker_count": None}),
        ("rule", {"rule": "D_HONDT"}),
        ("rule", {"rule": 9}),
        ("weighting", {"weighting": 9}),
        ("max_move_count", {"max_move_count": -1}),
        ("min_improvement_percent", {"min_improvement_percent": 101}),
    ]:
        with pytest.raises(offbeat.InvalidArgument) as caught:
            client.allocate_workers([Stage("a")], **{"worker_count": 2, **options})
        assert caught.value.field == field, options
    with pytest.raises(offbeat.InvalidArgument) as caught:
        client.choose_stage([Stage("a")], "b")
    assert caught.value.field == "current_stage_name"
