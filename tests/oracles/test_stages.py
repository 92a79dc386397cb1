"""D'Hondt's method, as the package `apportionment` has it; and a search of everything."""

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


def allocate(backlogs, workers, rule):
    stages = [
        {"name": f"stage {place}", "backlog_count": backlog, "mean_run_time": "1s"}
        for place, backlog in enumerate(backlogs)
    ]
    command = [BINARY, "stages", "allocate", "--workers", str(workers), "--rule", rule]
    answer = subprocess.run(
        [*command, "--format", "json"], input=json.dumps(stages), capture_output=True, text=True
    )
    assert answer.returncode == 0, answer.stderr
    return [stage["worker_count"] for stage in json.loads(answer.stdout)["allocations"]]


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

        # Of equal scores, the one with most workers in the first stages.
        best = min(allocations, key=lambda counts: (score(counts), [-count for count in counts]))
        assert allocate(backlogs, workers, "minimum-score") == list(best), (case, backlogs, workers)
