"""Prints 5,000 users as name, tab and size; sizes have a Pareto distribution (exponent 1.1)."""

import random

dice = random.Random(10)
for user in range(5_000):
    print(f"user-{user}\t{int(100 * dice.paretovariate(1.1))}")
