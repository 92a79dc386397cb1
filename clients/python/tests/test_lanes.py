"""Lanes: where jobs run, and that each field survives the round trip."""

from __future__ import annotations

import asyncio
import random
from datetime import timedelta

import pytest

import offbeat
from offbeat import (
    FailedJob,
    Lane,
    LanePolicy,
    LanePrediction,
    LaneRoute,
    LaneSet,
    LaneState,
    LaneVerdict,
    PendingJob,
    PermanentFailure,
    RouteReason,
    RunTimeHistogram,
    RunTimePercentiles,
    TimeoutAction,
)
from offbeat.v1beta1 import lane_planning_pb2

SECOND = timedelta(seconds=1)
EXPRESS, SLOW = Lane("express", 2, 60 * SECOND), Lane("slow", 1, 900 * SECOND)
LANES = LaneSet([EXPRESS, SLOW])


def test_a_job_goes_through_its_lanes(client):
    first = client.route_job(LANES)
    assert first == LaneRoute("express", 1, 60 * SECOND, "slow", RouteReason.UNTRIED, False)
    second = client.route_job(LANES, timed_out_lane_names=["express"])
    assert second == LaneRoute("slow", 2, 900 * SECOND, None, RouteReason.DEMOTED, False)
    failure = client.route_job(LANES, timed_out_lane_names=["slow", "express"])
    assert isinstance(failure, PermanentFailure)
    assert (failure.last_lane_name, failure.exceeded_timeout) == ("slow", 900 * SECOND)
    assert "slow" in failure.message
    idle = client.route_job(LANES, worker_lane_name="slow")
    assert (idle.lane_name, idle.attempt_timeout) == ("slow", 900 * SECOND)


def test_lanes_without_an_end_and_suspended_jobs(client):
    endless = LaneSet([EXPRESS, Lane("slow", 1)], on_timeout=TimeoutAction.SUSPEND)
    route = client.route_job(endless, timed_out_lane_names=["express"])
    assert (route.attempt_timeout, route.resumes) == (None, True)


def test_predictions(client):
    careful = LaneSet([EXPRESS, SLOW], max_express_slow_probability=0.5)
    for prediction, lane in [
        (LanePrediction(slow_probability=0.6), "slow"),
        (LanePrediction(slow_probability=0.4), "express"),
        (LanePrediction(slow_probability=0.0), "express"),
        (LanePrediction(run_time=61 * SECOND), "slow"),
        (LanePrediction(run_time=timedelta(0)), "express"),
    ]:
        route = client.route_job(careful, prediction=prediction)
        assert route.lane_name == lane, prediction
        assert route.reason is (
            RouteReason.PREDICTED_SLOW if lane == "slow" else RouteReason.UNTRIED
        )


def test_jobs_are_placed_in_their_order(client):
    jobs = [
        PendingJob("later", prediction=LanePrediction(slow_probability=0.9)),
        PendingJob("failed", ["slow"]),
        PendingJob("demoted", ["express"]),
        PendingJob("soon"),
        PendingJob("sooner", prediction=LanePrediction(slow_probability=0.0)),
    ]
    answer = client.dispatch_jobs(LANES, {"express": 2, "slow": 1}, jobs)
    placed = [(job.job_index, job.job_id, job.route.lane_name) for job in answer.dispatches]
    assert placed == [(2, "demoted", "slow"), (3, "soon", "express"), (4, "sooner", "express")]
    assert answer.dispatches[0].route.attempt == 2
    failure = client.route_job(LANES, timed_out_lane_names=["slow"])
    assert answer.failures == (FailedJob(1, "failed", failure),)
    idle = client.dispatch_jobs(LANES, {"slow": 1}, [PendingJob("fresh")]).dispatches[0].route
    assert (idle.lane_name, idle.reason) == ("slow", RouteReason.IDLE_WORKER)


def test_slow_lanes_may_choose_by_order(client):
    jobs = [PendingJob("fresh"), PendingJob("demoted", ["express"])]
    slow_first = LaneSet([EXPRESS, SLOW], LanePolicy.SLOW_FIRST)
    for lane_set, taken in [(LANES, "demoted"), (slow_first, "fresh")]:
        assert client.dispatch_jobs(lane_set, {"slow": 1}, jobs).dispatches[0].job_id == taken


