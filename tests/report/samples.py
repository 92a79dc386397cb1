"""Made-up results in the simulator's format, with realistic shapes."""

from __future__ import annotations

import math
import random
from typing import Any

DAY = 86_400
CYCLE = 28_800
HOSTILE = '</script><img src=x onerror="window.broken=1">\'&amp;<!--'

Strategy = dict[str, Any]


def figures(**more: float | None) -> dict[str, float | None]:
    result: dict[str, float | None] = {
        "jobs_finished": 608_379,
        "jobs_failed": 0,
        "mean_wait": 0.21,
        "p50_wait": 0,
        "p95_wait": 1.1,
        "p99_wait": 4.0,
        "mean_sojourn": 10.2,
        "p95_sojourn": 24.2,
        "max_queue_depth": 61,
        "peak_enqueued_per_second": 9,
        "utilization": 0.67,
        "throughput_variation": 0.031,
        "interval_mean": 28_800.1,
        "interval_variation": 0.0004,
        "interval_p05": 28_789,
        "interval_p95": 28_811,
        "never_served": 0,
        "lock_conflicts": 0,
        "wasted_ratio": 0.0,
        "mean_slowdown": 1.2,
        "jobs_left": 3,
    }
    result.update(more)
    return result


def histogram(values: list[float], bins: int, low: float, high: float) -> dict[str, list[float]]:
    counts = [0] * bins
    for value in values:
        if low <= value <= high:
            counts[min(bins - 1, int((value - low) / (high - low) * bins))] += 1
    edges = [low + (high - low) * number / bins for number in range(bins + 1)]
    return {"edges": edges, "counts": counts}


def series(step: int, steps: int, workers: int, row) -> dict[str, Any]:
    rows = [row(number * step) for number in range(steps)]
    queue, finished, enqueued, busy = zip(*rows)
    return {
        "step": step,
        "queue_depth": list(queue),
        "finished_per_second": list(finished),
        "enqueued_per_second": list(enqueued),
        "busy_workers": list(busy),
        "workers": [workers] * steps,
    }


CRITERIA = {
    "consistent_delay": "interval_variation",
    "no_spikes": "peak_enqueued_per_second",
    "even_throughput": "throughput_variation",
    "no_conflicts": "lock_conflicts",
}


def ranked(strategies: list[Strategy]) -> list[str]:
    """Give each strategy its ranks, and return their names, best first."""
    for criterion, figure in CRITERIA.items():
        values = [one["figures"][figure] or 0 for one in strategies]
        for one, value in zip(strategies, values):
            one.setdefault("ranks", {})[criterion] = 1 + sum(other < value for other in values)
    return [one["name"] for one in sorted(strategies, key=lambda one: sum(one["ranks"].values()))]


def loads(chance: random.Random, slots: int, users: int) -> list[int]:
    result = [0] * slots
    for _ in range(users):
        result[chance.randrange(slots)] += 1
    return result


