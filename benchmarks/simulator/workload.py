"""The slots of examples/simulations/bank_sync_week.toml, for simulators in Python."""

import math
import random
import time

WEEK = 7 * 24 * 3_600
CYCLE = 8 * 3_600
USERS = 29_000
WORKERS = 15
MU = math.log(6)  # of the run times, whose p50 is 6 s and whose p90 is 18 s
SIGMA = math.log(18 / 6) / 1.2815515655446004


def arrivals():
    """The times at which jobs are enqueued: each user has the same offset in every cycle."""
    draw = random.Random(1).random
    offsets = sorted(draw() * CYCLE for _ in range(USERS))
    return [start + offset for start in range(0, WEEK, CYCLE) for offset in offsets]


def timed(what, simulate):
    """Prints how many times faster than real time `simulate` is; it returns its jobs."""
    best = math.inf
    for _ in range(3):
        random.seed(1)
        begun = time.perf_counter()
        jobs = simulate()
        best = min(best, time.perf_counter() - begun)
    print(f"{what}, times real time ({jobs} jobs)\t{WEEK / best:.0f}")