def test_an_answers_lane_set_is_asked_about_again(client):
    lane_set = LaneSet(
        [EXPRESS, Lane("middle", 0, 90 * SECOND), Lane("slow", 1)],
        LanePolicy.SLOW_FIRST,
        on_timeout=TimeoutAction.SUSPEND,
        max_express_slow_probability=0.25,
    )
    states = [
        LaneState("slow", 3, longest_wait=30 * SECOND),
        LaneState("express", busy_worker_count=1),
        LaneState("middle", 10, mean_run_time=70 * SECOND),
    ]
    split = client.split_workers(lane_set, states, worker_count=12)
    assert [(each.lane_name, each.workload) for each in split.workloads] == [
        ("express", timedelta(0)),
        ("middle", 700 * SECOND),
        ("slow", 30 * SECOND),
    ]
    counts = [lane.worker_count for lane in split.lane_set.lanes]
    assert sum(counts) == 12
    assert counts[1] == max(counts)
    same = [lane_set.lane(lane.name).attempt_timeout for lane in split.lane_set.lanes]
    assert [lane.attempt_timeout for lane in split.lane_set.lanes] == same
    assert split.lane_set.policy is LanePolicy.SLOW_FIRST
    assert split.lane_set.on_timeout is TimeoutAction.SUSPEND
    assert split.lane_set.max_express_slow_probability == 0.25
    assert client.route_job(split.lane_set, timed_out_lane_names=["express"]).lane_name == "middle"
    assert client.dispatch_jobs(
        split.lane_set, {"middle": 1}, [PendingJob("a", ["express"])]
    ).dispatches
    again = client.split_workers(split.lane_set, [])
    assert sum(lane.worker_count for lane in again.lane_set.lanes) == 12


def test_what_keeps_workers_where_they_are(client):
    even = LaneSet([Lane("express", 8, SECOND), Lane("slow", 2, 60 * SECOND)])
    waiting = [LaneState("slow", 20, mean_run_time=SECOND)]

    def counts(**options):
        split = client.split_workers(even, waiting, **options)
        return [lane.worker_count for lane in split.lane_set.lanes]

    assert counts() == [1, 9]
    assert counts(max_move_count=3) == [5, 5]
    assert counts(min_improvement_percent=80) == [8, 2]
    # From 20/3 to 20/10 is an improvement of nearly 70 %.
    assert counts(min_improvement_percent=69) == [1, 9]
    # Moves that are forced do not count against the limit.
    assert counts(worker_count=6, max_move_count=0) == [4, 2]


def test_lane_sets_are_values():
    assert LaneSet(lane for lane in (EXPRESS, SLOW)) == LANES
    assert hash(LaneSet([EXPRESS, SLOW])) == hash(LANES)
    with pytest.raises(LookupError, match="'fast'"):
        LANES.lane("fast")


HEAVY = [timedelta(seconds=0.2)] * 980 + [60 * SECOND] * 20


def test_heavy_tails_get_lanes_and_even_ones_none(client):
    ask = {"arrival_rate": 2.0, "worker_count": 4, "timeout": 60}
    plan = client.plan_lanes(HEAVY, **ask)
    assert plan.verdict is LaneVerdict.LANES
    assert plan.mean_run_time == timedelta(seconds=1.396)
    assert plan.utilization == pytest.approx(2 * 1.396 / 4)
    assert plan.slowdown_floor == timedelta(seconds=0.2)
    assert sum(lane.worker_count for lane in plan.lane_set.lanes) == 4
    assert plan.with_lanes.stable
    assert 1 <= plan.with_lanes.mean_slowdown < plan.without_lanes.mean_slowdown
    assert timedelta(0) <= plan.with_lanes.mean_wait < plan.with_lanes.mean_sojourn
    assert plan.with_lanes.p95_wait <= plan.with_lanes.p95_sojourn
    assert plan.with_lanes.p95_slowdown >= 1
    assert 0 < plan.with_lanes.wasted_ratio < 1
    assert plan.stream_count > 1
    assert plan.stream_job_count > 1_000
    rates = [sensitivity.arrival_rate for sensitivity in plan.sensitivities]
    assert rates == pytest.approx([1.6, 2.4])
    assert all(sensitivity.with_lanes for sensitivity in plan.sensitivities)
    assert all(sensitivity.without_lanes.mean_wait for sensitivity in plan.sensitivities)
    assert plan.cutoffs
    assert all(0 < at.express_worker_count < 4 for at in plan.cutoffs)
    assert timedelta(seconds=0.2) <= max(at.cutoff for at in plan.cutoffs) <= 60 * SECOND
    # A planned lane set can be used in calls as it is.
    assert client.route_job(plan.lane_set).lane_name == plan.lane_set.lanes[0].name
    assert plan == client.plan_lanes(reversed(HEAVY), **ask)
    assert plan != client.plan_lanes(HEAVY, seed=1, **ask)
    even = client.plan_lanes([SECOND] * 10, **ask)
    assert (even.verdict, even.without_lanes.stable) == (LaneVerdict.NO_LANES, True)


