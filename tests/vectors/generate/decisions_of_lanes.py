"""Prints golden routes and placements: the source's timeline, and cases worked out by hand.

Run: python3 decisions_of_lanes.py > ../decisions/lanes.json
"""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from pathlib import Path

from decisions import print_cases

VECTORS = Path(__file__).resolve().parent.parent

EXPRESS = {"name": "express", "workerCount": 1, "attemptTimeout": "60s"}
SLOW = {"name": "slow", "workerCount": 1, "attemptTimeout": "900s"}
TWO = {"lanes": [EXPRESS, SLOW]}
FOUR = {
    "lanes": [
        {"name": "express", "workerCount": 2, "attemptTimeout": "1s"},
        {"name": "medium", "workerCount": 1, "attemptTimeout": "10s"},
        {"name": "closed", "attemptTimeout": "100s"},
        {"name": "slow", "workerCount": 2},
    ]
}


def route(lane_set, lane, attempt, on_timeout, reason, resumes=False):
    timeout = next(l.get("attemptTimeout") for l in lane_set["lanes"] if l["name"] == lane)
    return {
        "lane": lane,
        "attempt": attempt,
        **({"attemptTimeout": timeout} if timeout else {}),
        "laneOnTimeout": on_timeout,
        "reason": f"ROUTE_REASON_{reason}",
        "resumes": resumes,
    }


def routes():
    suspend = {**FOUR, "onTimeout": "TIMEOUT_ACTION_SUSPEND"}
    strict = {**FOUR, "maxExpressSlowProbability": 0.5}
    slow_probability = lambda p: {"prediction": {"slowProbability": p}}  # noqa: E731
    run_time = lambda t: {"prediction": {"runTime": t}}  # noqa: E731
    for lane_set, more, answer in (
        (FOUR, {}, ("express", 1, "medium", "UNTRIED")),
        (FOUR, {"timedOutLanes": ["express"]}, ("medium", 2, "slow", "DEMOTED")),
        (FOUR, {"timedOutLanes": ["express", "medium"]}, ("slow", 3, "", "DEMOTED")),
        (FOUR, {"timedOutLanes": ["closed"]}, ("slow", 2, "", "DEMOTED")),
        (suspend, {}, ("express", 1, "medium", "UNTRIED")),
        (suspend, {"timedOutLanes": ["express"]}, ("medium", 2, "slow", "DEMOTED", True)),
        (FOUR, slow_probability(1), ("express", 1, "medium", "UNTRIED")),
        (strict, slow_probability(0.5), ("express", 1, "medium", "UNTRIED")),
        (strict, slow_probability(0.75), ("medium", 1, "slow", "PREDICTED_SLOW")),
        (FOUR, run_time("1s"), ("express", 1, "medium", "UNTRIED")),
        (FOUR, run_time("1.000000001s"), ("medium", 1, "slow", "PREDICTED_SLOW")),
        (FOUR, run_time("50s"), ("slow", 1, "", "PREDICTED_SLOW")),
        (FOUR, {"timedOutLanes": ["express"], **run_time("50s")}, ("medium", 2, "slow", "DEMOTED")),
        # The worker that has taken it: its own lane, unless the job begins in a slower one.
        (FOUR, {"workerLane": "express"}, ("express", 1, "medium", "UNTRIED")),
        (FOUR, {"workerLane": "slow"}, ("slow", 1, "", "IDLE_WORKER")),
        (FOUR, {"workerLane": "medium", "timedOutLanes": ["express"]}, ("medium", 2, "slow", "DEMOTED")),
        (FOUR, {"workerLane": "express", "timedOutLanes": ["express"]}, ("medium", 2, "slow", "DEMOTED")),
    ):
        yield "RouteJob", {"laneSet": lane_set, **more}, {"route": route(lane_set, *answer)}
    failure = {
        "lastLane": "slow",
        "exceededTimeout": "900s",
        "message": 'reached the timeout of 900s of lane "slow", the last',
    }
    request = {"laneSet": TWO, "timedOutLanes": ["slow"]}
    yield "RouteJob", request, {"permanentFailure": failure}


