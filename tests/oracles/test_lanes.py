"""The predictions of `offbeat lanes plan`, against an independent simulator."""

import heapq
import json
import os
import random
import subprocess
from collections import deque
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BINARY = os.environ.get("OFFBEAT_BIN", str(ROOT / "target/debug/offbeat"))
JOBS = 150_000


def seconds(duration):
    return float(duration.removesuffix("s"))


def plan(samples, rate, workers, *more):
    return ask("\n".join(f"{sample:.6f}" for sample in samples), rate, workers, *more)


def plan_by_type(jobs, rate, workers, *more):
    """Ask with pairs of a type and a run time."""
    rows = "\n".join(f"{kind},{size:.6f}" for kind, size in jobs)
    columns = ("--column", "run time", "--by", "type")
    return ask(f"type,run time\n{rows}\n", rate, workers, *columns, *more)


def ask(text, rate, workers, *more):
    command = [BINARY, "lanes", "plan", "--workers", str(workers), "--arrival-rate", str(rate)]
    answer = subprocess.run(
        [*command, "--format", "json", *more], input=text, capture_output=True, text=True
    )
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)


def one_queue(jobs, workers, floor):
    free = [0.0] * workers
    slowdowns = []
    for arrival, size in jobs:
        start = max(arrival, heapq.heappop(free))
        heapq.heappush(free, start + size)
        slowdowns.append(max(1.0, (start + size - arrival) / max(size, floor)))
    return mean_of_the_middle(slowdowns)


def lanes(jobs, lane_set, floor):
    timeouts = [
        seconds(lane["attempt_timeout"]) if "attempt_timeout" in lane else float("inf")
        for lane in lane_set["lanes"]
    ]
    workers = [lane["worker_count"] for lane in lane_set["lanes"]]
    return lanes_of(jobs, workers, timeouts, [0] * len(jobs), floor)


def lanes_by_type(jobs, types, found, floor):
    workers = [found["express_worker_count"], found["slow_worker_count"]]
    entries = [int(kind in found["slow_type_names"]) for kind in types]
    return lanes_of(jobs, workers, [float("inf")] * 2, entries, floor)


def lanes_of(jobs, free, timeouts, entries, floor):
    """Slow lanes choose first: jobs that were demoted to them or begin there, then newer jobs."""
    queues = [deque() for _ in free]
    slowdowns = [0.0] * len(jobs)
    events = [(arrival, number, "arrives", 0) for number, (arrival, _) in enumerate(jobs)]
    heapq.heapify(events)
    while events:
        now, job, what, lane = heapq.heappop(events)
        arrival, size = jobs[job]
        if what == "arrives":
            queues[entries[job]].append(job)
        else:
            free[lane] += 1
            if what == "times out":
                queues[lane + 1].append(job)
            else:
                slowdowns[job] = max(1.0, (now - arrival) / max(size, floor))
        for lane in reversed(range(len(free))):
            for level in range(lane, -1, -1):
                while free[lane] and queues[level]:
                    taken = queues[level].popleft()
                    free[lane] -= 1
                    run_time = jobs[taken][1]
                    if run_time > timeouts[lane]:
                        heapq.heappush(events, (now + timeouts[lane], taken, "times out", lane))
                    else:
                        heapq.heappush(events, (now + run_time, taken, "ends", lane))
    return mean_of_the_middle(slowdowns)