def week(step: int = 600, count: int = 5) -> dict[str, Any]:
    """Return a week of 29,000 users, 15 workers and jobs of 10 s, by up to eight strategies."""
    chance = random.Random(7)
    steps = 7 * DAY // step
    workers, capacity, rate, users = 15, 1.5, 29_000 / CYCLE, 29_000

    def at_once(time: int):
        since = time % CYCLE
        left = max(0.0, users - capacity * since)
        busy = workers if left > 0 else 0
        finished = capacity + chance.gauss(0, 0.03) if left > 0 else 0.0
        return round(left), max(0.0, finished), users if since < step else 0, busy

    def smear(time: int):
        wave = 1 + 0.12 * math.sin(2 * math.pi * time / CYCLE)
        queue = max(0, round(chance.expovariate(1 / 22) * wave))
        finished = max(0.0, rate + chance.gauss(0, 0.07))
        return queue, finished, 4 + chance.randrange(6), finished * 10

    def least_recent(time: int):
        queue = round(600 + chance.random() * 60)
        return queue, max(0.0, rate + chance.gauss(0, 0.11)), 605, 10 + chance.gauss(0, 0.6)

    def chained(time: int):
        # A deployment on the second day stopped all workers for two hours; the jobs that waited
        # return in every later cycle, as one wave.
        after = time - 1.5 * DAY
        wave = 0.0
        if after > 0:
            wave = max(0.0, 1 - ((after % (CYCLE + 900)) / 9_000)) * max(
                0.35, 1 - after / (9 * DAY)
            )
        down = 0 < after < 7_200
        queue = round(4_400 * wave + chance.expovariate(1 / 12))
        finished = 0.0 if down else min(capacity, rate + 0.45 * (wave > 0) + chance.gauss(0, 0.05))
        return queue, max(0.0, finished), round(5 + chance.random() * 6 + wave * 40), finished * 10

    def slots(time: int):
        finished = rate + chance.gauss(0, 0.025)
        return round(chance.expovariate(1 / 6)), finished, 3 + chance.randrange(5), finished * 10

    def spread(time: int):
        finished = rate + chance.gauss(0, 0.02)
        return round(chance.expovariate(1 / 9)), finished, 2 + chance.randrange(3), finished * 10

    def drawn(number: int, shape) -> list[float]:
        return [shape() for _ in range(number)]

    many = 20_000
    made: list[Strategy] = [
        {
            "name": "at once",
            "kind": "at_once",
            "figures": figures(
                mean_wait=9_660,
                p50_wait=9_660,
                p95_wait=18_350,
                p99_wait=19_140,
                mean_sojourn=9_670,
                p95_sojourn=18_365,
                max_queue_depth=28_985,
                peak_enqueued_per_second=29_000,
                throughput_variation=0.702,
                interval_variation=0.171,
                interval_p05=20_790,
                interval_p95=36_900,
                lock_conflicts=41_873,
                wasted_ratio=0.052,
            ),
            "series": series(step, steps, workers, at_once),
            "interval_histogram": histogram(
                drawn(many, lambda: CYCLE + 19_300 * (chance.random() - chance.random()) * 0.9),
                120,
                0,
                2 * CYCLE,
            ),
            "slots": None,
        },
        {
            "name": "random smear",
            "kind": "random_smear",
            "figures": figures(
                mean_wait=2.9,
                p95_wait=14,
                p99_wait=31,
                mean_sojourn=12.9,
                p95_sojourn=33,
                max_queue_depth=188,
                peak_enqueued_per_second=10,
                throughput_variation=0.07,
                interval_variation=0.408,
                interval_p05=9_110,
                interval_p95=48_500,
                lock_conflicts=1_204,
                wasted_ratio=0.0021,
            ),
            "series": series(step, steps, workers, smear),
            "interval_histogram": histogram(
                drawn(many, lambda: CYCLE * (1 + chance.random() - chance.random())),
                120,
                0,
                2 * CYCLE,
            ),
            "slots": None,
        },
        {
            "name": "least recent first",
            "kind": "least_recent",
            "figures": figures(
                mean_wait=202,
                p50_wait=201,
                p95_wait=391,
                p99_wait=408,
                mean_sojourn=212,
                p95_sojourn=407,
                max_queue_depth=660,
                peak_enqueued_per_second=605,
                throughput_variation=0.12,
                interval_variation=0.011,
                interval_p05=28_420,
                interval_p95=29_390,
                never_served=0,
                lock_conflicts=3_318,
                wasted_ratio=0.006,
            ),
            "series": series(step, steps, workers, least_recent),
            "interval_histogram": histogram(
                drawn(many, lambda: CYCLE + 100 + chance.gauss(0, 300)), 90, 27_000, 31_000
            ),
            "slots": None,
        },
        {
            "name": "self-rescheduling",
            "kind": "self_rescheduling",
            "figures": figures(
                jobs_finished=596_004,
                jobs_failed=112,
                mean_wait=318,
                p50_wait=3,
                p95_wait=2_405,
                p99_wait=3_690,
                mean_sojourn=328,
                p95_sojourn=2_416,
                max_queue_depth=4_412,
                peak_enqueued_per_second=51,
                throughput_variation=0.24,
                interval_mean=29_304,
                interval_variation=0.038,
                interval_p05=28_806,
                interval_p95=31_260,
                never_served=37,
                lock_conflicts=212,
                wasted_ratio=0.0004,
            ),
            "series": series(step, steps, workers, chained),
            "interval_histogram": histogram(
                drawn(many, lambda: CYCLE + 6 + chance.expovariate(1 / 700)), 100, 28_000, 36_000
            ),
            "slots": None,
        },
        {
            "name": "slots (TWISTER)",
            "kind": "slots",
            "figures": figures(),
            "series": series(step, steps, workers, slots),
            "interval_histogram": histogram(
                drawn(many, lambda: CYCLE + chance.gauss(0, 7)), 60, 28_760, 28_840
            ),
            "slots": {
                "loads": loads(chance, 128, users),
                "kinds": [{"name": "sync", "slot": 0}, {"name": "refresh", "slot": 64}],
            },
        },
    ]
    for number in range(5, count):
        more = {**made[4 if number % 2 else 1]}
        more["name"] = f"slots, {number} feeders" if number % 2 else f"smear of {number} h"
        more["figures"] = {**more["figures"], "peak_enqueued_per_second": 12 + number}
        more["series"] = series(step, steps, workers, spread if number % 2 else smear)
        made.append(more)
    return {
        "scenario": {
            "name": "A week of bank syncs",
            "description": "29,000 customers of a budgeting app are synchronised with their banks "
            "three times a day. On the second day the workers stand still for two hours.",
            "duration": 7 * DAY,
            "workers": workers,
            "population": users,
            "cycle": CYCLE,
            "seeds": [1],
        },
        "ranking": ranked(made),
        "strategies": made,
        "lanes": None,
    }


