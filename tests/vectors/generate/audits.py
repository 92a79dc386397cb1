"""Golden answers of AuditIds: how a sample fills the slots. Binomials are exact fractions."""

from __future__ import annotations

from fractions import Fraction
from math import comb

from weighted_schedules import Weighted


def fullest(population, slots, probability):
    """The smallest m with BinomialCDF(m; N, 1/n)^n at or above a probability, in fractions."""
    share, cdf = Fraction(1, slots), Fraction(0)
    for m in range(population + 1):
        cdf += comb(population, m) * share**m * (1 - share) ** (population - m)
        if cdf**slots >= probability:
            return m
    raise AssertionError


def audit_case(spec, ids, places, weights=None, warnings=()):
    """`places`: the offset of each piece of each ID; with few IDs a slot, without a p-value."""
    loads, counts = [0.0] * spec.slots, [0] * spec.slots
    for index, pieces in enumerate(places):
        counts[pieces[0] // spec.slot] += 1
        for offset in pieces:
            loads[offset // spec.slot] += (weights[index] if weights else 1) / len(pieces)
    expected = Fraction(len(places), spec.slots)
    assert expected < 5
    chi_square = float(sum((count - expected) ** 2 / expected for count in counts))
    request = {"schedule": spec.json(), "ids": ids}
    if weights:
        request["weights"] = [str(weight) for weight in weights]
    response = {
        "identity": spec.identity,
        "idCount": str(len(places)),
        "slotLoads": loads,
        "fullestSlotIndex": loads.index(max(loads)),
        "fullestLoad": max(loads),
        "fullestToMeanRatio": max(loads) / (sum(loads) / spec.slots),
        "expectedLoad": {
            "mean": float(expected),
            "fullestMedian": str(fullest(len(places), spec.slots, Fraction(1, 2))),
            "fullestP99": str(fullest(len(places), spec.slots, Fraction(99, 100))),
        },
        "emptySlotCount": loads.count(0),
        "chiSquare": chi_square,
        "warnings": [
            {"finding": f"AUDIT_FINDING_{finding}", "message": message}
            for finding, message in warnings
        ],
    }
    return {"method": "AuditIds", "request": request, "response": response}


def audit_cases():
    even = Weighted(28_800_000, 16, quantum=8)
    texts = [f"user-{number}" for number in range(64)]
    places = [[even.offset(text, None)] for text in texts]
    yield audit_case(even, {"texts": texts}, places)
    weights = [1 << number % 5 for number in range(64)]  # up to 16: two pieces
    pieces = [
        [even.offset(text, None, piece) for piece in range(even.pieces(weight))]
        for text, weight in zip(texts, weights)
    ]
    yield audit_case(even, {"texts": texts}, pieces, weights)
    twice = texts[:32] * 2
    places = [[even.offset(text, None)] for text in twice]
    message = "32 of 64 IDs came before in the sample: it should have each once"
    yield audit_case(even, {"texts": twice}, places, warnings=[("DUPLICATES", message)])
    heavy = [1] * 63 + [1 << 20]
    cut = Weighted(28_800_000, 16, quantum=1 << 19)
    pieces = [
        [cut.offset(text, None, piece) for piece in range(cut.pieces(weight))]
        for text, weight in zip(texts, heavy)
    ]
    message = (
        'a piece of "user-63" weighs 524288, 8.0 times what a slot holds on average: a smaller '
        "weight_quantum than 524288 cuts it"
    )
    yield audit_case(cut, {"texts": texts}, pieces, heavy, [("HEAVY_ID", message)])
    drawn = Weighted(28_800_000, 16, "TWISTER", profile="PYTHON")
    tens = [8 * number + 3 for number in range(64)]
    places = [[drawn.offset(str(number), number)] for number in tens]
    message = (
        "all 64 integers are 3 modulo 8, so that they fall into 32 of 256 buckets: take "
        "PLACEMENT_HASH"
    )
    ids = {"integers": [str(number) for number in tens]}
    yield audit_case(drawn, ids, places, warnings=[("SPARSE_INTEGERS", message)])
