"""Prints the vectors as golden answers of SlotService: one batch per schedule.

Run: python3 decisions_of_vectors.py > ../decisions/vectors.json
Every slot and offset is taken from the files in the parent folder; only the times that follow,
and the fingerprints, are computed here.
"""

from __future__ import annotations

import json
from collections import defaultdict
from datetime import datetime, timedelta, timezone

from decisions import EPOCH, VECTORS, Spec, print_cases, rfc3339

AT = datetime(2026, 1, 1, tzinfo=timezone.utc)
LONGEST_SECONDS = 3_660 * 86_400


def vectors(name):
    return json.loads((VECTORS / f"{name}.json").read_text())


def batch(spec, column, placed):
    """A batch of (ID, slot, offset in the slot), all of them valid."""
    rows = defaultdict(list)
    for _, slot, offset in placed:
        from_cycle = slot * spec.slot // spec.tick + offset
        since = (AT - spec.anchor) // timedelta(milliseconds=1)
        cycle = -((from_cycle * spec.tick - since) // spec.period)
        start = spec.instant(from_cycle * spec.tick + cycle * spec.period)
        rows["slotIndexes"].append(slot)
        rows["slotOffsetTicks"].append(str(offset))
        rows["cycleOffsetTicks"].append(str(from_cycle))
        rows["cycleIndexes"].append(str(cycle))
        rows["nextRunUnixMillis"].append(str((start - EPOCH) // timedelta(milliseconds=1)))
    return {
        "method": "AssignSlots",
        "request": {
            "schedule": spec.json(),
            "ids": {column: [value for value, _, _ in placed]},
            "fromTime": rfc3339(AT),
        },
        "response": {
            "identity": spec.identity,
            "assignments": {
                "resolution": f"{spec.tick // 1_000}s" if spec.tick == 1_000 else "0.001s",
                **rows,
                "runKeyPrefix": f"{spec.fingerprint}/default",
            },
        },
    }


def grouped(cases, key):
    groups = defaultdict(list)
    for case in cases:
        groups[key(case)].append(case)
    return groups.items()


def hash_batches():
    for (salt, ticks, slots), cases in grouped(
        vectors("hash_placement")["hash"], lambda case: (case["salt"], case["ticks"], case["slots"])
    ):
        spec = Spec(ticks * 1_000, slots, salt=salt)
        length = ticks // slots
        yield batch(
            spec, "texts", [(case["id"], case["slot"], case["offset"] % length) for case in cases]
        )


def fraction_batches():
    for ticks, cases in grouped(vectors("hash_placement")["fraction"], lambda case: case["ticks"]):
        spec = Spec(ticks * 1_000, 1, placement="FRACTION")
        yield batch(
            spec, "fractions", [(float(case["fraction"]), 0, case["offset"]) for case in cases]
        )


def uuid_batches():
    placed = defaultdict(list)
    for case in vectors("uuid_ids")["cases"]:
        for place in case["placements"]:
            row = (case["uuid"], place["slot"], place["offset"])
            placed[place["cycle"], place["slots"]].append(row)
    for (cycle, slots), rows in placed.items():
        yield batch(Spec(cycle * 1_000, slots, placement="TWISTER"), "uuids", rows)


def random_batches():
    """With one slot, an offset is the first draw below the period."""
    for file, profile in [
        ("ruby_3_4_random", "RUBY"),
        ("ruby_3_1_random", "RUBY_3_0_TO_3_1"),
        ("python_random", "PYTHON"),
        ("php_random", "PHP"),
        ("php_rejection", "PHP"),
    ]:
        for limit, cases in grouped(vectors(file)["cases"], lambda case: int(case["limit"])):
            tick = 1_000 if limit <= LONGEST_SECONDS else 1
            if limit * tick > LONGEST_SECONDS * 1_000:
                continue  # longer than a period may be
            spec = Spec(limit * tick, 1, placement="TWISTER", tick=tick, profile=profile)
            rows = [(case["seed"], 0, int(case["first"])) for case in cases]
            yield batch(spec, "decimals", rows)


if __name__ == "__main__":
    print_cases([*hash_batches(), *fraction_batches(), *uuid_batches(), *random_batches()])