def timeline():
    """The questions that the source's example asks, and its own answers."""
    golden = json.loads((VECTORS / "express_lane_timeline.json").read_text())
    run_times = {"fast1": 10, "slow1": 600, "slow2": 600, "fast2": 10}
    waiting = {name: [] for name in run_times}
    running, began = {}, {}
    for step in golden["timeline"]:
        now = step["at"]
        free = []
        for lane, timeout in (("express", 60), ("slow", 900)):
            job = running.get(lane)
            if job and step[lane] != job:  # it has ended, or has been put out
                if now - began[lane] < run_times[job]:
                    assert now - began[lane] == timeout
                    waiting[job] = [lane]
                del running[lane]
            free.append(0 if lane in running else 1)
        jobs = [
            {"id": name, **({"timedOutLanes": lanes} if lanes else {})}
            for name, lanes in waiting.items()
        ]
        placements = []
        for lane in ("slow", "express"):
            job = step[lane]
            if job and lane not in running:
                tries = waiting[job]
                demoted = lane == "slow" and tries
                reason = "DEMOTED" if demoted else "UNTRIED" if lane == "express" else "IDLE_WORKER"
                onward = "slow" if lane == "express" else ""
                index = list(waiting).index(job)
                placed = route(TWO, lane, len(tries) + 1, onward, reason)
                placements.append({"jobIndex": index, "jobId": job, "route": placed})
                running[lane], began[lane] = job, now
        for placement in placements:
            del waiting[placement["jobId"]]
        request = {"laneSet": TWO, "freeWorkerCounts": free, "jobs": jobs}
        yield "DispatchJobs", request, {"placements": placements}


def dispatched(lane_set, free, jobs, placements, failures=()):
    request = {"laneSet": lane_set, "freeWorkerCounts": free, "jobs": jobs}
    places = {job["id"]: place for place, job in enumerate(jobs)}
    found = [
        {"jobIndex": places[job], "jobId": job, "route": route(lane_set, *answer)}
        for job, *answer in placements
    ]
    return "DispatchJobs", request, {"placements": found, "failures": list(failures)}


