"""Prints golden routes and dispatches: the source's timeline, and cases worked out by hand.

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
        "laneName": lane,
        "attempt": attempt,
        **({"attemptTimeout": timeout} if timeout else {}),
        "nextLaneName": on_timeout,
        "reason": f"ROUTE_REASON_{reason}",
        "resumes": resumes,
    }


def free_workers(lane_set, counts):
    """Free workers by lane; lanes without free workers are left out."""
    lanes = zip(lane_set["lanes"], counts)
    return [{"laneName": lane["name"], "workerCount": count} for lane, count in lanes if count]


def routes():
    suspend = {**FOUR, "onTimeout": "TIMEOUT_ACTION_SUSPEND"}
    strict = {**FOUR, "maxExpressSlowProbability": 0.5}
    slow_probability = lambda p: {"prediction": {"slowProbability": p}}  # noqa: E731
    run_time = lambda t: {"prediction": {"runTime": t}}  # noqa: E731
    for lane_set, more, answer in (
        (FOUR, {}, ("express", 1, "medium", "UNTRIED")),
        (FOUR, {"timedOutLaneNames": ["express"]}, ("medium", 2, "slow", "DEMOTED")),
        (FOUR, {"timedOutLaneNames": ["express", "medium"]}, ("slow", 3, "", "DEMOTED")),
        (FOUR, {"timedOutLaneNames": ["closed"]}, ("slow", 2, "", "DEMOTED")),
        (suspend, {}, ("express", 1, "medium", "UNTRIED")),
        (suspend, {"timedOutLaneNames": ["express"]}, ("medium", 2, "slow", "DEMOTED", True)),
        (FOUR, slow_probability(1), ("express", 1, "medium", "UNTRIED")),
        (strict, slow_probability(0.5), ("express", 1, "medium", "UNTRIED")),
        (strict, slow_probability(0.75), ("medium", 1, "slow", "PREDICTED_SLOW")),
        (FOUR, run_time("1s"), ("express", 1, "medium", "UNTRIED")),
        (FOUR, run_time("1.000000001s"), ("medium", 1, "slow", "PREDICTED_SLOW")),
        (FOUR, run_time("50s"), ("slow", 1, "", "PREDICTED_SLOW")),
        (FOUR, {"timedOutLaneNames": ["express"], **run_time("50s")}, ("medium", 2, "slow", "DEMOTED")),
        # With a worker's lane: that lane, unless the job begins in a slower one.
        (FOUR, {"workerLaneName": "express"}, ("express", 1, "medium", "UNTRIED")),
        (FOUR, {"workerLaneName": "slow"}, ("slow", 1, "", "IDLE_WORKER")),
        (FOUR, {"workerLaneName": "medium", "timedOutLaneNames": ["express"]}, ("medium", 2, "slow", "DEMOTED")),
        (FOUR, {"workerLaneName": "express", "timedOutLaneNames": ["express"]}, ("medium", 2, "slow", "DEMOTED")),
    ):
        yield "RouteJob", {"laneSet": lane_set, **more}, {"route": route(lane_set, *answer)}
    failure = {
        "lastLaneName": "slow",
        "exceededTimeout": "900s",
        "message": 'reached the timeout of 900s of lane "slow", the last',
    }
    request = {"laneSet": TWO, "timedOutLaneNames": ["slow"]}
    yield "RouteJob", request, {"permanentFailure": failure}


def timeline():
    """The requests in the source's example, and its own answers."""
    golden = json.loads((VECTORS / "express_lane_timeline.json").read_text())
    run_times = {"fast1": 10, "slow1": 600, "slow2": 600, "fast2": 10}
    waiting = {name: [] for name in run_times}
    running, began = {}, {}
    for step in golden["timeline"]:
        now = step["at"]
        free = []
        for lane, timeout in (("express", 60), ("slow", 900)):
            job = running.get(lane)
            if job and step[lane] != job:  # it has ended, or was demoted
                if now - began[lane] < run_times[job]:
                    assert now - began[lane] == timeout
                    waiting[job] = [lane]
                del running[lane]
            free.append(0 if lane in running else 1)
        jobs = [
            {"id": name, **({"timedOutLaneNames": lanes} if lanes else {})}
            for name, lanes in waiting.items()
        ]
        dispatches = []
        for lane in ("slow", "express"):
            job = step[lane]
            if job and lane not in running:
                tries = waiting[job]
                demoted = lane == "slow" and tries
                reason = "DEMOTED" if demoted else "UNTRIED" if lane == "express" else "IDLE_WORKER"
                onward = "slow" if lane == "express" else ""
                index = list(waiting).index(job)
                placed = route(TWO, lane, len(tries) + 1, onward, reason)
                dispatches.append({"jobIndex": index, "jobId": job, "route": placed})
                running[lane], began[lane] = job, now
        for dispatch in dispatches:
            del waiting[dispatch["jobId"]]
        request = {"laneSet": TWO, "freeWorkers": free_workers(TWO, free), "jobs": jobs}
        yield "DispatchJobs", request, {"dispatches": dispatches}


