"""Prints 5,000 users with sizes by Pareto's law (exponent 1.1), a name, a tab and a size each."""

import random

dice = random.Random(10)
for user in range(5_000):
    print(f"user-{user}\t{int(100 * dice.paretovariate(1.1))}")
