"""Golden answers of ListDueRuns, over elapsed cycles: which runs are due, late or dropped."""

from __future__ import annotations

from fractions import Fraction

from decisions import duration
from weighted_schedules import AT, HASH, SALTED, Weighted, at_millis, since_epoch


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
    if policy == "DROP":  # DROP has no default
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
    # Smeared past the next run, or close to it.
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