def dispatched(lane_set, free, jobs, dispatches, failures=()):
    request = {"laneSet": lane_set, "freeWorkers": free_workers(lane_set, free), "jobs": jobs}
    places = {job["id"]: place for place, job in enumerate(jobs)}
    found = [
        {"jobIndex": places[job], "jobId": job, "route": route(lane_set, *answer)}
        for job, *answer in dispatches
    ]
    return "DispatchJobs", request, {"dispatches": found, "failures": list(failures)}


def dispatches():
    untried, demoted = "UNTRIED", "DEMOTED"
    jobs = [
        {"id": "new1"},
        {"id": "demoted", "timedOutLaneNames": ["express"]},
        {"id": "new2"},
        {"id": "slowest", "timedOutLaneNames": ["express", "medium"]},
        {"id": "new3"},
        {"id": "new4"},
    ]
    # Both slow workers choose first: the furthest demoted job, then the one before.
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
    # Jobs likely to be slow come last, and the most likely ones stay out of the express lane.
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
        "lastLaneName": "slow",
        "exceededTimeout": "900s",
        "message": 'reached the timeout of 900s of lane "slow", the last',
    }
    yield dispatched(
        TWO,
        [1, 0],
        [{"id": "done for", "timedOutLaneNames": ["express", "slow"]}, {"id": "new"}],
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
        [{"id": "new"}, {"id": "demoted", "timedOutLaneNames": ["express"]}],
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
    """The split with the least sum of work / (workers + 1), in fractions; on ties the nearest."""
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
                {
                    "laneName": lane["name"],
                    "backlogCount": str(count),
                    "meanRunTime": mean,
                    "busyWorkerCount": busy,
                }
                for lane, (count, mean, busy) in zip((EXPRESS, SLOW), states)
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
        workloads = [
            {"laneName": lane["name"], "workloadMicros": str(work * 1_000_000)}
            for lane, work in zip((EXPRESS, SLOW), works)
        ]
        yield "SplitWorkers", request, {"laneSet": {"lanes": lanes}, "workloads": workloads}


def steady_splits():
    """To avoid flapping: the best split within the allowed moves, if the gain is large enough."""
    lanes = [
        {"name": "express", "workerCount": 4, "attemptTimeout": "60s"},
        {"name": "medium", "workerCount": 4, "attemptTimeout": "300s"},
        {"name": "slow", "workerCount": 4},
    ]
    today = (4, 4, 4)
    # A missing state of the slow lane means that no job waits.
    states = [
        {"laneName": "medium", "backlogCount": "100", "meanRunTime": "2s", "busyWorkerCount": 1},
        {"laneName": "express", "backlogCount": "20", "meanRunTime": "3s", "busyWorkerCount": 2},
    ]
    works, busy, total = (60, 200, 0), (2, 1, 1), sum(today)

    def score(split):
        return sum(Fraction(v, w + 1) for v, w in zip(works, split))

    def moves(split):
        return sum(abs(gets - has) for gets, has in zip(split, today)) // 2

    every = [
        (express, medium, total - express - medium)
        for express in range(busy[0], total)
        for medium in range(busy[1], total - express)
        if total - express - medium >= busy[2]
    ]
    for more in (
        {},
        {"maxMoveCount": 0},
        {"maxMoveCount": 1},
        {"maxMoveCount": 2},
        {"maxMoveCount": 100},
        {"minImprovementPercent": 28},
        {"minImprovementPercent": 29},
        {"maxMoveCount": 1, "minImprovementPercent": 12},
        {"maxMoveCount": 1, "minImprovementPercent": 13},
    ):
        near = [split for split in every if moves(split) <= more.get("maxMoveCount", total)]
        split = min(near, key=lambda split: (score(split), moves(split)))
        percent = more.get("minImprovementPercent", 0)
        if score(split) * 100 > score(today) * (100 - percent):
            split = today
        answer = {
            "laneSet": {
                "lanes": [{**lane, "workerCount": count} for lane, count in zip(lanes, split)]
            },
            "workloads": [
                {"laneName": lane["name"], "workloadMicros": str(work * 1_000_000)}
                for lane, work in zip(lanes, works)
            ],
        }
        yield "SplitWorkers", {"laneSet": {"lanes": lanes}, "states": states, **more}, answer


if __name__ == "__main__":
    cases = itertools.chain(routes(), timeline(), dispatches(), splits(), steady_splits())
    print_cases({"method": m, "request": q, "response": r} for m, q, r in cases)
