"""The expected load of a schedule, by the binomial distribution to fifty digits."""

import json
import math
import os
import subprocess
from decimal import Decimal, getcontext
from functools import cache
from pathlib import Path

import pytest

getcontext().prec = 50
ROOT = Path(__file__).resolve().parents[2]
BINARY = os.environ.get("OFFBEAT_BIN", str(ROOT / "target/debug/offbeat"))
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097")
#: Bernoulli's numbers B2, B4, …, over 2k·(2k − 1): Stirling's series.
STIRLING = [Decimal(a) / b for a, b in [(1, 12), (-1, 360), (1, 1_260), (-1, 1_680), (1, 1_188),
                                        (-691, 360_360), (1, 156), (-3_617, 122_400)]]  # fmt: skip


@cache
def log_factorial(n):
    if n < 300:
        return Decimal(math.factorial(n)).ln()
    x = Decimal(n)
    series = sum(term / x ** (2 * k + 1) for k, term in enumerate(STIRLING))
    return x * x.ln() - x + (2 * PI * x).ln() / 2 + series


def tail(population, share, m):
    """P(X > m), summed from its first term."""
    count = m + 1
    if count > population:
        return Decimal(0)
    choose = log_factorial(population) - log_factorial(count) - log_factorial(population - count)
    mass = (choose + count * share.ln() + (population - count) * (1 - share).ln()).exp()
    total, odds = Decimal(0), share / (1 - share)
    while count <= population and mass > total * Decimal("1e-30"):
        total += mass
        mass *= odds * (population - count) / (count + 1)
        count += 1
    return total


def fullest(population, places, probability):
    """The smallest m with P(max ≤ m) at or above the probability."""
    share, mean = Decimal(1) / places, population / places
    wanted = Decimal(probability).ln()
    low, high = math.ceil(mean) - 1, int(mean + 12 * mean**0.5 + 40)
    while high - low > 1:
        m = (low + high) // 2
        none_above = 1 - tail(population, share, m)
        if none_above > 0 and places * none_above.ln() >= wanted:
            high = m
        else:
            low = m
    return high


def described(population, slots, cycle):
    command = [BINARY, "slots", "describe", "--cycle", f"{cycle}s", "--slots", str(slots)]
    command += ["--population", str(population), "--format", "json"]
    return json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)


@pytest.mark.parametrize("population", [1, 37, 5_000, 200_000, 10_000_000, 1_000_000_000])
@pytest.mark.parametrize(
    ("slots", "cycle"), [(2, 20), (15, 28_800), (128, 28_800), (1_440, 86_400), (1 << 20, 1 << 22)]
)
def test_the_expected_load_is_within_two_percent_of_the_binomial(population, slots, cycle):
    answer = described(population, slots, cycle)
    for load, places in [(answer["slot_load"], slots), (answer["second_load"], cycle)]:
        assert math.isclose(load["mean"], population / places)
        for name, probability in [("fullest_median", "0.5"), ("fullest_p99", "0.99")]:
            exact = fullest(population, places, probability)
            # In fact the counts are equal, except for rounding at the edge of a probability.
            assert abs(load[name] - exact) <= max(1, 0.02 * exact), (name, places, exact)
            if exact < 1_000_000:
                assert abs(load[name] - exact) <= 1


def test_the_oracle_agrees_with_exact_fractions():
    for population, places in [(10, 2), (64, 16), (100, 7)]:
        for probability in ["0.5", "0.99"]:
            m, ways = 0, 0
            while True:
                ways += math.comb(population, m) * (places - 1) ** (population - m)
                if (Decimal(ways) / places**population) ** places >= Decimal(probability):
                    break
                m += 1
            assert fullest(population, places, probability) == m
