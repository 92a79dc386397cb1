"""Prints golden answers about kinds: the place of each, and the starts of its late runs.

Run: python3 decisions_of_kinds.py > ../decisions/kinds.json
Here are the answers about places of kinds and the time that their runs may take. The schedules are
in declared_kinds.py; late_runs_of_kinds.py, predicates_of_kinds.py and refusals_of_kinds.py hold
the other answers.
"""

from __future__ import annotations

from datetime import timedelta

from calendars import DAY, Calendar, Period, instant
from calendars import rfc3339 as at_seconds
from decisions import duration, print_cases
from decisions_of_duties_by_calendar import HOUR
from decisions_of_duties_by_calendar import Weighted as CalendarSpec
from declared_kinds import BERLIN, MINUTE, ByCalendar, Elapsed, Kinds, run_of, three, two
from late_runs_of_kinds import calendar_case, late_cases
from predicates_of_kinds import predicate_cases
from refusals_of_kinds import refusals
from weighted_schedules import AT, at_millis, since_epoch


def elapsed_case(spec, kind, ident, canonical, own=None, count=1):
    at, offset = since_epoch(AT), spec.offset_of(kind, canonical, own)
    slot, rest = divmod(offset, spec.slot)

    def run(cycle, start):
        return {"startTime": at_millis(start), **run_of(spec, kind, cycle, canonical)}

    buckets = spec.buckets or 256
    rule = {
        "HASH": {"hash": spec.digest(canonical)[:16]},
        "FRACTION": {"fraction": own},
        "TWISTER": {"bucket": own % buckets if spec.placement == "TWISTER" else None},
    }[spec.placement]
    runs = spec.runs(offset, at, at + (count + 2) * spec.period)[:count]
    return {
        "method": "AssignSlot",
        "request": {
            "schedule": spec.json(),
            "id": ident,
            "kind": spec.kinds.names[kind],
            "fromTime": at_millis(at),
            "nextRunCount": count,
        },
        "response": {
            "identity": spec.identity,
            "pieces": [
                {
                    "slotIndex": slot,
                    "slotOffset": duration(rest),
                    "cycleOffset": duration(offset),
                    "lastRun": run(*spec.last(offset, at)),
                    "nextRuns": [run(*one) for one in runs],
                }
            ],
            "explanation": {"canonicalId": canonical, **rule},
        },
    }


def elapsed_schedules():
    """Schedules of every spacing and placement; in some, kinds do not divide the slots evenly."""
    times = [10 * MINUTE, 22 * MINUTE + 1, 0]
    ring = [("a", "b"), ("c", "b"), ("c", "d"), ("d", "e"), ("e", "a")]
    five = Kinds(list("abcde"), conflicts=ring)
    yield Elapsed(two(), 8 * 3_600_000, 128)
    yield Elapsed(Kinds(["alone"]), 8 * 3_600_000, 128)
    yield Elapsed(three(), 8 * 3_600_000, 128, salt="s\nt=")
    yield Elapsed(three(spacing="STABLE"), DAY * 1_000, 96, anchor=AT)
    yield Elapsed(three(run_times=times), 8 * 3_600_000, 96, tick=250)
    yield Elapsed(five, 8 * 3_600_000, 20)
    yield Elapsed(two(conflicts=[("export", "import")], span=3_600_000), 8 * 3_600_000, 15)
    yield Elapsed(two(span=7_000_000), 8 * 3_600_000, 128)
    yield Elapsed(two(run_times=[3_600_000, 60_000]), 8 * 3_600_000, 128)
    yield Elapsed(three(), DAY * 1_000, 96, "FRACTION")
    yield Elapsed(three(), 8 * 3_600_000, 15, "TWISTER", profile="PYTHON")
    yield Elapsed(two(), 65_536_000, 4_096, "TWISTER", profile="PYTHON", buckets=65_536)


