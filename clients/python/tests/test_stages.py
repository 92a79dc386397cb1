"""Stages: the allocations equal an exhaustive search, and each field survives the round trip."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from conftest import VECTORS

import offbeat
from offbeat import (
    AllocationRule,
    Stage,
    StageChoiceReason,
    StageWeighting,
    StarvedStage,
    WorkerMove,
)

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


def test_starved_stages_have_a_price(client):
    stages = [Stage("a", 100, SECOND), Stage("b", 1, SECOND)]
    starving = client.allocate_workers(stages, 2)
    assert starving.worker_counts == {"a": 2, "b": 0}
    # The second worker of a saves 100/(2·3) s, the first one of b saves 1/2 s.
    cost = pytest.approx(100e6 / 6 - 1e6 / 2, abs=0.001)
    assert starving.starved_stages == (StarvedStage("b", 1, cost),)
    assert starving.starvation_prevention_cost == cost
    fair = client.allocate_workers(stages, 2, prevent_starvation=True)
    assert fair.worker_counts == {"a": 1, "b": 1}
    assert (fair.starved_stages, fair.starvation_prevention_cost) == ((), 0)
    assert fair.score - starving.score == cost
    kept = [Stage("a", 100, SECOND, min_worker_count=2), Stage("b", 1, SECOND)]
    (starved,) = client.allocate_workers(kept, 2).starved_stages
    assert starved.cost is None


def test_arrivals_say_when_a_backlog_is_done(client):
    minute, quarter = timedelta(minutes=1), timedelta(milliseconds=250)
    stages = [
        Stage("a", 90, SECOND, arrival_count=120, arrival_period=minute),
        Stage("b", 7, quarter),
        Stage("c", 0, SECOND, arrival_count=1),
    ]
    a, b, c = client.allocate_workers(stages, 6, prevent_starvation=True).stages
    assert [stage.worker_count for stage in (a, b, c)] == [5, 1, 0]
    # Two jobs per second arrive at a, and as many at b; one arrives at c.
    assert [stage.min_stable_worker_count for stage in (a, b, c)] == [3, 1, 2]
    assert [stage.grows for stage in (a, b, c)] == [False, False, True]
    # 90 jobs of 1 s with three spare workers; 7 jobs of 0.25 s with half a spare worker.
    assert (a.drain_time, b.drain_time, c.drain_time) == (30 * SECOND, 3.5 * SECOND, None)
    assert client.allocate_workers(stages, 6).min_stable_worker_count == 6
    plain = client.allocate_workers([Stage("a", 10, SECOND)], 3).stages[0]
    assert plain.drain_time == timedelta(microseconds=3_333_334)
    assert plain.min_stable_worker_count == 0


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
    last = [
        Stage("a", 99, SECOND, current_worker_count=1),
        Stage("b", 1, SECOND, current_worker_count=1),
    ]
    assert ask(last, "b").stage_name == "a"
    stays = ask(last, "b", prevent_starvation=True)
    assert (stays.stage_name, stays.reason) == ("b", StageChoiceReason.BELOW_MINIMUM)
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
        (Stage("b", arrival_count=-1), "arrival_count"),
        (Stage("b", arrival_period=SECOND), "arrival_period"),
        (Stage("b", arrival_count=1, arrival_period=60), "arrival_period"),
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
        ("prevent_starvation", {"prevent_starvation": "yes"}),
    ]:
        with pytest.raises(offbeat.InvalidArgument) as caught:
            client.allocate_workers([Stage("a")], **{"worker_count": 2, **options})
        assert caught.value.field == field, options
    with pytest.raises(offbeat.InvalidArgument) as caught:
        client.choose_stage([Stage("a")], "b")
    assert caught.value.field == "current_stage_name"
