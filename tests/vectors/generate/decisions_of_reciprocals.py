"""Prints golden answers of GetReciprocalSlots with conflicts and delays.

Run: python3 decisions_of_reciprocals.py > ../decisions/reciprocals.json
Conflicts are solved by checking every placement, in order: the first of those whose
smallest distance is the largest.
"""

from __future__ import annotations

import random
from itertools import product

from decisions import Spec, duration, print_cases

PERIOD = 28_800_000


def search(slots: int, kinds: int, pairs: list[tuple[int, int]]) -> tuple[int, ...]:
    best, first = 0, None
    for rest in product(range(slots), repeat=kinds - 1):
        places = (0, *rest)
        away = (abs(places[a] - places[b]) for a, b in pairs)
        smallest = min(min(distance, slots - distance) for distance in away)
        if smallest > best:
            best, first = smallest, places
    assert first, "two of them meet"
    return first


def answer(spec, index, offsets, pairs, delay, request):
    """The answer for kinds at these offsets; those in `pairs` must not meet."""
    slots = spec.slots

    def gap(kind):
        met = {b for a, b in pairs if a == kind} | {a for a, b in pairs if b == kind}
        return min(((offsets[other] - offsets[kind]) % slots for other in met), default=slots)

    def budget(count):
        return duration(max(0, count * spec.slot - delay))

    gaps = [gap(kind) for kind in range(len(offsets))]
    return {
        "method": "GetReciprocalSlots",
        "request": {"schedule": spec.json(), "slotIndex": index, **request},
        "response": {
            "identity": spec.identity,
            "kinds": [
                {
                    "kindIndex": kind,
                    "offsetSlotCount": offset,
                    "idSlotIndex": (index + offset) % slots,
                    "clockSlotIndex": (index - offset) % slots,
                    "gapSlotCount": gaps[kind],
                    "runBudget": budget(gaps[kind]),
                    "offset": duration(offset * spec.slot),
                }
                for kind, offset in enumerate(offsets)
            ],
            "gapSlotCount": min(gaps),
            "gap": duration(min(gaps) * spec.slot),
            "runBudget": budget(min(gaps)),
            "independentRunBudget": budget(min(gaps) - 1),
        },
    }


def conflict_cases():
    ring = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]
    whole = [(a, b) for b in range(4) for a in range(b)]
    fixed = [
        (20, 5, ring),
        (16, 5, ring[:4]),
        (9, 4, whole),
        (12, 4, [(2, 3)]),
        (15, 5, [(0, 1), (2, 3), (3, 4), (4, 2)]),
        (10, 6, [(0, 3), (3, 1), (1, 4), (4, 2), (2, 5)]),
    ]
    dice = random.Random(9)
    for _ in range(30):
        kinds = dice.randint(2, 6)
        slots = [s for s in range(2, {6: 11, 5: 21}.get(kinds, 49)) if PERIOD // 1_000 % s == 0]
        pairs = [(a, b) for b in range(kinds) for a in range(b) if dice.random() < 0.6]
        dice.shuffle(pairs)
        if pairs:
            # Kinds that meet on few slots are refused, which another file covers.
            fixed.append((max(dice.choice(slots), kinds), kinds, pairs))
    for number, (slots, kinds, pairs) in enumerate(fixed):
        if PERIOD // 1_000 % slots:
            continue
        spec = Spec(PERIOD, slots)
        request = {
            "kindCount": kinds,
            "kindConflicts": [{"firstKindIndex": a, "secondKindIndex": b} for a, b in pairs],
        }
        yield answer(spec, number % slots, search(slots, kinds, pairs), pairs, 0, request)


def delay_cases():
    for slots, kinds, polling, slot_job in [
        (96, 3, 60_000, 30_500),
        (96, 2, 0, 1),
        (8, 2, 14_400_000, 0),
        (8, 2, 28_800_000, 28_800_000),
    ]:
        spec = Spec(PERIOD, slots)
        offsets = [kind * slots // kinds for kind in range(kinds)]
        pairs = [(a, b) for b in range(kinds) for a in range(b)]
        request = {
            "kindCount": kinds,
            "pollingDelay": duration(polling),
            "slotJobDelay": duration(slot_job),
        }
        yield answer(spec, 0, offsets, pairs, polling + slot_job, request)


if __name__ == "__main__":
    print_cases([*conflict_cases(), *delay_cases()])
