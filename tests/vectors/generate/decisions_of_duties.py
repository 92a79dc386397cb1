"""Prints golden answers about weights, new IDs, due runs, migrations and audits.

Run: python3 decisions_of_duties.py > ../decisions/duties.json
Runs are walked cycle by cycle, pieces are placed by text, binomials are exact fractions.
"""

from __future__ import annotations

import hashlib
import random
from datetime import datetime, timedelta, timezone
from fractions import Fraction
from math import comb

from decisions import EPOCH, Spec, duration, print_cases, rfc3339, run_id

AT = datetime(2026, 1, 1, 3, 4, 5, tzinfo=timezone.utc)
MILLI = timedelta(milliseconds=1)


def since_epoch(instant: datetime) -> int:
    return (instant - EPOCH) // MILLI


def at_millis(millis: int) -> str:
    return rfc3339(EPOCH + timedelta(milliseconds=millis))


def reversed_bits(piece: int) -> int:
    return int(format(piece, "064b")[::-1], 2)


class Weighted(Spec):
    """A schedule whose IDs have weights."""

    def __init__(self, *arguments, quantum=None, **more):
        super().__init__(*arguments, **more)
        self.quantum = quantum
        if quantum is not None:
            head, salt, rest = self.canonical_text.partition("\nsalt=")
            self.canonical_text = f"{head}\nweight_quantum={quantum}{salt}{rest}"
            self.fingerprint = hashlib.sha256(self.canonical_text.encode()).hexdigest()
            self.identity = {
                "fingerprint": self.fingerprint,
                "runKeyRoot": self.fingerprint,
            }

    def json(self, **more):
        if self.quantum is not None:
            more["weightQuantum"] = str(self.quantum)
        return super().json(**more)

    def digest(self, canonical):
        return hashlib.md5((self.salt + canonical).encode()).hexdigest()

    def smear(self, canonical, piece=0):
        """The number below 2^64 that smears a piece."""
        return (int(self.digest(canonical)[16:], 16) + reversed_bits(piece)) % 2**64

    def offset(self, canonical, own, piece=0):
        """Milliseconds from the cycle's start; `own` is the ID itself, where it is no text."""
        ticks = self.period // self.tick
        if self.placement == "HASH":
            h = (int(self.digest(canonical)[:16], 16) + reversed_bits(piece)) % 2**64
            return h * ticks // 2**64 * self.tick
        if self.placement == "FRACTION":
            first = min(int(own * ticks), ticks - 1)
        else:
            bucket = own % (self.buckets or 256)
            slot = bucket * self.slots // (self.buckets or 256)
            first = slot * (ticks // self.slots) + random.Random(own).randrange(ticks // self.slots)
        return (first + reversed_bits(piece) * ticks // 2**64) % ticks * self.tick

    def pieces(self, weight):
        return max(1, min(self.slots, -(-weight // self.quantum)))

    def run_at(self, cycle, offset):
        return since_epoch(self.anchor) + cycle * self.period + offset

    def cycle_of(self, millis):
        return (millis - since_epoch(self.anchor)) // self.period

    def runs(self, offset, start, end):
        """(Cycle, start) of the runs in [start, end), cycle by cycle."""
        cycles = range(self.cycle_of(start) - 1, self.cycle_of(end) + 2)
        found = [(cycle, self.run_at(cycle, offset)) for cycle in cycles]
        return [(cycle, run) for cycle, run in found if start <= run < end]

    def next(self, offset, millis):
        return self.runs(offset, millis, millis + 2 * self.period)[0]

    def last(self, offset, millis):
        return self.runs(offset, millis - 2 * self.period, millis)[-1]


HASH = Weighted(28_800_000, 128, quantum=10)
SALTED = Weighted(86_400_000, 1_440, tick=250, salt="s\nt=", quantum=1_000)
STORED = Weighted(86_400_000, 96, "FRACTION", quantum=7)
DRAWN = Weighted(28_800_000, 15, "TWISTER", profile="PYTHON", quantum=3)


def piece_of(spec, canonical, own, piece, at, count=1, kind="default", new_id=None):
    offset = spec.offset(canonical, own, piece)
    slot, slot_offset = divmod(offset, spec.slot)

    def run(cycle, start):
        key = f"{spec.fingerprint}/{kind}/{cycle}/{piece}/{canonical}"
        if spec.placement == "FRACTION":
            key = ""
        return {
            "startTime": at_millis(start),
            "cycleIndex": str(cycle),
            "runKey": key,
            "runId": run_id(key),
        }

    answer = {
        "pieceIndex": piece,
        "slotIndex": slot,
        "slotOffset": duration(slot_offset),
        "cycleOffset": duration(offset),
        "lastRun": run(*spec.last(offset, at)),
        "nextRuns": [run(*found) for found in spec.runs(offset, at, at + 9 * spec.period)[:count]],
    }
    if new_id is not None:
        created, span, *_ = new_id
        cycle, start = spec.next(offset, created)
        answer["firstRun"] = run(cycle, start)
        if cycle != spec.cycle_of(created) and span is not None:
            smeared = created + spec.smear(canonical, piece) * span // 2**64
            if smeared < start:
                own_cycle = spec.cycle_of(created)
                answer["firstRun"] = {
                    **run(own_cycle, smeared),
                    "nominalTime": at_millis(spec.run_at(own_cycle, offset)),
                }
    return answer


def assign_case(spec, id_json, canonical, own=None, weight=None, count=1, new_id=None):
    at = since_epoch(AT)
    request = {"schedule": spec.json(), "id": id_json, "fromTime": at_millis(at)}
    if count != 1:
        request["nextRunCount"] = count
    if weight is not None:
        request["weight"] = str(weight)
    if new_id is not None:
        created, span, *skew = new_id
        request["newId"] = {"createTime": at_millis(created)}
        if skew:
            request["newId"]["maxClockSkew"] = duration(*skew)
        if span is not None:
            request["newId"] |= {
                "policy": "FIRST_RUN_POLICY_NOW_SMEARED",
                "smearSpan": duration(span),
            }
    pieces = [
        piece_of(spec, canonical, own, piece, at, count, new_id=new_id)
        for piece in range(1 if weight is None else spec.pieces(weight))
    ]
    rule = {
        "HASH": {"hash": spec.digest(canonical)[:16]},
        "FRACTION": {"fraction": own},
        "TWISTER": {"bucket": 0 if own is None or isinstance(own, float) else own % 256},
    }[spec.placement]
    response = {
        "identity": spec.identity,
        "pieces": pieces,
        "explanation": {"canonicalId": canonical, **rule},
    }
    return {"method": "AssignSlot", "request": request, "response": response}


QUARTER = "3fd0000000000000"  # 0.25


def weight_cases():
    acme = {"text": "acme"}
    for weight in [None, 0, 1, 10, 11, 55, 1_270, 1_281, 2**53]:
        yield assign_case(HASH, acme, "acme", weight=weight, count=0 if weight == 2**53 else 1)
    yield assign_case(SALTED, acme, "acme", weight=4_500, count=3)
    yield assign_case(STORED, {"fraction": 0.25}, QUARTER, 0.25, weight=50)
    yield assign_case(DRAWN, {"integer": "4711"}, "4711", 4711, weight=13)
    yield assign_case(DRAWN, {"integer": "-5"}, "-5", -5, weight=1_000)
    rows = {name: [] for name in (
        "slotIndexes", "slotOffsetTicks", "cycleOffsetTicks", "cycleIndexes",
        "nextRunUnixMillis", "idIndexes", "pieceIndexes",
    )}  # fmt: skip
    texts, weights, at = ["a", "b", "c", "d/e"], [1, 35, 0, 11], since_epoch(AT)
    for index, (text, weight) in enumerate(zip(texts, weights)):
        for piece in range(HASH.pieces(weight)):
            offset = HASH.offset(text, None, piece)
            cycle, run = HASH.next(offset, at)
            for name, cell in zip(rows, [
                offset // HASH.slot, str(offset % HASH.slot // 1_000), str(offset // 1_000),
                str(cycle), str(run), index, piece,
            ]):  # fmt: skip
                rows[name].append(cell)
    yield {
        "method": "AssignSlots",
        "request": {
            "schedule": HASH.json(),
            "ids": {"texts": texts},
            "weights": [str(weight) for weight in weights],
            "fromTime": at_millis(at),
        },
        "response": {
            "identity": HASH.identity,
            "assignments": {
                "resolution": "1s",
                "runKeyPrefix": f"{HASH.fingerprint}/default",
                **rows,
            },
        },
    }


def new_id_cases():
    at = since_epoch(AT)
    hour = 3_600_000
    plain = Weighted(28_800_000, 128)
    for number in range(8):
        name = f"new-{number}"
        for span in [None, 1_000, hour, 8 * hour]:
            case = assign_case(plain, {"text": name}, name, new_id=(at - 12_345, span))
            yield case
    # By a clock that is fast.
    yield assign_case(plain, {"text": "new-1"}, "new-1", new_id=(at + 60_000, hour))
    for number in range(3):
        name, early = f"new-{number}", (at + 7 * hour, None, 8 * hour)
        yield assign_case(plain, {"text": name}, name, new_id=early)
    yield assign_case(SALTED, {"text": "n"}, "n", weight=5_500, new_id=(at, 7 * hour))
    yield assign_case(STORED, {"fraction": 0.0}, "0" * 16, 0.0, new_id=(at, 20 * hour))
    yield assign_case(DRAWN, {"integer": "1"}, "1", 1, weight=7, new_id=(at - hour, hour))


def due_case(spec, texts, start, now, policy=None, weights=None, each=None, **spans):
    """Spans in milliseconds: tolerance, horizon, smear, skew, ahead, gap."""
    tolerance = spans.get("tolerance", min(60_000, spec.period))
    horizon = spans.get("horizon", spec.period)
    smear = spans.get("smear", 0)
    request = {"schedule": spec.json(), "ids": {"texts": texts}, "nowTime": at_millis(now)}
    if each is None:
        request["watermarkTime"] = at_millis(start)
    else:
        request["watermarkUnixMillis"] = [str(millis) for millis in each]
    if weights:
        request["weights"] = [str(weight) for weight in weights]
    if policy == "DROP":  # has no default
        spans["tolerance"] = tolerance
    catch_up = {"missedRunPolicy": f"MISSED_RUN_POLICY_{policy}"} if policy else {}
    for part, name, field in [
        (catch_up, "tolerance", "onTimeTolerance"),
        (catch_up, "horizon", "horizon"),
        (catch_up, "smear", "smearSpan"),
        (catch_up, "gap", "minGap"),
        (request, "skew", "maxClockSkew"),
        (request, "ahead", "lookAhead"),
    ]:
        if name in spans:
            part[field] = duration(spans[name])
    if catch_up:
        request["catchUpPolicy"] = catch_up
    end, gap = now + spans.get("ahead", 0), spans.get("gap", 0)
    rows, late_count, dropped, superseded, nexts = [], 0, 0, 0, []
    for index, text in enumerate(texts):
        watermark = start if each is None else each[index]
        for piece in range(spec.pieces(weights[index]) if weights else 1):
            offset = spec.offset(text, None, piece)
            nexts.append(spec.next(offset, max(watermark, end))[1])
            runs = spec.runs(offset, watermark, end)
            on_time = [run for run in runs if now - run[1] <= tolerance]
            missed = [run for run in runs if now - run[1] > tolerance]
            late = [run for run in missed if now - run[1] <= horizon]
            ran = any(run[1] < now for run in on_time)
            if policy == "DROP" or (policy in (None, "RUN_ONCE") and ran):
                late = []
            elif policy != "RUN_ALL":
                late = late[-1:]
            u = spec.smear(text, piece)
            starts = [
                now + int((j + Fraction(u, 2**64)) / len(late) * smear) for j in range(len(late))
            ]
            dropped += len(missed) - len(late)
            if policy in (None, "RUN_ONCE") and late:
                if starts[0] >= spec.next(offset, now)[1] - gap:
                    superseded, late = superseded + 1, []
            rows += [(index, piece, *run, at) for run, at in zip(late, starts)]
            rows += [(index, piece, cycle, run, run) for cycle, run in on_time]
            late_count += len(late)
    columns = list(zip(*rows)) or [()] * 5
    runs = {"runKeyPrefix": f"{spec.fingerprint}/default"}
    for name, column in zip(
        ["idIndexes", "pieceIndexes", "cycleIndexes", "scheduledUnixMillis", "startUnixMillis"],
        columns,
    ):
        runs[name] = [cell if name[0] in "ip" else str(cell) for cell in column]
    following = end if each is not None else max(end, start)
    response = {
        "identity": spec.identity,
        "runs": runs,
        "nextWatermarkTime": at_millis(following),
        "lateRunCount": str(late_count),
        "droppedRunCount": str(dropped),
        "supersededRunCount": str(superseded),
        "nextDueTime": at_millis(min(nexts)),
    }
    return {"method": "ListDueRuns", "request": request, "response": response}


def due_cases():
    now = since_epoch(AT)
    hour = 3_600_000
    plain = Weighted(28_800_000, 128)
    texts = [f"user-{number}" for number in range(12)]
    for policy in [None, "DROP", "RUN_ONCE", "RUN_ALL"]:
        yield due_case(plain, texts, now - 60_000, now, policy)
        yield due_case(plain, texts, now - 3 * hour, now, policy, smear=hour)
        yield due_case(plain, texts, now - 50 * hour, now, policy, horizon=40 * hour, smear=hour)
        yield due_case(plain, texts, now - 3 * hour, now, policy, tolerance=2 * hour)
    yield due_case(plain, texts, now + 60_000, now)
    yield due_case(plain, texts, now + hour, now, skew=hour)
    yield due_case(plain, texts, now - hour, now, tolerance=0, horizon=0)
    yield due_case(plain, texts, now - 9 * hour, now, "RUN_ALL", horizon=24 * hour, smear=1)
    each = [now - number * hour for number in range(11)] + [now + 5]
    yield due_case(plain, texts, None, now, "RUN_ALL", each=each, smear=333)
    weights = [number * 9 for number in range(12)]
    for policy in ["RUN_ONCE", "RUN_ALL"]:
        yield due_case(HASH, texts, now - 11 * hour, now, policy, weights, smear=hour)
    yield due_case(SALTED, texts, now - 30 * hour, now, "RUN_ALL", horizon=99 * hour, smear=hour)
    # Smeared behind the next run, or near it.
    yield due_case(plain, texts, now - 5 * hour, now, smear=8 * hour)
    for gap in [1, hour, 8 * hour]:
        yield due_case(plain, texts, now - 5 * hour, now, smear=4 * hour, gap=gap)
        yield due_case(plain, texts, now - 5 * hour, now, "RUN_ALL", smear=4 * hour, gap=gap)
    for ahead in [1, 2 * hour, 8 * hour]:
        yield due_case(plain, texts, now - 5 * hour, now, smear=hour, ahead=ahead)
        yield due_case(plain, texts, now + ahead, now, ahead=ahead)
    yield due_case(plain, texts, now + hour, now, ahead=2 * hour, gap=hour)
    yield due_case(plain, texts, now + hour + 7, now, ahead=hour, skew=7)
    fast = Weighted(1_500, 3, tick=500)
    yield due_case(fast, texts[:2], now - 20_000, now, "RUN_ALL", horizon=15_000, smear=1_500)


def migration_case(old, new, cutover, texts, path, advice, longest, gap=None):
    request = {
        "oldSchedule": old.json(),
        "newSchedule": new.json(),
        "cutoverTime": at_millis(cutover),
        "ids": {"texts": texts},
        "kind": "sync",
    }
    if gap is not None:
        request["minGap"] = duration(gap)
    rows, moved, left_out = [], 0, 0
    for text in texts:
        from_offset, to_offset = old.offset(text, None), new.offset(text, None)
        last = old.last(from_offset, cutover)
        runs = new.runs(to_offset, cutover, cutover + 4 * new.period)
        allowed = [run for run in runs if run[1] - last[1] >= (gap or 0)]
        first = allowed[0]
        left_out += runs.index(first)
        moved += first[1] != old.next(from_offset, cutover)[1]
        rows.append((last[1], last[0], first[1], first[0]))
    gaps = [first - last for last, _, first, _ in rows]
    names = [
        "lastOldUnixMillis", "lastOldCycleIndexes", "firstNewUnixMillis", "firstNewCycleIndexes",
    ]  # fmt: skip
    ids = {name: [str(cell) for cell in column] for name, column in zip(names, zip(*rows))}
    ids |= {
        "movedIdCount": str(moved),
        "movedRatio": moved / len(texts),
        "observedMinGap": duration(min(gaps)),
        "observedMaxGap": duration(max(gaps)),
        "leftOutRunCount": str(left_out),
        "oldRunKeyPrefix": f"{old.fingerprint}/sync",
        "newRunKeyPrefix": f"{new.fingerprint}/sync",
    }
    assert max(gaps) <= longest
    response = {
        "oldIdentity": old.identity,
        "newIdentity": new.identity,
        "cutoverTime": at_millis(cutover),
        "path": f"MIGRATION_PATH_{path}",
        "advice": advice,
        "maxGapBound": duration(longest),
        "ids": ids,
    }
    return {"method": "PlanMigration", "request": request, "response": response}


def migration_cases():
    cutover = since_epoch(AT)
    hour = 3_600_000
    texts = [f"user-{number}" for number in range(16)]
    old = Weighted(8 * hour, 128)
    yield migration_case(old, old, cutover, texts, "UNCHANGED", "", 8 * hour)
    finer = Weighted(8 * hour, 640)
    yield migration_case(old, finer, cutover, texts, "SAME_TIMES", "", 8 * hour, 8 * hour)
    salted = Weighted(8 * hour, 128, salt="v2")
    keep_salt = 'keep the salt, "": each ID then keeps its share of the cycle'
    for gap in [None, 0, 1, hour, 4 * hour, 8 * hour]:
        yield migration_case(
            old, salted, cutover, texts, "NEW_PLACES", keep_salt, 16 * hour - 1, gap
        )
    longer = Weighted(24 * hour, 1_440, salt="v2")
    yield migration_case(
        old, longer, cutover, texts, "NEW_PLACES", keep_salt, 36 * hour - 1, 12 * hour
    )
    # Later by 3 hours: all IDs wait 3 or 11 hours, whose runs are left out or not.
    shifted = Weighted(8 * hour, 128, anchor=EPOCH + timedelta(hours=3))
    keep_anchor = "keep the anchor_time, 1970-01-01T00:00:00Z: then no ID moves"
    for gap in [None, 3 * hour, 3 * hour + 1, 8 * hour]:
        yield migration_case(
            old, shifted, cutover, texts, "SAME_ORDER", keep_anchor, 11 * hour, gap
        )


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


if __name__ == "__main__":
    print_cases(
        [
            *weight_cases(),
            *new_id_cases(),
            *due_cases(),
            *migration_cases(),
            *audit_cases(),
        ]
    )
