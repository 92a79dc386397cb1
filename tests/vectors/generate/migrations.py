"""Golden answers of PlanMigration, over elapsed cycles: each ID's last old and first new run."""

from __future__ import annotations

from datetime import timedelta

from decisions import EPOCH, duration
from weighted_schedules import AT, Weighted, at_millis, since_epoch


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
    # Later by 3 hours: all IDs wait 3 hours, or 11 hours if a run is left out.
    shifted = Weighted(8 * hour, 128, anchor=EPOCH + timedelta(hours=3))
    keep_anchor = "keep the anchor_time, 1970-01-01T00:00:00Z: then no ID moves"
    for gap in [None, 3 * hour, 3 * hour + 1, 8 * hour]:
        yield migration_case(
            old, shifted, cutover, texts, "SAME_ORDER", keep_anchor, 11 * hour, gap
        )
