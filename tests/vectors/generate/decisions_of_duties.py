"""Prints golden answers about weights, new IDs, due runs, migrations and audits.

Run: python3 decisions_of_duties.py > ../decisions/duties.json
Here are the answers about weights and new IDs. The schedules are in weighted_schedules.py;
due_runs.py, migrations.py and audits.py hold the other answers.
"""

from __future__ import annotations

from audits import audit_cases
from decisions import duration, print_cases, run_id
from due_runs import due_cases
from migrations import migration_cases
from weighted_schedules import AT, DRAWN, HASH, SALTED, STORED, Weighted, at_millis, since_epoch


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
    # From a machine whose clock is fast.
    yield assign_case(plain, {"text": "new-1"}, "new-1", new_id=(at + 60_000, hour))
    for number in range(3):
        name, early = f"new-{number}", (at + 7 * hour, None, 8 * hour)
        yield assign_case(plain, {"text": name}, name, new_id=early)
    yield assign_case(SALTED, {"text": "n"}, "n", weight=5_500, new_id=(at, 7 * hour))
    yield assign_case(STORED, {"fraction": 0.0}, "0" * 16, 0.0, new_id=(at, 20 * hour))
    yield assign_case(DRAWN, {"integer": "1"}, "1", 1, weight=7, new_id=(at - hour, hour))


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