def mean_of_the_middle(values):
    middle = values[len(values) // 10 : -len(values) // 10]
    return sum(middle) / len(middle)


DISTRIBUTIONS = {
    # name: a draw in seconds, the load, workers, whether lanes pay (None if short jobs gain
    # little and long ones lose more), tolerance of the figures
    "two kinds": (lambda: 20.0 if random.random() < 0.1 else 0.5, 0.7, 4, True, 0.15),
    "lognormal 1.5": (lambda: random.lognormvariate(-1.125, 1.5), 0.7, 4, None, 0.25),
    "lognormal 2": (lambda: random.lognormvariate(-2, 2), 0.7, 4, True, 0.25),
    "weibull 0.4": (lambda: random.weibullvariate(0.3, 0.4), 0.7, 6, True, 0.25),
    "exponential": (lambda: random.expovariate(1.0), 0.8, 4, False, 0.15),
    "even": (lambda: random.uniform(0.5, 1.5), 0.8, 3, False, 0.15),
    "constant": (lambda: 2.0, 0.8, 5, False, 0.15),
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_the_promise_is_kept(name):
    draw, load, workers, pays, tolerance = DISTRIBUTIONS[name]
    random.seed(name)
    samples = [max(draw(), 1e-6) for _ in range(20_000)]
    rate = load * workers / (sum(samples) / len(samples))
    answer = plan(samples, rate, workers)
    if pays is not None:
        assert answer["verdict"] == ("LANE_VERDICT_LANES" if pays else "LANE_VERDICT_NO_LANES")
    floor = seconds(answer["slowdown_floor"])
    now, jobs = 0.0, []
    for _ in range(JOBS):
        now += random.expovariate(rate)
        jobs.append((now, random.choice(samples)))
    found = one_queue(jobs, workers, floor)
    assert found == pytest.approx(answer["without_lanes"]["mean_slowdown"], rel=tolerance)
    if "lane_set" in answer:
        found = lanes(jobs, answer["lane_set"], floor)
        assert found == pytest.approx(answer["with_lanes"]["mean_slowdown"], rel=tolerance)


#: By name: types with their shares of jobs and their run times, load, workers, and verdict.
TYPES = {
    "types tell": (
        {
            "mail": (0.7, lambda: random.lognormvariate(-1.7, 0.5)),
            "webhook": (0.25, lambda: random.lognormvariate(-0.5, 1)),
            "report": (0.05, lambda: random.gauss(30, 5)),
        },
        0.7,
        8,
        "LANE_VERDICT_LANES_BY_TYPE",
    ),
    "types say nothing": (
        dict.fromkeys(["a", "b", "c"], (1 / 3, lambda: 20.0 if random.random() < 0.1 else 0.5)),
        0.7,
        4,
        "LANE_VERDICT_LANES",
    ),
    "one type in two lengths": (
        {
            "mail": (0.2, lambda: 0.3),
            "report": (0.8, lambda: 20.0 if random.random() < 0.1 else 0.5),
        },
        0.7,
        4,
        "LANE_VERDICT_LANES",
    ),
    "alike": (
        dict.fromkeys(["a", "b"], (0.5, lambda: random.expovariate(1))),
        0.8,
        4,
        "LANE_VERDICT_NO_LANES",
    ),
}


@pytest.mark.parametrize("name", TYPES)
def test_types_beside_timeouts(name):
    types, load, workers, verdict = TYPES[name]
    random.seed(name)
    names, shares = list(types), [share for share, _ in types.values()]
    observed = [
        (kind, max(types[kind][1](), 1e-6)) for kind in random.choices(names, shares, k=20_000)
    ]
    rate = load * workers / (sum(size for _, size in observed) / len(observed))
    answer = plan_by_type(observed, rate, workers)
    assert answer["verdict"] == verdict
    floor = seconds(answer["slowdown_floor"])
    now, jobs, kinds = 0.0, [], []
    for _ in range(JOBS):
        now += random.expovariate(rate)
        kind, size = random.choice(observed)
        jobs.append((now, size))
        kinds.append(kind)
    queue = one_queue(jobs, workers, floor)
    assert queue == pytest.approx(answer["without_lanes"]["mean_slowdown"], rel=0.2)
    timeouts = lanes(jobs, answer["lane_set"], floor)
    assert timeouts == pytest.approx(answer["with_lanes"]["mean_slowdown"], rel=0.2)
    found = answer["lanes_by_type"]
    routed = lanes_by_type(jobs, kinds, found, floor)
    assert routed == pytest.approx(found["performance"]["mean_slowdown"], rel=0.2)
    if verdict == "LANE_VERDICT_LANES_BY_TYPE":
        assert routed < min(queue / 2, timeouts * 1.05)
    elif verdict == "LANE_VERDICT_LANES":
        assert timeouts < min(queue / 2, routed * 0.95)
    else:
        assert queue < min(timeouts, routed) * 1.1


def test_the_same_question_has_the_same_answer_and_another_seed_nearly_so():
    random.seed("seeds")
    samples = [20.0 if random.random() < 0.1 else 0.5 for _ in range(5_000)]
    answers = [plan(samples, 1.2, 4, "--seed", seed) for seed in ("1", "1", "2")]
    assert answers[0] == answers[1]
    assert answers[0]["with_lanes"] != answers[2]["with_lanes"]
    slowdowns = [answer["with_lanes"]["mean_slowdown"] for answer in answers]
    assert slowdowns[0] == pytest.approx(slowdowns[2], rel=0.1)


def test_what_people_tolerate_bounds_the_express_timeout():
    random.seed("tolerated")
    samples = [random.lognormvariate(-2, 2) for _ in range(20_000)]
    free = plan(samples, 2.8, 4)
    assert seconds(free["lane_set"]["lanes"][0]["attempt_timeout"]) > 0.2
    bound = plan(samples, 2.8, 4, "--tolerated-wait", "200ms")
    assert all(seconds(point["cutoff"]) <= 0.2 for point in bound["cutoffs"])
    if "lane_set" in bound:
        assert seconds(bound["lane_set"]["lanes"][0]["attempt_timeout"]) <= 0.2
