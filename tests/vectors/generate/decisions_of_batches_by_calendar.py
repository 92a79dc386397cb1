"""Prints golden answers about batches and descriptions of schedules with calendars, active windows
and exclusions: AssignSlots with and without weights, and DescribeSchedule, over the cycles of
calendars.py, second by second.

Run: python3 decisions_of_batches_by_calendar.py > ../decisions/batches_by_calendar.json
"""

from __future__ import annotations

from calendars import DAY, Calendar, Dated, Period, Recurring, instant, rfc3339
from decisions import print_cases
from decisions_of_duties_by_calendar import BERLIN, EVENING, HOUR, NIGHT, Weighted

WEIGHTS = [1, 10, 11, 35, 400]


def batch_case(spec, at, weighted):
    at = instant(at)
    fractions = spec.placement == "FRACTION"
    idents = [number / 7 for number in range(5)] if fractions else [f"user-{n}" for n in range(5)]
    rows = []
    for index, (ident, weight) in enumerate(zip(idents, WEIGHTS)):
        for piece in range(spec.pieces(weight) if weighted else 1):
            key = (ident, piece)
            _, ((cycle, _, start),) = spec.runs_around(key, at, 1)
            tick = spec.tick_of(key, cycle)
            slot, offset = divmod(tick, spec.ticks(cycle) // spec.slots)
            wall = spec.walls(cycle)[tick]
            rows.append((slot, offset, wall, cycle, start * 1_000, index, piece))
    names = [
        "slotIndexes", "slotOffsetTicks", "cycleOffsetTicks", "cycleIndexes", "nextRunUnixMillis",
        "idIndexes", "pieceIndexes",
    ]  # fmt: skip
    numbers = {"slotIndexes", "idIndexes", "pieceIndexes"}
    columns = dict(zip(names if weighted else names[:5], zip(*rows)))
    assignments = {"resolution": "1s", "runKeyPrefix": f"{spec.identity['fingerprint']}/default"}
    for name, column in columns.items():
        assignments[name] = [cell if name in numbers else str(cell) for cell in column]
    request = {
        "schedule": spec.spec(),
        "fromTime": rfc3339(at),
        "ids": {"fractions" if fractions else "texts": idents},
    }
    if weighted:
        request["weights"] = [str(weight) for weight in WEIGHTS]
    return {
        "method": "AssignSlots",
        "request": request,
        "response": {"identity": spec.identity, "assignments": assignments},
    }


def filled_in(spec):
    """The schedule with every default, as in an answer."""
    told = spec.spec()["spec"]
    if spec.exclusions:  # in the order of the canonical text
        told["exclusions"] = [
            one.json() for one in sorted(spec.exclusions, key=lambda one: one.line())
        ]
    period = isinstance(spec.axis, Period)
    extra = {"resolution": "1s", "placement": f"PLACEMENT_{spec.placement}"}
    if period:
        extra["anchorTime"] = "1970-01-01T00:00:00Z"
    return {**told, **extra}


def description_case(spec, at):
    at = instant(at)
    cycle = spec.cycle_of(at)
    ticks = spec.ticks(cycle)
    fates = {"skip": 0, "defer": 0}
    for tick in range(ticks):
        regular = spec.regular(cycle, tick)
        held = spec.held(regular)
        if held == "SKIP" or (held == "DEFER" and not spec.stretch(regular)[1]):
            fates["skip"] += 1
        elif held == "DEFER":
            fates["defer"] += 1
    response = {
        "identity": spec.identity,
        "spec": filled_in(spec),
        "canonicalText": spec.canonical_text,
        "slotDuration": f"{ticks // spec.slots}s",
        "maxCycleDuration": f"{spec.axis.longest()}s",
        "cycleStartTime": rfc3339(spec.axis.instant_of(spec.axis.start(cycle))),
        "cycleEndTime": rfc3339(spec.axis.instant_of(spec.axis.start(cycle + 1))),
        "activeDuration": f"{ticks}s",
    }
    if fates["skip"]:
        response["skippedRatio"] = fates["skip"] / ticks
    if fates["defer"]:
        response["deferredRatio"] = fates["defer"] / ticks
    running = [span for span in spec.slot_spans(cycle) if span[0] <= at < span[3]]
    if running:
        start, number, slot, _ = running[-1]
        following = [begin for begin, _, later, _ in spec.slot_spans(cycle) if later == slot + 1]
        assert following, "ask before the last slot of a cycle"
        response["slot"] = {
            "slotIndex": slot,
            "cycleIndex": str(number),
            "startTime": rfc3339(start),
            "endTime": rfc3339(running[-1][3]),
        }
    return {
        "method": "DescribeSchedule",
        "request": {"schedule": spec.spec(), "atTime": rfc3339(at)},
        "response": response,
    }


def schedules():
    """Schedules, each with an instant near which something happens."""
    lord_howe = "Australia/Lord_Howe"
    yield Weighted(Calendar(*BERLIN), 24, quantum=10), "2026-03-28T23:30:00Z"
    yield Weighted(Calendar(*BERLIN), 16, windows=NIGHT, quantum=10), "2026-10-25T01:20:00Z"
    yield Weighted(Calendar(*BERLIN), 24, exclusions=[EVENING], quantum=10), "2026-06-01T20:20:00Z"
    week = Weighted(Calendar("WEEK", lord_howe), 56, quantum=10)
    yield week, "2024-10-05T10:00:00Z"
    month = Weighted(
        Calendar("MONTH", "America/New_York"),
        4,
        windows=[(0, HOUR), (27 * DAY, 30 * DAY)],
        quantum=10,
    )
    yield month, "2026-02-28T12:00:00Z"
    dated = [Dated("2026-01-01T05:00:00Z", "2026-01-01T06:00:00Z", "SKIP")]
    shifts = [(0, HOUR), (2 * HOUR, 4 * HOUR)]
    yield (
        Weighted(Period(8 * HOUR), 3, windows=shifts, exclusions=dated, quantum=10),
        "2026-01-01T02:10:00Z",
    )
    stored = Calendar("DAY", lord_howe)
    lunch = [Recurring("DAY", lord_howe, 12 * HOUR, 13 * HOUR)]
    yield (
        Weighted(stored, 24, exclusions=lunch, placement="FRACTION", quantum=10),
        "2025-04-05T10:00:00Z",
    )


def cases():
    for spec, at in schedules():
        yield batch_case(spec, at, weighted=False)
        yield batch_case(spec, at, weighted=True)
        yield description_case(spec, at)
    # On the day without an hour from three to four, a twenty-third of the runs is skipped.
    skips = [Recurring(*BERLIN, 3 * HOUR, 4 * HOUR, "SKIP"), EVENING]
    spec = Weighted(Calendar(*BERLIN), 24, exclusions=skips, quantum=10)
    for at in ["2026-03-29T12:00:00Z", "2026-10-25T12:00:00Z"]:
        yield description_case(spec, at)


if __name__ == "__main__":
    print_cases(list(cases()))
