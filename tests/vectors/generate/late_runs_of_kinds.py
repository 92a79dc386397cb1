"""Golden answers about late runs of kinds, and about first runs of new IDs, which start alike.

Runs are walked cycle by cycle; a late run starts at the next free time that declared_kinds.py
finds. Some outages end while the clocks change.
"""

from __future__ import annotations

from datetime import datetime

from calendars import DAY, UTC, Calendar, Period, Recurring, instant
from calendars import rfc3339 as at_seconds
from decisions import duration
from decisions_of_duties_by_calendar import HOUR
from declared_kinds import BERLIN, MINUTE, ByCalendar, Kinds, run_of, three, two
from weighted_schedules import AT, at_millis, since_epoch


def calendar_case(spec, kind, ident, at, count=2, created=None):
    at = instant(at)
    key = (ident, kind)
    last, nexts = spec.runs_around(key, at, count)
    canonical = spec.canonical(ident)

    def run(cycle, _, start):
        return {"startTime": at_seconds(start), **run_of(spec, kind, cycle, canonical)}

    cycle = nexts[0][0]
    tick = spec.tick_of(key, cycle)
    slot, rest = divmod(tick, spec.ticks(cycle) // spec.slots)
    request = {
        "schedule": spec.spec(),
        "id": {"fraction": ident} if isinstance(ident, float) else {"text": ident},
        "kind": spec.kinds.names[kind],
        "fromTime": at_seconds(at),
        "nextRunCount": count,
    }
    rule = {"fraction": ident} if isinstance(ident, float) else {"hash": spec.digest(ident)[:16]}
    piece = {
        "slotIndex": slot,
        "slotOffset": f"{rest}s",
        "cycleOffset": f"{spec.walls(cycle)[tick]}s",
        "lastRun": run(*last),
        "nextRuns": [run(*one) for one in nexts],
    }
    if created is not None:
        request["newId"] = {
            "createTime": at_millis(created),
            "policy": "FIRST_RUN_POLICY_NOW_SMEARED",
        }
        piece["firstRun"] = first_run(spec, kind, ident, created, run)
    response = {
        "identity": spec.identity,
        "pieces": [piece],
        "explanation": {"canonicalId": canonical, **rule},
    }
    return {"method": "AssignSlot", "request": request, "response": response}


def first_run(spec, kind, ident, created, run):
    """The first free turn, if that is before the next run and the ID's own time has passed."""
    key, second = (ident, kind), -(-created // 1_000)
    following = spec.runs_in(key, second, second + 3 * spec.axis.longest() + DAY)[0]
    cycle = spec.cycle_of(created // 1_000)
    starts = spec.late_starts(ident, kind, created, following[2] * 1_000)
    if following[0] > cycle and starts:
        regular, at = spec.run(key, cycle)
        first = {**run(cycle, 0, 0), "startTime": at_millis(starts[0])}
        if at is not None:
            first["nominalTime"] = at_seconds(at)
        return first
    return run(*following)


def due_case(spec, kind, start, now, policy=None, texts=None, tolerance=None, **spans):
    """Times in milliseconds; `horizon`, `gap`, `ahead` and `skew` too."""
    texts = texts or [f"user-{number}" for number in range(8)]
    longest = min(spec.kinds.gaps) * (spec.ticks(1) // spec.slots) * 1_000
    used = min(60 * 1_000, longest) if tolerance is None else tolerance
    horizon = spans.get("horizon", spec.axis.longest() * 1_000)
    end, gap = now + spans.get("ahead", 0), spans.get("gap", 0)
    rows, nexts = [], []
    late_count = dropped = superseded = skipped = 0
    for index, text in enumerate(texts):
        key = (text, kind)
        first, last = -(-start // 1_000), -(-end // 1_000)
        runs = [(cycle, at * 1_000) for cycle, _, at in spec.runs_in(key, first, last)]
        skipped += spec.skipped_in(key, first, last)
        following = spec.next_in(key, -(-max(start, end) // 1_000))
        nexts += [following[2]] if following else []
        on_time = [run for run in runs if now - run[1] <= used]
        missed = [run for run in runs if now - run[1] > used]
        late = [run for run in missed if now - run[1] <= horizon]
        ran = any(run[1] < now for run in on_time)
        if policy == "DROP" or (policy != "RUN_ALL" and ran):
            late = []
        elif policy != "RUN_ALL":
            late = late[-1:]
        starts = spec.late_starts(text, kind, now) if late else []
        dropped += len(missed) - len(late)
        if policy != "RUN_ALL" and late and starts:
            own = spec.next_in(key, -(-now // 1_000))
            if own and starts[0] >= own[2] * 1_000 - gap:
                superseded, late = superseded + 1, []
        dropped += max(0, len(late) - len(starts))
        late = late[: len(starts)]
        rows += [(index, 0, *run, at) for run, at in zip(late, starts)]
        rows += [(index, 0, cycle, at, at) for cycle, at in on_time]
        late_count += len(late)
    columns = list(zip(*rows)) or [()] * 5
    names = ["idIndexes", "pieceIndexes", "cycleIndexes", "scheduledUnixMillis", "startUnixMillis"]
    name = spec.kinds.names[kind]
    runs = {"runKeyPrefix": f"{spec.identity['fingerprint']}/{name}"}
    for field, cells in zip(names, columns):
        runs[field] = [cell if field[0] in "ip" else str(cell) for cell in cells]
    request = {
        "schedule": spec.spec(),
        "ids": {"texts": texts},
        "kind": name,
        "watermarkTime": at_millis(start),
        "nowTime": at_millis(now),
    }
    catch_up = {"missedRunPolicy": f"MISSED_RUN_POLICY_{policy}"} if policy else {}
    if tolerance is not None or policy == "DROP":  # DROP has no default
        catch_up["onTimeTolerance"] = duration(used)
    for part, span, field in [
        (catch_up, "horizon", "horizon"),
        (catch_up, "gap", "minGap"),
        (request, "ahead", "lookAhead"),
        (request, "skew", "maxClockSkew"),
    ]:
        if span in spans:
            part[field] = duration(spans[span])
    if catch_up:
        request["catchUpPolicy"] = catch_up
    return {
        "method": "ListDueRuns",
        "request": request,
        "response": {
            "identity": spec.identity,
            "runs": runs,
            "nextWatermarkTime": at_millis(max(start, end)),
            "lateRunCount": str(late_count),
            "droppedRunCount": str(dropped),
            "supersededRunCount": str(superseded),
            "skippedRunCount": str(skipped),
            **({"nextDueTime": at_seconds(min(nexts))} if nexts else {}),
        },
    }


def late_schedules():
    """Schedules, each with an instant at which an outage ends."""
    hours = Period(8 * HOUR)
    night = [(HOUR, 5 * HOUR)]
    lunch = Recurring(*BERLIN, 12 * HOUR, 13 * HOUR, "SKIP")
    weekend = Recurring("WEEK", "Europe/Berlin", 5 * DAY, 7 * DAY, "SKIP")
    shifts = [(0, HOUR), (2 * HOUR, 4 * HOUR)]
    times = [20 * MINUTE, 45 * MINUTE, 5 * MINUTE, 0]
    four = Kinds(["a", "b", "c", "d"], run_times=times)
    yield ByCalendar(two(), hours, 128), "2026-01-01T03:04:05.006Z"
    yield ByCalendar(three(), hours, 96, salt="v2"), "2026-01-01T03:04:05Z"
    yield ByCalendar(four, Period(DAY), 96), "2026-01-01T13:04:05Z"
    pairs = [("import", "export")]
    yield ByCalendar(three(conflicts=pairs), Period(DAY), 96), "2026-01-01T13:04:05Z"
    yield ByCalendar(three(spacing="STABLE"), Period(DAY), 96), "2026-01-01T13:04:05Z"
    yield ByCalendar(two(span=HOUR * 1_000), Period(DAY), 24), "2026-01-01T13:04:05Z"
    yield ByCalendar(two(), hours, 3, windows=shifts), "2026-01-01T03:04:05Z"
    yield ByCalendar(two(), Calendar(*BERLIN), 24), "2026-06-01T13:04:05Z"
    yield ByCalendar(two(), Calendar(*BERLIN), 24), "2026-03-29T00:10:00Z"
    yield ByCalendar(three(), Calendar(*BERLIN), 24), "2026-10-25T00:10:00Z"
    yield ByCalendar(two(), Calendar("DAY", "Australia/Lord_Howe"), 24), "2024-10-05T15:20:00Z"
    yield ByCalendar(two(), Calendar(*BERLIN), 16, windows=night), "2026-06-01T01:04:05Z"
    yield ByCalendar(two(), Calendar(*BERLIN), 16, windows=night), "2026-03-29T00:10:00Z"
    yield ByCalendar(two(), Calendar(*BERLIN), 24, exclusions=[lunch]), "2026-06-01T09:50:00Z"
    yield ByCalendar(three(), Calendar(*BERLIN), 24, exclusions=[weekend]), "2026-06-05T21:50:00Z"
    yield ByCalendar(two(), hours, 96, exclusions=[lunch]), "2026-06-01T09:50:00Z"
    yield ByCalendar(two(), Calendar("WEEK", "America/New_York"), 28), "2025-11-02T05:30:00Z"
    yield ByCalendar(two(), Calendar("DAY", "Pacific/Apia"), 24), "2011-12-31T03:00:00Z"


def late_cases():
    for spec, at in late_schedules():
        now = round(datetime.fromisoformat(at.replace("Z", "+00:00")).timestamp() * 1_000)
        whole = spec.axis.longest() * 1_000
        for kind in range(len(spec.kinds.names)):
            for policy in ["DROP", "RUN_ONCE", "RUN_ALL"]:
                yield due_case(spec, kind, now - whole * 7 // 10, now, policy)
            yield due_case(spec, kind, now - 4 * whole, now, "RUN_ALL", horizon=3 * whole)
            yield due_case(spec, kind, now - whole, now, gap=whole // 6)
        yield due_case(spec, 0, now - whole // 2, now, tolerance=1_000, ahead=whole // 3)
        yield due_case(spec, 1, now + 7, now, ahead=5, skew=2)
        seconds = -(-now // 1_000)
        texts = [f"new-{number}" for number in range(8)]
        texts = [text for text in texts if all(spec.next_in((text, i), seconds) for i in range(2))]
        for text in texts[:3]:
            for kind in range(2):
                yield calendar_case(
                    spec, kind, text, at_seconds(seconds), 1 + kind, created=now - whole // 5
                )
    yield from short_turns()
    stored = ByCalendar(two(), Calendar(*BERLIN), 24, placement="FRACTION")
    month = ByCalendar(two(), Calendar("MONTH", "Europe/Berlin"), 4)
    for kind in range(2):
        yield calendar_case(stored, kind, 0.25, "2026-03-28T12:00:00Z")
        for text in ["acme", "user-1", "user-2"]:
            yield calendar_case(month, kind, text, "2026-02-14T00:00:00Z", 3)
        now = since_epoch(datetime(2026, 2, 14, tzinfo=UTC).replace(tzinfo=AT.tzinfo))
        for policy in ["RUN_ONCE", "RUN_ALL"]:
            yield due_case(month, kind, now - 40 * DAY * 1_000, now, policy, tolerance=60_000)


def short_turns():
    """Turns that are shorter than the gap of the clock: places of kinds coincide."""
    for zone, at in [
        ("Europe/Berlin", "2026-03-29T00:30:00Z"),
        ("Europe/Berlin", "2026-10-25T00:30:00Z"),
        ("Australia/Lord_Howe", "2024-10-05T14:50:00Z"),
    ]:
        now = instant(at) * 1_000
        for kinds in [two(span=1_500_000), three(span=1_700_000)]:
            spec = ByCalendar(kinds, Calendar("DAY", zone), 24)
            for kind in range(2):
                spans = {"horizon": 9 * DAY * 1_000, "tolerance": 0}
                yield due_case(spec, kind, now - 8 * DAY * 1_000, now, "RUN_ALL", **spans)
