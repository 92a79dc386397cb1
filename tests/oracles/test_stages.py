"""D'Hondt's method by the package `apportionment`, exhaustive searches, and a pipeline."""

import itertools
import json
import os
import random
import subprocess
from fractions import Fraction
from pathlib import Path

from apportionment.methods import compute

ROOT = Path(__file__).resolve().parents[2]
BINARY = os.environ.get("OFFBEAT_BIN", str(ROOT / "target/debug/offbeat"))


def run(command, workers, rows, *flags):
    arguments = [BINARY, "stages", command, "--workers", str(workers), "--format", "json", *flags]
    answer = subprocess.run(arguments, input=json.dumps(rows), capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


def allocate(backlogs, workers, rule):
    stages = [
        {"name": f"stage {place}", "backlog_count": backlog, "mean_run_time": "1s"}
        for place, backlog in enumerate(backlogs)
    ]
    answer = run("allocate", workers, stages, "--rule", rule)
    return [stage["worker_count"] for stage in json.loads(answer)["allocations"]]


def test_d_hondt_is_that_of_apportionment():
    random.seed("d'hondt")
    for case in range(1_000):
        largest = random.choice([3, 10, 1_000, 10**9])
        votes = [random.randint(0, largest) for _ in range(random.randint(1, 12))]
        if not any(votes):
            votes[-1] = 1
        seats = random.randint(1, 60)
        expected = compute("dhondt", votes, seats, fractions=True, verbose=False)
        assert allocate(votes, seats, "d-hondt") == list(expected), (case, votes, seats)


def test_the_smallest_score_is_that_of_a_search_of_everything():
    random.seed("score")
    for case in range(200):
        largest = random.choice([3, 20, 10**6])
        backlogs = [random.randint(0, largest) for _ in range(random.randint(1, 4))]
        workers = random.randint(0, 7)
        allocations = [
            counts
            for counts in itertools.product(range(workers + 1), repeat=len(backlogs))
            if sum(counts) == workers
        ]

        def score(counts, backlogs=backlogs):
            return sum(Fraction(v, w + 1) for v, w in zip(backlogs, counts))

        # Among equal scores, the allocation with the most workers in the first stages.
        best = min(allocations, key=lambda counts: (score(counts), [-count for count in counts]))
        assert allocate(backlogs, workers, "minimum-score") == list(best), (case, backlogs, workers)


#: The jobs that one worker does in a minute, by stage.
PIPELINE = {"fetch": 150, "parse": 40, "enrich": 10, "index": 30, "notify": 600}
#: Jobs that arrive in each minute.
ARRIVALS = [600, 600, 600, 3_000, 600, 600, 600, 0, 0, 0, 600, 600]


def test_a_timeline_is_a_loop_around_allocations():
    """A loop such as a user would write, with whole jobs per minute, against one command."""
    start = {"fetch": 7, "parse": 7, "enrich": 6, "index": 6, "notify": 6}
    for flags in (
        [],
        ["--max-moves", "4"],
        ["--min-improvement", "15"],
        ["--weighting", "latency"],
        ["--prevent-starvation"],
    ):
        rows = []
        for minute, count in enumerate(ARRIVALS):
            arrivals = {"arrival_count": count, "arrival_period": "60s"}
            if minute == 0:
                rows += [
                    {"time": "0m", "name": name, "mean_run_time": f"{60 / speed}s"}
                    | {"current_worker_count": start[name]}
                    for name, speed in PIPELINE.items()
                ]
                rows[0] |= {"backlog_count": 2_000, **arrivals}
            else:
                rows.append({"time": f"{minute}m", "name": "fetch", **arrivals})
        lines = map(json.loads, run("timeline", 32, rows, *flags).splitlines())
        found = [(line["backlog_count"], line["worker_count"]) for line in lines]

        workers, backlogs, wanted = start, dict.fromkeys(PIPELINE, 0) | {"fetch": 2_000}, []
        for count in ARRIVALS:
            stages = [
                {"name": name, "backlog_count": backlogs[name], "mean_run_time": f"{60 / speed}s"}
                | {"current_worker_count": workers[name]}
                for name, speed in PIPELINE.items()
            ]
            answer = json.loads(run("allocate", 32, stages, *flags))["allocations"]
            workers = {stage["stage_name"]: stage["worker_count"] for stage in answer}
            wanted += [(backlogs[name], workers[name]) for name in PIPELINE]
            coming = count
            for name, speed in PIPELINE.items():
                backlogs[name] += coming
                coming = min(backlogs[name], workers[name] * speed)
                backlogs[name] -= coming
        assert found == wanted, flags