def lanes() -> dict[str, Any]:
    """Return a day of three strategies, two with slots and several kinds, and lanes."""
    chance = random.Random(11)
    step, steps, users, cycle = 60, 1_440, 4_800, 7_200

    def row(noise: float, depth: float):
        def one(time: int):
            finished = max(
                0.0, 1.9 + 0.5 * math.sin(2 * math.pi * time / DAY) + chance.gauss(0, noise)
            )
            queue = round(chance.expovariate(1 / depth))
            return queue, finished, 2 + chance.randrange(4 + int(depth / 8)), min(24, finished * 9)

        return one

    def strategy(name: str, kind: str, noise: float, depth: float, sigma: float) -> Strategy:
        return {
            "name": name,
            "kind": kind,
            "figures": figures(
                jobs_finished=164_000 + round(depth),
                mean_wait=depth / 9,
                p50_wait=depth / 14,
                p95_wait=depth / 2,
                p99_wait=depth,
                max_queue_depth=depth * 7,
                peak_enqueued_per_second=5 + int(depth / 8),
                throughput_variation=noise / 2,
                interval_mean=cycle,
                interval_variation=sigma / cycle,
                interval_p05=cycle - 1.64 * sigma,
                interval_p95=cycle + 1.64 * sigma,
                lock_conflicts=int(depth * 3) if kind != "spread" else 0,
                wasted_ratio=depth / 9_000,
            ),
            "series": series(step, steps, 24, row(noise, depth)),
            "interval_histogram": histogram(
                [cycle + chance.gauss(0, sigma) for _ in range(8_000)], 80, 0, 2 * cycle
            ),
            "slots": None,
        }

    placed = strategy("slots (HASH)", "slots", 0.1, 11, 25)
    placed["slots"] = {
        "loads": loads(chance, 32, users),
        "kinds": [
            {"name": "sync", "slot": 0},
            {"name": "refresh of consents", "slot": 16},
            {"name": "categorise", "slot": 16},
            {"name": "monthly statement", "slot": 23},
            {"name": "cleanup", "slot": 8},
        ],
    }
    spread = strategy("spread over 4 feeders", "spread", 0.08, 8, 160)
    spread["slots"] = {
        "loads": [users // 240 + (number % 3 == 0) for number in range(240)],
        "kinds": [{"name": "sync", "slot": 0}, {"name": "refresh of consents", "slot": 120}],
    }
    strategies = [placed, strategy("random smear", "random_smear", 0.3, 46, 2_400), spread]
    cutoffs = []
    for number in range(40):
        cutoff = 0.02 * 1.2**number
        distance = math.log(cutoff / 0.55)
        slowdown = 1.5 + 1.15 * distance**2 / (1 + 0.12 * distance**2)
        cutoffs.append({"cutoff": cutoff, "mean_slowdown": slowdown})
    return {
        "scenario": {
            "name": "Imports of all sizes",
            "description": "A day with short and very long jobs in the same queue.",
            "duration": DAY,
            "workers": 24,
            "population": users,
            "cycle": cycle,
            "seeds": [1, 2, 3],
        },
        "ranking": ranked(strategies),
        "strategies": strategies,
        "lanes": {"cutoffs": cutoffs, "cutoff": 0.55, "one_queue": 7.7, "with_lanes": 1.5},
    }


def minimal() -> dict[str, Any]:
    """Return one strategy, with nulls and empty lists wherever the format allows them."""
    return {
        "scenario": {
            "name": "Ten minutes",
            "description": "",
            "duration": 600,
            "workers": 2,
            "population": 12,
            "cycle": 3_600,
            "seeds": [1],
        },
        "ranking": ["at once"],
        "strategies": [
            {
                "name": "at once",
                "kind": "at_once",
                "figures": figures(
                    jobs_finished=12,
                    interval_mean=None,
                    interval_variation=None,
                    interval_p05=None,
                    interval_p95=None,
                    max_queue_depth=12,
                    peak_enqueued_per_second=12,
                ),
                "ranks": dict.fromkeys(CRITERIA, 1),
                "series": {
                    "step": 60,
                    "queue_depth": [12, 8, 3, 0, 0, 0, 0, 0, 0, 0],
                    "finished_per_second": [0.066, 0.083, 0.05, 0, 0, 0, 0, 0, 0, 0],
                    "enqueued_per_second": [12, 0, 0, 0, 0, 0, 0, 0, 0, 0],
                    "busy_workers": [2, 2, 1.5, 0, 0, 0, 0, 0, 0, 0],
                    "workers": [2] * 10,
                },
                "interval_histogram": {"edges": [], "counts": []},
                "slots": None,
            }
        ],
        "lanes": None,
    }


def hostile() -> dict[str, Any]:
    """Return names that try to be markup, placeholders of the page, or too long for it."""
    results = lanes()
    names = [HOSTILE, "/*OFFBEAT:SCRIPT*/ \u202e$& $1 \\u003c", "W" * 180]
    ranking = {one["name"]: name for one, name in zip(results["strategies"], names)}
    results["ranking"] = [ranking[name] for name in results["ranking"]]
    for one, name in zip(results["strategies"], names):
        one["name"] = name
        for kind in (one["slots"] or {}).get("kinds", []):
            kind["name"] = HOSTILE + kind["name"]
        one["partners"] = [
            {"name": HOSTILE, "jobs_finished": 1, "throttled": 2, "failed": 3, "mean_wait": 4.5}
        ]
    results["scenario"]["notes"] = [HOSTILE, "N" * 300]
    results["scenario"]["name"] = HOSTILE
    results["scenario"]["description"] = "M" * 300 + HOSTILE
    return results


def crowded() -> dict[str, Any]:
    """Return the most that a page holds: eight strategies with about 2,000 steps each."""
    results = week(step=303, count=8)
    results["scenario"]["name"] = "Eight strategies"
    return results


SAMPLES = {
    "week": week,
    "lanes": lanes,
    "minimal": minimal,
    "hostile": hostile,
    "crowded": crowded,
}