def test_plans_say_how_sure_they_are_and_who_waits(client):
    run_times = [SECOND / 2] * 90 + [20 * SECOND] * 10
    plan = client.plan_lanes(run_times, arrival_rate=1.2, worker_count=4, timeout=60)
    assert plan.verdict is LaneVerdict.LANES
    for ratio in (plan.slowdown_ratio, plan.sojourn_ratio):
        assert 0 < ratio.low < ratio.estimate < ratio.high < 1
    express, slow = plan.run_time_classes
    assert SECOND / 2 <= express.max_run_time <= 0.6 * SECOND
    assert express.max_run_time == plan.lane_set.lanes[0].attempt_timeout
    assert slow.max_run_time is None
    assert (express.job_ratio, slow.job_ratio) == pytest.approx((0.9, 0.1))
    assert (express.sample_count, slow.sample_count) == (90, 10)
    assert express.mean_wait_with_lanes < express.mean_wait_without_lanes
    assert express.mean_sojourn_with_lanes < express.mean_sojourn_without_lanes
    assert slow.mean_sojourn_with_lanes > slow.mean_sojourn_without_lanes > 20 * SECOND
    for performance in (plan.with_lanes, plan.without_lanes):
        slowdown, sojourn = performance.mean_slowdown_range, performance.mean_sojourn_range
        assert slowdown.low <= performance.mean_slowdown <= slowdown.high
        assert sojourn.low <= performance.mean_sojourn <= sojourn.high
    assert any(at.stable_with_more_arrivals for at in plan.cutoffs)
    assert any(not at.stable for at in plan.cutoffs)
    for at in plan.cutoffs:
        if at.stable:
            assert at.mean_slowdown >= 1
            assert at.mean_sojourn > SECOND
        else:
            assert (at.mean_slowdown, at.mean_sojourn) == (None, None)
            assert not at.stable_with_more_arrivals
    assert any("take longer" in message for message in plan.messages)
    even = client.plan_lanes([SECOND] * 8, arrival_rate=1.2, worker_count=4, timeout=60)
    assert even.verdict is LaneVerdict.NO_LANES
    assert (even.slowdown_ratio, even.sojourn_ratio, even.run_time_classes) == (None, None, ())
    assert len(even.messages) == 1


def test_each_verdict_is_known():
    contract = lane_planning_pb2.LaneVerdict.items()
    assert contract[1:] == [(f"LANE_VERDICT_{each.name}", each.value) for each in LaneVerdict]


def test_plans_by_type(client):
    ask = {"arrival_rate": 2, "worker_count": 4, "timeout": 60}
    types = {"report": iter([60 * SECOND] * 20), "mail": [SECOND / 5] * 980}
    plan = client.plan_lanes(types, **ask)
    assert plan.verdict is LaneVerdict.LANES_BY_TYPE
    found = plan.lanes_by_type
    assert found.slow_type_names == ("report",)
    assert found.express_worker_count + found.slow_worker_count == 4
    assert found.performance.wasted_ratio == 0
    assert found.performance.mean_slowdown < plan.without_lanes.mean_slowdown / 2
    assert found.stable_with_more_arrivals
    assert found.slowdown_ratio.low <= found.slowdown_ratio.estimate < 0.5
    assert found.sojourn_ratio.high > 0
    assert found.slowdown_ratio_to_timeouts.low > 0
    assert 0 < found.sojourn_ratio_to_timeouts.low < found.sojourn_ratio_to_timeouts.high
    assert all(other.by_type.mean_slowdown >= 1 for other in plan.sensitivities)
    report, mail = plan.job_types
    assert (report.name, report.sample_count, report.job_ratio) == ("report", 20, 0.02)
    assert report.work_ratio == pytest.approx(1_200 / 1_396)
    times = [report.mean_run_time, report.p50_run_time, report.p99_run_time, report.max_run_time]
    assert times == [60 * SECOND] * 4
    assert (report.timeout_ratio, mail.timeout_ratio) == (1, 0)
    assert mail.mean_sojourn_by_type < mail.mean_sojourn_without_lanes
    assert mail.mean_sojourn_with_lanes < mail.mean_sojourn_without_lanes
    for at in plan.cutoffs:
        assert (at.mean_slowdown_range is not None) == at.stable
    # Without types these fields are empty, and the plan by timeouts is the same.
    untyped = client.plan_lanes(HEAVY, **ask)
    assert (untyped.lanes_by_type, untyped.job_types) == (None, ())
    assert untyped.sensitivities[0].by_type is None
    assert (untyped.lane_set, untyped.cutoffs) == (plan.lane_set, plan.cutoffs)


