"""Other ways to allocate workers: exhaustive search, and the package apportionment.

benchmarks/stages/stages.py prints nanoseconds, the best of three.
"""

import itertools
import math
import random
import time
from functools import partial

from apportionment.methods import compute


def enumerated(works, workers):
    """The algorithm of the rule's source, without the subsets that it discards."""
    stages = len(works)
    best, least = None, math.inf
    for bars in itertools.combinations(range(workers + stages - 1), stages - 1):
        counts = [b - a - 1 for a, b in zip((-1, *bars), (*bars, workers + stages - 1))]
        score = sum(work / (count + 1) for work, count in zip(works, counts))
        if score < least:
            best, least = counts, score
    return best


def timed(what, question):
    times = []
    for _ in range(3):
        begun = time.perf_counter()
        question()
        times.append(time.perf_counter() - begun)
    print(f"{what}\t{min(times) * 1e9:.0f} ns")


def main():
    random.seed(1)
    works = [random.randint(1, 1_000_003) for _ in range(100_000)]
    timed("Python, every allocation, 8 stages, 18 workers", lambda: enumerated(works[:8], 18))
    ends = math.comb(16 + 9, 9)
    print(f"allocations of 16 workers over 10 stages\t{ends}")
    print(f"allocations of 100 workers over 20 stages\t{math.comb(119, 19):.1e}")
    for stages, workers in ((10, 16), (50, 10_000)):  # the package has names for at most 52
        title = f"apportionment, D'Hondt in fractions, {stages} stages, {workers} workers"
        votes = works[:stages]
        timed(title, partial(compute, "dhondt", votes, workers, fractions=True, verbose=False))


if __name__ == "__main__":
    main()
