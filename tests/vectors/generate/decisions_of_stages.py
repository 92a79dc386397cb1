"""Prints golden allocations: the best of all possible ones, in exact fractions.

Run: python3 decisions_of_stages.py > ../decisions/stages.json
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

from decisions import print_cases

VECTORS = Path(__file__).resolve().parent.parent
RULES = {"ALLOCATION_RULE_MINIMUM_SCORE": "minimum_score", "ALLOCATION_RULE_D_HONDT": "highest_averages"}


def allocations(bounds, workers):
    """Every allocation within the bounds, those with most workers in the first stages first."""
    if not bounds:
        return [[]] if workers == 0 else []
    (low, high), *rest = bounds
    return [
        [count, *tail]
        for count in range(min(high, workers), low - 1, -1)
        for tail in allocations(rest, workers - count)
    ]


def cost(rule, works, counts):
    if rule == "ALLOCATION_RULE_D_HONDT":  # highest averages make the sum of all averages largest
        return -sum(Fraction(v, k) for v, w in zip(works, counts) for k in range(1, w + 1))
    return sum(Fraction(v, w + 1) for v, w in zip(works, counts))


def quotient(rule, work, count):
    steps = count + 1 if rule == "ALLOCATION_RULE_D_HONDT" else (count + 1) * (count + 2)
    return work / steps


def best(rule, works, bounds, workers, base):
    """On ties the one nearest to the forced moves alone: no worker moves without a gain."""

    def away(counts):
        return sum(abs(gets - has) for gets, has in zip(counts, base))

    return min(
        allocations(bounds, workers), key=lambda counts: (cost(rule, works, counts), away(counts))
    )


def moves(names, current, wanted):
    leaving = [[name, has - gets] for name, has, gets in zip(names, current, wanted) if has > gets]
    found = []
    for name, has, gets in zip(names, current, wanted):
        missing = gets - has
        while missing > 0:
            source = leaving[0] if leaving else ["", missing]
            count = min(missing, source[1])
            found.append({"fromStageName": source[0], "toStageName": name, "workerCount": count})
            missing -= count
            source[1] -= count
            if leaving and not source[1]:
                leaving.pop(0)
    return found + [{"fromStageName": name, "workerCount": count} for name, count in leaving]


def units(works, counts):
    """The score, rounded down to 2^-16 microseconds, as the protos say."""
    return sum((work << 16) // (count + 1) for work, count in zip(works, counts))


def score(works, counts):
    return units(works, counts) / 65_536


def rise(works, before, after):
    return (units(works, after) - units(works, before)) / 65_536


def bounds_of(stage):
    busy = stage.get("busyWorkerCount", 0)
    if stage.get("done"):
        return busy, busy
    most = stage.get("maxWorkerCount", 1_000_000_000)
    return max(stage.get("minWorkerCount", 0), busy), max(most, busy)


def is_waiting(stage):
    return int(stage["backlogCount"]) > 0 and not stage.get("done")


def starving(stages, works, counts, rule):
    """Stages without a worker, and the cost of taking one from where it is worth least."""
    bounds = [bounds_of(stage) for stage in stages]
    losses = [
        (Fraction(work, count if rule == "ALLOCATION_RULE_D_HONDT" else count * (count + 1)), -place)
        for place, (work, count, (least, _)) in enumerate(zip(works, counts, bounds))
        if count > least
    ]
    found = []
    for place, (one, count, (_, most)) in enumerate(zip(stages, counts, bounds)):
        if count or not most or not is_waiting(one):
            continue
        starved = {"stageName": one["name"], "backlogCount": one["backlogCount"]}
        if losses:
            moved = list(counts)
            moved[-min(losses)[1]] -= 1
            moved[place] += 1
            starved["cost"] = rise(works, counts, moved)
        found.append(starved)
    return found


def floored(stages, workers):
    """Bounds with one worker for each stage with waiting jobs, or for as many as possible."""
    bounds = [bounds_of(stage) for stage in stages]
    floors = [
        (max(least, min(most, int(is_waiting(stage)))), most)
        for stage, (least, most) in zip(stages, bounds)
    ]
    if sum(least for least, _ in floors) <= workers:
        return floors
    return [(least, floor) for (least, _), (floor, _) in zip(bounds, floors)]


def seconds_of(span):
    return Fraction(span.removesuffix("s"))


def loads(stages, means, counts):
    """The fewest workers that keep up, and the time to drain in microseconds, of each stage."""
    rate = Fraction(0)
    for one, mean, count in zip(stages, means, counts):
        if "arrivalCount" in one:
            rate = int(one["arrivalCount"]) / seconds_of(one.get("arrivalPeriod", "1s"))
        elif one.get("done"):
            rate = Fraction(0)
        busy, backlog = rate * seconds_of(mean), int(one["backlogCount"])
        stable = busy.__floor__() + 1 if rate else 0
        if count < stable or (backlog and not count):
            yield stable, None
        else:
            work = backlog * seconds_of(mean) * 1_000_000
            yield stable, (work / (count - busy)).__ceil__() if work else 0


def stage(name, backlog, **fields):
    return {"name": name, "backlogCount": str(backlog), **fields}


def allocated(
    rule, stages, works, counts, base, means, estimated, weights, prevented=False, **more
):
    current = [stage.get("currentWorkerCount", 0) for stage in stages]
    names = [stage["name"] for stage in stages]
    weighted = [work * weight for work, weight in zip(works, weights)]
    workers = sum(counts) + more.get("unassignedWorkerCount", 0)
    found = list(loads(stages, means, counts))
    starved = starving(stages, weighted, counts, rule)
    cost = 0
    if starved and not prevented:
        bounds = floored(stages, workers)
        fair = best(rule, weighted, bounds, workers, forced(rule, weighted, bounds, current, workers))
        cost = rise(weighted, counts, fair)
    return {
        "allocation": {
            "starvedStages": starved,
            "starvationPreventionCost": cost,
            "minStableWorkerCount": str(sum(stable for stable, _ in found)),
            "stages": [
                {
                    "minStableWorkerCount": stable,
                    **({} if drain is None else {"drainTimeMicros": str(drain)}),
                    "stageName": name,
                    "workerCount": count,
                    "workloadMicros": str(work),
                    "weight": weight,
                    "meanRunTime": mean,
                    "runTimeEstimated": is_estimated,
                    "score": (work * weight) / (count + 1),
                    "nextQuotient": quotient(rule, work * weight, count),
                }
                for name, count, work, weight, mean, is_estimated, (stable, drain) in zip(
                    names, counts, works, weights, means, estimated, found
                )
            ],
            "moves": moves(names, current, counts),
            "score": score(weighted, counts),
            "currentScore": score(weighted, base),
            **more,
        }
    }


def of_vectors():
    cases = json.loads((VECTORS / "stage_allocation.json").read_text())["cases"]
    for case in cases[:: len(cases) // 60]:
        stages = [
            stage(f"stage {place}", work, meanRunTime="1s", done=place in case["done"])
            for place, work in enumerate(case["workloads"])
        ]
        works = [work * 1_000_000 for work in case["workloads"]]
        for rule, golden in RULES.items():
            request = {"stages": stages, "workerCount": case["workers"], "rule": rule}
            counts = case[golden]
            if counts is None:
                yield "AllocateWorkers", request, {"allStagesDone": {}}
                continue
            bounds = [(0, 0 if stage["done"] else case["workers"]) for stage in stages]
            base = forced(rule, works, bounds, [0] * len(stages), case["workers"])
            unmeasured = [False] * len(stages)
            ones = [1] * len(stages)
            means = ["1s"] * len(stages)
            answer = allocated(rule, stages, works, counts, base, means, unmeasured, ones)
            yield "AllocateWorkers", request, answer


def forced(rule, works, bounds, current, workers):
    """The allocation nearest to the current one; on ties the best."""

    def away(counts):
        return sum(abs(gets - has) for gets, has in zip(counts, current))

    everything = allocations(bounds, workers)
    nearest = min(map(away, everything))
    return min(
        (counts for counts in everything if away(counts) == nearest),
        key=lambda counts: cost(rule, works, counts),
    )


def by_hand():
    rule = "ALLOCATION_RULE_MINIMUM_SCORE"
    pipeline = [
        stage("parse", 40, meanRunTime="0.500s", currentWorkerCount=4, busyWorkerCount=3),
        stage("resize", 12, runTimes=["1s", "3s"], currentWorkerCount=1, minWorkerCount=1),
        stage("store", 30, maxWorkerCount=2, currentWorkerCount=2),
        stage("notify", 0, meanRunTime="0.010s", done=True, currentWorkerCount=1),
    ]
    # The mean of the measured stages, including the finished one: (0.5 + 2 + 0.01) / 3 s.
    means = ["0.500s", "2s", "0.836666667s", "0.010s"]
    works = [20_000_000, 24_000_000, 25_100_000, 0]
    bounds = [(3, 8), (1, 8), (0, 2), (0, 0)]
    estimated = [False, False, True, False]
    current = [4, 1, 2, 1]
    for rule in RULES:
        for weighting, weights in (("EVEN", [1, 1, 1, 1]), ("LATENCY", [1, 2, 3, 4])):
            weighted = [work * weight for work, weight in zip(works, weights)]
            base = forced(rule, weighted, bounds, current, 8)
            counts = best(rule, weighted, bounds, 8, base)
            request = {
                "stages": pipeline,
                "workerCount": 8,
                "rule": rule,
                "weighting": f"STAGE_WEIGHTING_{weighting}",
            }
            yield (
                "AllocateWorkers",
                request,
                allocated(rule, pipeline, works, counts, base, means, estimated, weights),
            )
    # To avoid flapping: 90 s and 10 s of work on two workers each.
    two = [
        stage("a", 90, meanRunTime="1s", currentWorkerCount=2),
        stage("b", 10, meanRunTime="1s", currentWorkerCount=2),
    ]
    works, rule = [90_000_000, 10_000_000], "ALLOCATION_RULE_MINIMUM_SCORE"
    plain = {"means": ["1s"] * 2, "estimated": [False] * 2, "weights": [1, 1]}
    for more, counts, remark in (
        ({}, [3, 1], {}),
        ({"maxMoveCount": 0}, [2, 2], {}),
        ({"maxMoveCount": 1}, [3, 1], {}),
        # From 33⅓ to 27½: by 17½ %.
        ({"minImprovementPercent": 17}, [3, 1], {}),
        ({"minImprovementPercent": 18}, [2, 2], {"improvementTooSmall": True}),
    ):
        request = {"stages": two, "workerCount": 4, **more}
        yield "AllocateWorkers", request, allocated(rule, two, works, counts, [2, 2], **plain, **remark)
    # Equal workloads: no worker moves, though the first stage could have two.
    even = [
        stage("a", 10, meanRunTime="1s", currentWorkerCount=1),
        stage("b", 10, meanRunTime="1s", currentWorkerCount=2),
    ]
    for more in ({}, {"maxMoveCount": 5}):
        works = [10_000_000, 10_000_000]
        request = {"stages": even, "workerCount": 3, **more}
        yield "AllocateWorkers", request, allocated(rule, even, works, [1, 2], [1, 2], **plain)
    full = [stage("a", 5, meanRunTime="1s", maxWorkerCount=2)]
    answer = allocated(
        rule, full, [5_000_000], [2], [2], ["1s"], [False], [1], unassignedWorkerCount=3
    )
    yield "AllocateWorkers", {"stages": full, "workerCount": 5}, answer


def starved():
    """Small workloads beside large ones, with and without prevention, and with arrivals."""
    rule = "ALLOCATION_RULE_MINIMUM_SCORE"
    stages = [
        stage("fetch", 1800, meanRunTime="0.400s", currentWorkerCount=3, arrivalCount="600", arrivalPeriod="60s"),
        stage("enrich", 900, meanRunTime="6s", currentWorkerCount=4),
        stage("notify", 870, meanRunTime="0.100s"),
        stage("archive", 5, meanRunTime="0.100s", arrivalCount="0"),
        stage("old", 5, meanRunTime="0.100s", maxWorkerCount=0),
    ]
    means = ["0.400s", "6s", "0.100s", "0.100s", "0.100s"]
    works = [720_000_000, 5_400_000_000, 87_000_000, 500_000, 500_000]
    plain = {"means": means, "estimated": [False] * 5, "weights": [1] * 5}
    current = [3, 4, 0, 0, 0]
    for rule in RULES:
        for workers in (0, 2, 7):
            for prevented in (False, True):
                bounds = [bounds_of(one) for one in stages]
                if prevented:
                    bounds = floored(stages, workers)
                base = forced(rule, works, bounds, current, workers)
                counts = best(rule, works, bounds, workers, base)
                request = {"stages": stages, "workerCount": workers, "rule": rule, "preventStarvation": prevented}
                answer = allocated(rule, stages, works, counts, base, prevented=prevented, **plain)
                yield "AllocateWorkers", request, answer


def choices():
    stages = [
        stage("a", 90, meanRunTime="1s", currentWorkerCount=2),
        stage("b", 40, meanRunTime="1s", currentWorkerCount=1),
        stage("c", 1, meanRunTime="1s", currentWorkerCount=1, minWorkerCount=1),
    ]
    # Without the worker, one more gains 90/6 in a and 40/2 in b; with it in b, 90/12 in a.
    yield (
        "ChooseStage",
        {"stages": stages, "currentStageName": "a"},
        {
            "choice": {
                "stageName": "a",
                "reason": "STAGE_CHOICE_REASON_WORTH_MOST",
                "quotient": 15_000_000,
                "currentQuotient": 15_000_000,
            }
        },
    )
    yield (
        "ChooseStage",
        {"stages": stages, "currentStageName": "b"},
        {
            "choice": {
                "stageName": "b",
                "reason": "STAGE_CHOICE_REASON_WORTH_MOST",
                "quotient": 20_000_000,
                "currentQuotient": 20_000_000,
            }
        },
    )
    yield (
        "ChooseStage",
        {"stages": stages, "currentStageName": "c"},
        {
            "choice": {
                "stageName": "c",
                "reason": "STAGE_CHOICE_REASON_BELOW_MINIMUM",
                "quotient": 500_000,
                "currentQuotient": 500_000,
            }
        },
    )
    yield (
        "ChooseStage",
        {"stages": stages},
        {
            "choice": {
                "stageName": "a",
                "changesStage": True,
                "reason": "STAGE_CHOICE_REASON_WORTH_MOST",
                "quotient": 7_500_000,
            }
        },
    )
    near = [
        stage("a", 10, meanRunTime="1s", currentWorkerCount=1),
        stage("b", 12, meanRunTime="1s"),
    ]
    for percent, name, reason in (
        (0, "b", "WORTH_MOST"),
        (20, "b", "WORTH_MOST"),
        (21, "a", "GAIN_TOO_SMALL"),
    ):
        yield (
            "ChooseStage",
            {"stages": near, "currentStageName": "a", "minGainPercent": percent},
            {
                "choice": {
                    "stageName": name,
                    "changesStage": name != "a",
                    "reason": f"STAGE_CHOICE_REASON_{reason}",
                    "quotient": 6_000_000 if name == "b" else 5_000_000,
                    "currentQuotient": 5_000_000,
                }
            },
        )
    # The last worker of a stage with waiting jobs stays, and a new one goes to the first stage
    # without a worker.
    for name, chosen in (("b", "b"), ("a", "c")):
        small = [
            stage("a", 90, meanRunTime="1s", currentWorkerCount=2),
            stage("b", 1, meanRunTime="1s", currentWorkerCount=1),
            stage("c", 1, meanRunTime="1s"),
        ]
        quotients = {"quotient": 500_000, "currentQuotient": 500_000 if name == "b" else 15_000_000}
        yield (
            "ChooseStage",
            {"stages": small, "currentStageName": name, "preventStarvation": True},
            {
                "choice": {
                    "stageName": chosen,
                    "changesStage": name != chosen,
                    "reason": "STAGE_CHOICE_REASON_BELOW_MINIMUM",
                    **quotients,
                }
            },
        )
    full = [stage("a", 10, meanRunTime="1s", currentWorkerCount=1, maxWorkerCount=1)]
    yield "ChooseStage", {"stages": full}, {"choice": {"reason": "STAGE_CHOICE_REASON_ALL_FULL"}}
    done = [stage("a", 0, done=True, currentWorkerCount=1)]
    yield "ChooseStage", {"stages": done, "currentStageName": "a"}, {"allStagesDone": {}}


if __name__ == "__main__":
    cases = [*of_vectors(), *by_hand(), *starved(), *choices()]
    print_cases({"method": m, "request": q, "response": r} for m, q, r in cases)