def test_plans_from_what_sums_run_times_up(client):
    ask = {"arrival_rate": 2.0, "worker_count": 4, "timeout": 60}
    histogram = RunTimeHistogram({SECOND: 980, 60 * SECOND: 20})
    counted = client.plan_lanes(histogram, **ask)
    assert SECOND / 2 < counted.mean_run_time < 3 * SECOND
    assert all(each.sample_count is None for each in counted.run_time_classes)
    percentiles = RunTimePercentiles(p50=SECOND / 2, p90=3 * SECOND)
    drawn = client.plan_lanes(percentiles, tolerated_wait=SECOND, slowdown_floor=SECOND, **ask)
    assert drawn.slowdown_floor == SECOND
    assert drawn.lane_set is None or drawn.lane_set.lanes[0].attempt_timeout <= SECOND
    mean = client.plan_lanes(RunTimePercentiles(mean=SECOND, p90=2 * SECOND), **ask)
    assert mean.mean_run_time == pytest.approx(SECOND, abs=SECOND / 100)
    kept = client.plan_lanes(HEAVY, on_timeout=TimeoutAction.SUSPEND, max_lane_count=2, **ask)
    assert len(kept.lane_set.lanes) == 2
    assert kept.lane_set.on_timeout is TimeoutAction.SUSPEND
    assert kept.with_lanes.wasted_ratio == 0


@pytest.mark.parametrize(
    ("ask", "field"),
    [
        (lambda client: client.route_job(LaneSet([])), "lane_set.lanes"),
        (lambda client: client.route_job(LaneSet([Lane(1, 1)])), "lane_set.lanes[0].name"),
        (
            lambda client: client.route_job(LaneSet([EXPRESS, Lane("slow", "1")])),
            "lane_set.lanes[1].worker_count",
        ),
        (
            lambda client: client.route_job(LaneSet([EXPRESS, Lane("slow", 1, 900)])),
            "lane_set.lanes[1].attempt_timeout",
        ),
        (lambda client: client.route_job(LaneSet([EXPRESS, SLOW], 9)), "lane_set.policy"),
        (
            lambda client: client.route_job(
                LaneSet([EXPRESS, SLOW], max_express_slow_probability="1")
            ),
            "lane_set.max_express_slow_probability",
        ),
        (
            lambda client: client.route_job(LANES, timed_out_lane_names=["no"]),
            "timed_out_lane_names[0]",
        ),
        (lambda client: client.route_job(LANES, worker_lane_name="no"), "worker_lane_name"),
        (
            lambda client: client.route_job(LANES, timed_out_lane_names="slow"),
            "timed_out_lane_names",
        ),
        (
            lambda client: client.route_job(LANES, prediction=LanePrediction()),
            "prediction.prediction",
        ),
        (
            lambda client: client.route_job(
                LANES, prediction=LanePrediction(slow_probability=0.5, run_time=SECOND)
            ),
            "prediction.prediction",
        ),
        (
            lambda client: client.dispatch_jobs(LANES, {"express": 0, "slow": 9}, []),
            "free_workers[1].worker_count",
        ),
        (
            lambda client: client.dispatch_jobs(LANES, {"express": 0, "slow": "1"}, []),
            "free_workers[1].worker_count",
        ),
        (lambda client: client.dispatch_jobs(LANES, {"no": 1}, []), "free_workers[0].lane_name"),
        (lambda client: client.dispatch_jobs(LANES, [2, 1], []), "free_workers"),
        (
            lambda client: client.dispatch_jobs(
                LANES, {"slow": 1}, [PendingJob("a"), PendingJob(b"")]
            ),
            "jobs[1].id",
        ),
        (
            lambda client: client.dispatch_jobs(LANES, {"slow": 1}, [PendingJob("a", "slow")]),
            "jobs[0].timed_out_lane_names",
        ),
        (
            lambda client: client.dispatch_jobs(
                LANES, {}, [PendingJob("a", prediction=LanePrediction(slow_probability=2.0))]
            ),
            "jobs[0].prediction.slow_probability",
        ),
        (
            lambda client: client.split_workers(
                LANES, [LaneState("slow"), LaneState("express", -1)]
            ),
            "states[1].backlog_count",
        ),
        (lambda client: client.split_workers(LANES, [LaneState("no")]), "states[0].lane_name"),
        (lambda client: client.split_workers(LANES, [], max_move_count=-1), "max_move_count"),
        (
            lambda client: client.split_workers(LANES, [], min_improvement_percent=101),
            "min_improvement_percent",
        ),
    ],
)
def test_refusals_name_the_field(client, ask, field):
    with pytest.raises(offbeat.InvalidArgument) as caught:
        ask(client)
    assert caught.value.field == field