def placements():
    untried, demoted = "UNTRIED", "DEMOTED"
    jobs = [
        {"id": "new1"},
        {"id": "demoted", "timedOutLanes": ["express"]},
        {"id": "new2"},
        {"id": "slowest", "timedOutLanes": ["express", "medium"]},
        {"id": "new3"},
        {"id": "new4"},
    ]
    # Both slow workers choose first: the one demoted furthest, then the one before.
    yield dispatched(
        FOUR,
        [2, 1, 0, 2],
        jobs,
        [
            ("slowest", "slow", 3, "", demoted),
            ("demoted", "slow", 2, "", "IDLE_WORKER"),
            ("new1", "medium", 1, "slow", "IDLE_WORKER"),
            ("new2", "express", 1, "medium", untried),
            ("new3", "express", 1, "medium", untried),
        ],
    )
    # In their order.
    yield dispatched(
        {**FOUR, "policy": "LANE_POLICY_SLOW_FIRST"},
        [2, 1, 0, 2],
        jobs,
        [
            ("new1", "slow", 1, "", "IDLE_WORKER"),
            ("demoted", "slow", 2, "", "IDLE_WORKER"),
            ("new2", "medium", 1, "slow", "IDLE_WORKER"),
            ("new3", "express", 1, "medium", untried),
            ("new4", "express", 1, "medium", untried),
        ],
    )
    # What is likely to be slow comes last, what is too likely stays out of the express lane.
    predicted = [
        {"id": "likely", "prediction": {"slowProbability": 0.9}},
        {"id": "maybe", "prediction": {"slowProbability": 0.25}},
        {"id": "long", "prediction": {"runTime": "3600s"}},
        {"id": "short", "prediction": {"runTime": "5s"}},
        {"id": "unknown"},
    ]
    strict = {
        "lanes": [{**EXPRESS, "workerCount": 4}, SLOW],
        "maxExpressSlowProbability": 0.5,
    }
    yield dispatched(
        strict,
        [4, 0],
        predicted,
        [
            ("short", "express", 1, "slow", untried),
            ("unknown", "express", 1, "slow", untried),
            ("maybe", "express", 1, "slow", untried),
        ],
    )
    yield dispatched(strict, [0, 1], predicted[:1] + predicted[2:3], [("likely", "slow", 1, "", "PREDICTED_SLOW")])
    failure = {
        "lastLane": "slow",
        "exceededTimeout": "900s",
        "message": 'reached the timeout of 900s of lane "slow", the last',
    }
    yield dispatched(
        TWO,
        [1, 0],
        [{"id": "done for", "timedOutLanes": ["express", "slow"]}, {"id": "new"}],
        [("new", "express", 1, "slow", untried)],
        [{"jobIndex": 0, "jobId": "done for", "failure": failure}],
    )
    yield dispatched(TWO, [1, 1], [], [])
    # The slow worker leaves the only job that the express lane may run.
    long_and_new = [{"id": "long", "prediction": {"runTime": "600s"}}, {"id": "new"}]
    yield dispatched(
        TWO,
        [1, 1],
        long_and_new,
        [("long", "slow", 1, "", "PREDICTED_SLOW"), ("new", "express", 1, "slow", untried)],
    )
    yield dispatched(
        {**TWO, "policy": "LANE_POLICY_SLOW_FIRST"},
        [1, 1],
        [{"id": "new"}, {"id": "demoted", "timedOutLanes": ["express"]}],
        [("demoted", "slow", 2, "", "DEMOTED"), ("new", "express", 1, "slow", untried)],
    )
    # With two new jobs there is one for each.
    yield dispatched(
        TWO,
        [1, 1],
        [*long_and_new, {"id": "newer"}],
        [("new", "slow", 1, "", "IDLE_WORKER"), ("newer", "express", 1, "slow", untried)],
    )


def splits():
    """The smallest sum of work / (workers + 1), in fractions, of all splits; of several the nearest."""
    for total, states, works in (
        (4, [(10, "1s", 0), (10, "100s", 0)], [10, 1_000]),
        (9, [(500, "0.100s", 0), (2, "30s", 1)], [50, 60]),
        (6, [(0, "1s", 0), (0, "1s", 0)], [0, 0]),
        (5, [(0, "1s", 1), (7, "200s", 1)], [0, 1_400]),
    ):
        lane_set = {"lanes": [EXPRESS, SLOW]}
        request = {
            "laneSet": lane_set,
            "workerCount": total,
            "states": [
                {"pendingCount": str(count), "meanRunTime": mean, "busyWorkerCount": busy}
                for count, mean, busy in states
            ],
        }
        all_splits = [(e, total - e) for e in range(total - 1, 0, -1)]
        today = [lane["workerCount"] for lane in (EXPRESS, SLOW)]
        split = min(
            all_splits,
            key=lambda s: (
                sum(Fraction(v, w + 1) for v, w in zip(works, s)),
                sum(abs(w - has) for w, has in zip(s, today)),
            ),
        )
        lanes = [{**lane, "workerCount": count} for lane, count in zip((EXPRESS, SLOW), split)]
        micros = [str(work * 1_000_000) for work in works]
        yield "SplitWorkers", request, {"laneSet": {"lanes": lanes}, "waitingMicros": micros}


if __name__ == "__main__":
    cases = itertools.chain(routes(), timeline(), placements(), splits())
    print_cases({"method": m, "request": q, "response": r} for m, q, r in cases)