def elapsed_cases():
    for spec in elapsed_schedules():
        for kind in range(len(spec.kinds.names)):
            if spec.placement == "FRACTION":
                ids = [({"fraction": one}, None, one) for one in (0.2, 0.9999999999999999)]
                ids = [(ident, hex_of(own), own) for ident, _, own in ids]
            elif spec.placement == "TWISTER":
                ids = [({"integer": str(seed)}, str(seed), seed) for seed in (4_711, -5, 255)]
            else:
                ids = [({"text": text}, text, None) for text in ("acme", "d/e ✓")]
            for number, one in enumerate(ids):
                yield elapsed_case(spec, kind, *one, count=1 + 2 * number)
            yield batch_case(spec, kind)
        yield elapsed_description(spec)


def hex_of(fraction):
    return CalendarSpec.canonical(None, fraction)


def batch_case(spec, kind):
    at, rows = since_epoch(AT), []
    if spec.placement == "FRACTION":
        owns = [0.0, 0.25, 0.999]
        ids, column_of_ids = [(None, own) for own in owns], {"fractions": owns}
    elif spec.placement == "TWISTER":
        ids = [(str(seed), seed) for seed in (0, 77, -300)]
        column_of_ids = {"integers": [text for text, _ in ids]}
    else:
        ids = [(f"user-{number}", None) for number in range(4)]
        column_of_ids = {"texts": [text for text, _ in ids]}
    for canonical, own in ids:
        offset = spec.offset_of(kind, canonical, own)
        slot, rest = divmod(offset, spec.slot)
        cycle, run = spec.next(offset, at)
        rows.append((slot, rest // spec.tick, offset // spec.tick, cycle, run))
    names = [
        "slotIndexes", "slotOffsetTicks", "cycleOffsetTicks", "cycleIndexes", "nextRunUnixMillis",
    ]  # fmt: skip
    name = spec.kinds.names[kind]
    assignments = {
        "resolution": duration(spec.tick),
        "runKeyPrefix": f"{spec.fingerprint}/{name}",
    }
    for field, cells in zip(names, zip(*rows)):
        assignments[field] = [cell if field == "slotIndexes" else str(cell) for cell in cells]
    return {
        "method": "AssignSlots",
        "request": {
            "schedule": spec.json(),
            "ids": column_of_ids,
            "kind": name,
            "fromTime": at_millis(at),
        },
        "response": {"identity": spec.identity, "assignments": assignments},
    }


def described_kinds(spec, slot, budgets, worst=()):
    """`slot` in milliseconds of the shortest cycle; `budgets` too."""
    kinds = spec.kinds
    told = []
    for kind, name in enumerate(kinds.names):
        one = {
            "name": name,
            "offsetSlotCount": kinds.places[kind],
            "offset": duration(kinds.places[kind] * slot),
            "gapSlotCount": kinds.gaps[kind],
            "runBudget": duration(budgets[kind]),
        }
        if kinds.run_times:
            one["runTime"] = duration(kinds.run_times[kind])
        if worst and worst[kind] is not None:
            one["worstCycleStartTime"] = worst[kind]
        told.append(one)
    return told


def elapsed_description(spec):
    number = (AT - spec.anchor) // timedelta(milliseconds=spec.slot)
    cycle, slot = divmod(number, spec.slots)
    start = since_epoch(spec.anchor)
    own = spec.json()["spec"] | spec.kinds.resolved()
    own |= {
        "resolution": duration(spec.tick),
        "anchorTime": at_millis(start),
        "placement": f"PLACEMENT_{spec.placement}",
    }
    if spec.placement == "TWISTER":
        own["bucketCount"] = spec.buckets or 256
    return {
        "method": "DescribeSchedule",
        "request": {"schedule": spec.json(), "atTime": at_millis(since_epoch(AT))},
        "response": {
            "identity": spec.identity,
            "spec": own,
            "canonicalText": spec.canonical_text,
            "slotDuration": duration(spec.slot),
            "maxCycleDuration": duration(spec.period),
            "slot": {
                "slotIndex": slot,
                "cycleIndex": str(cycle),
                "startTime": at_millis(start + number * spec.slot),
                "endTime": at_millis(start + (number + 1) * spec.slot),
            },
            "cycleStartTime": at_millis(start + cycle * spec.period),
            "cycleEndTime": at_millis(start + (cycle + 1) * spec.period),
            "activeDuration": duration(spec.period),
            "kinds": described_kinds(spec, spec.slot, [gap * spec.slot for gap in spec.kinds.gaps]),
        },
    }


def filled_in(spec):
    own = spec.spec()["spec"] | spec.kinds.resolved()
    if spec.exclusions:  # in the order of the canonical text
        ordered = sorted(spec.exclusions, key=lambda one: one.line())
        own["exclusions"] = [one.json() for one in ordered]
    own |= {"resolution": "1s", "placement": f"PLACEMENT_{spec.placement}"}
    if isinstance(spec.axis, Period):
        own["anchorTime"] = "1970-01-01T00:00:00Z"
    return own


def calendar_description(spec, at):
    """The description of a schedule without skipped runs, at an instant in an active window."""
    at = instant(at)
    cycle = spec.cycle_of(at)
    ticks = spec.ticks(cycle)
    slot = ticks // spec.slots
    (span,) = [span for span in spec.slot_spans(cycle) if span[0] <= at < span[3]]
    budgets, worst = [], []
    for kind in range(len(spec.kinds.names)):
        away, where = spec.budget(kind)
        usual = spec.kinds.gaps[kind] * slot
        short = away is not None and away < usual
        budgets.append((away if short else usual) * 1_000)
        start = spec.axis.instant_of(spec.axis.start(where)) if short else 0
        worst.append(at_seconds(start) if short else None)
    return {
        "method": "DescribeSchedule",
        "request": {"schedule": spec.spec(), "atTime": at_seconds(at)},
        "response": {
            "identity": spec.identity,
            "spec": filled_in(spec),
            "canonicalText": spec.canonical_text,
            "slotDuration": f"{slot}s",
            "maxCycleDuration": f"{spec.axis.longest()}s",
            "slot": {
                "slotIndex": span[2],
                "cycleIndex": str(cycle),
                "startTime": at_seconds(span[0]),
                "endTime": at_seconds(span[3]),
            },
            "cycleStartTime": at_seconds(spec.axis.instant_of(spec.axis.start(cycle))),
            "cycleEndTime": at_seconds(spec.axis.instant_of(spec.axis.start(cycle + 1))),
            "activeDuration": f"{ticks}s",
            "kinds": described_kinds(spec, slot * 1_000, budgets, worst),
        },
    }


def budget_cases():
    """The worst change of the clocks shortens the run budget of a kind."""
    for zone in ["Europe/Berlin", "Australia/Lord_Howe", "America/Santiago", "UTC", "Africa/Cairo"]:
        for kinds, slots in [(two(), 24), (three(), 96)]:
            yield calendar_description(
                ByCalendar(kinds, Calendar("DAY", zone), slots), "2026-06-01T12:00:00Z"
            )
    times = [20 * MINUTE, 45 * MINUTE]
    spec = ByCalendar(two(run_times=times), Calendar(*BERLIN), 48)
    yield calendar_description(spec, "2026-06-01T12:00:00Z")
    night = [(HOUR, 5 * HOUR)]
    spec = ByCalendar(two(), Calendar(*BERLIN), 16, windows=night)
    yield calendar_description(spec, "2026-06-01T00:12:00Z")
    week = ByCalendar(three(), Calendar("WEEK", "America/New_York"), 28)
    yield calendar_description(week, "2026-06-01T12:00:00Z")


def cases():
    yield from elapsed_cases()
    yield from late_cases()
    yield from budget_cases()
    yield from predicate_cases()
    yield from refusals()


if __name__ == "__main__":
    print_cases(list(cases()))