def test_refusals_of_plans_name_the_field(client):
    for run_times, options, field in [
        ([SECOND, timedelta(0)], {}, "samples.run_time_micros[1]"),
        ([SECOND, timedelta.max], {}, "samples.run_time_micros[1]"),
        ([SECOND, 1.0], {}, "samples.run_time_micros[1]"),
        ({"b": [SECOND, 1.0], "a": [SECOND]}, {}, "samples_by_type.types[1].run_time_micros[1]"),
        ({"a": []}, {}, "samples_by_type.types[0].run_time_micros"),
        ({"": [SECOND]}, {}, "samples_by_type.types[0].name"),
        ({1: [SECOND]}, {}, "samples_by_type.types[0].name"),
        ({}, {}, "samples_by_type.types"),
        ([SECOND], {"arrival_rate": "2"}, "arrival_rate"),
        ([SECOND], {"worker_count": 0}, "worker_count"),
        ([SECOND], {"max_lane_count": 1}, "max_lane_count"),
        ([SECOND], {"seed": 2**63}, "seed"),
        ([SECOND], {"tolerated_wait": timedelta(0)}, "tolerated_wait"),
        ([SECOND], {"slowdown_floor": timedelta(0)}, "slowdown_floor"),
        ([SECOND], {"on_timeout": 9}, "on_timeout"),
        (RunTimeHistogram({SECOND: -1}), {}, "histogram.buckets[0].job_count"),
        (RunTimeHistogram({1: 1}), {}, "histogram.buckets[0].upper_bound"),
        (RunTimePercentiles(p50=SECOND, p90=SECOND / 2), {}, "percentiles.p90"),
    ]:
        with pytest.raises(offbeat.InvalidArgument) as caught:
            client.plan_lanes(run_times, **{"arrival_rate": 2.0, "worker_count": 4, **options})
        assert caught.value.field == field, (run_times, options)


def test_asyncio_has_the_same_answers(client):
    rng = random.Random(2)
    jobs = [PendingJob(str(number), rng.choice([(), ("express",)])) for number in range(500)]
    calls = [
        lambda client: client.allocate_workers([offbeat.Stage("a", 9)], 4, max_move_count=2),
        lambda client: client.choose_stage([offbeat.Stage("a", 9)]),
        lambda client: client.route_job(LANES, timed_out_lane_names=["express"]),
        lambda client: client.dispatch_jobs(LANES, {"express": 2, "slow": 1}, iter(jobs)),
        lambda client: client.split_workers(
            LANES, [LaneState("slow", 4)], worker_count=9, max_move_count=3
        ),
        lambda client: client.plan_lanes(HEAVY, arrival_rate=1, worker_count=4, timeout=60),
    ]

    async def answers():
        async with offbeat.AsyncClient() as client:
            return [await call(client) for call in calls]

    assert asyncio.run(answers()) == [call(client) for call in calls]
