"""Prints golden answers about calendars, active windows and exclusions; see calendars.py.

Run: python3 decisions_of_calendars.py > ../decisions/calendars.json
The rules of the time zones are those of the machine's Python; their version is printed to standard
error. Recent versions agree on the dates used here.
"""

from __future__ import annotations

import hashlib
import struct
import sys
from pathlib import Path

from calendars import DAY, Calendar, Dated, Period, Recurring, Schedule, instant, rfc3339
from decisions import print_cases, run_id

HOUR = 3_600


def h(salt, text):
    return int.from_bytes(hashlib.md5((salt + text).encode()).digest()[:8], "big")


def id_between(schedule, cycle, low, high):
    """A text whose tick in a cycle is between these wall-clock offsets."""
    walls = schedule.walls(cycle)
    for number in range(1_000_000):
        key = h(schedule.salt, f"user-{number}")
        if low <= walls[schedule.tick_of(key, cycle)] < high:
            return f"user-{number}", key
    raise AssertionError("no ID stands there")


def assignment(schedule, low, high, at, count=3):
    """A case for an ID whose wall-clock time is between two times, around an instant."""
    at = instant(at)
    if schedule.placement == "FRACTION":
        key = low
        ident, canonical = {"fraction": key}, struct.pack(">d", key).hex()
        explanation = {"canonicalId": canonical, "fraction": key}
    else:
        cycle = schedule.axis.number(schedule.axis.wall(at))
        canonical, key = id_between(schedule, cycle, low, high)
        ident = {"text": canonical}
        explanation = {"canonicalId": canonical, "hash": format(key, "016x")}
    last, nexts = schedule.runs_around(key, at, count)

    def run(cycle, regular, start):
        run_key = f"{schedule.identity['fingerprint']}/default/{cycle}/0/{canonical}"
        if schedule.placement == "FRACTION":
            run_key = ""
        deferred = {"nominalTime": rfc3339(regular)} if regular != start else {}
        return {
            "startTime": rfc3339(start),
            "cycleIndex": str(cycle),
            "runKey": run_key,
            "runId": run_id(run_key),
            **deferred,
        }

    cycle = nexts[0][0]
    tick = schedule.tick_of(key, cycle)
    slot, offset = divmod(tick, schedule.ticks(cycle) // schedule.slots)
    return {
        "method": "AssignSlot",
        "request": {
            "schedule": schedule.spec(),
            "id": ident,
            "fromTime": rfc3339(at),
            "nextRunCount": count,
        },
        "response": {
            "identity": schedule.identity,
            "pieces": [
                {
                    "slotIndex": slot,
                    "slotOffset": f"{offset}s",
                    "cycleOffset": f"{schedule.walls(cycle)[tick]}s",
                    "lastRun": run(*last),
                    "nextRuns": [run(*one) for one in nexts],
                }
            ],
            "explanation": explanation,
        },
    }


# Zone, the wall-clock times that the change skips or repeats, and a day before it.
CHANGES = [
    ("Europe/Berlin", 2, 3, "2026-03-28T12:00:00Z"),
    ("Europe/Berlin", 2, 3, "2026-10-24T12:00:00Z"),
    ("America/New_York", 2, 3, "2025-03-08T12:00:00Z"),
    ("America/New_York", 1, 2, "2025-11-01T12:00:00Z"),
    ("Australia/Lord_Howe", 2, 2.5, "2024-10-05T05:00:00Z"),
    ("Australia/Lord_Howe", 1.5, 2, "2025-04-05T05:00:00Z"),
    ("Pacific/Auckland", 2, 3, "2025-09-27T05:00:00Z"),
    ("Pacific/Auckland", 2, 3, "2025-04-05T05:00:00Z"),
    ("America/Santiago", 0, 1, "2024-09-07T12:00:00Z"),
    ("America/Santiago", 23, 24, "2024-04-06T12:00:00Z"),
    ("America/Sao_Paulo", 0, 1, "2018-11-03T12:00:00Z"),
    ("America/Sao_Paulo", 23, 24, "2018-02-17T12:00:00Z"),
    ("Asia/Kolkata", 2, 3, "2026-03-28T12:00:00Z"),
]


def changes():
    for zone, low, high, at in CHANGES:
        low, high = int(low * HOUR), int(high * HOUR)
        day = Schedule(Calendar("DAY", zone), 96)
        for part in [(low, high), (low - 60, low), (high, high + 60)]:
            if 0 <= part[0] and part[1] <= DAY:
                yield assignment(day, *part, at)
        yield assignment(day, 12 * HOUR, 13 * HOUR, at)
        week = Schedule(Calendar("WEEK", zone), 168, salt="weekly")
        yield assignment(week, 6 * DAY + low, 6 * DAY + high, at, 2)
        fraction = Schedule(Calendar("DAY", zone), 24, placement="FRACTION")
        yield assignment(fraction, (low + high) / 2 / DAY, 0, at)
    # The day that Samoa skipped: a daily ID does not run, and a weekly ID runs on the next day.
    samoa = Schedule(Calendar("DAY", "Pacific/Apia"), 24)
    yield assignment(samoa, 7 * HOUR, 8 * HOUR, "2011-12-29T12:00:00Z", 4)
    samoa = Schedule(Calendar("WEEK", "Pacific/Apia"), 7)
    yield assignment(samoa, 4 * DAY, 5 * DAY, "2011-12-25T12:00:00Z", 2)


def months():
    berlin = Schedule(Calendar("MONTH", "Europe/Berlin"), 4)
    for at in ["2026-01-15T00:00:00Z", "2028-01-31T12:00:00Z"]:
        yield assignment(berlin, 30 * DAY, 31 * DAY, at, 3)
        yield assignment(berlin, 0, DAY, at, 2)
    for u in [0.0, 0.5, 0.9999999999999999, 28 / 31]:
        month = Schedule(Calendar("MONTH", "America/New_York"), 24, placement="FRACTION")
        yield assignment(month, u, 0, "2026-02-14T00:00:00Z", 3)
    ends = Schedule(Calendar("MONTH", "UTC"), 1, windows=[(0, 2 * DAY), (30 * DAY, 31 * DAY)])
    for part in [(0, DAY), (30 * DAY, 31 * DAY)]:
        yield assignment(ends, *part, "2026-01-30T00:00:00Z", 3)


def windows():
    night = [(1 * HOUR, 5 * HOUR)]
    for zone, at in [("Europe/Berlin", "2026-03-28T12:00:00Z"), ("UTC", "2026-06-01T00:00:00Z")]:
        schedule = Schedule(Calendar("DAY", zone), 16, windows=night)
        for low in [1, 2, 4]:
            yield assignment(schedule, low * HOUR, (low + 1) * HOUR, at)
    workdays = Schedule(
        Calendar("WEEK", "America/New_York"),
        40,
        windows=[(day * DAY + 9 * HOUR, day * DAY + 17 * HOUR) for day in range(5)],
    )
    for part in [(0, DAY), (4 * DAY, 5 * DAY)]:
        yield assignment(workdays, *part, "2025-11-02T00:00:00Z")
    shift = Schedule(Period(8 * HOUR), 3, windows=[(0, HOUR), (2 * HOUR, 4 * HOUR)])
    for low in [0, 2, 3]:
        yield assignment(shift, low * HOUR, (low + 1) * HOUR, "2026-01-01T03:00:00Z")


def exclusions():
    berlin = ("DAY", "Europe/Berlin")
    evening = Recurring(*berlin, 22 * HOUR, 23 * HOUR)
    for at in ["2026-06-01T12:00:00Z", "2026-03-28T12:00:00Z", "2026-10-24T12:00:00Z"]:
        schedule = Schedule(Calendar(*berlin), 24, exclusions=[evening])
        for part in [(22 * HOUR, 22 * HOUR + 300), (22.9 * HOUR, 23 * HOUR), (21 * HOUR, 22 * HOUR)]:
            yield assignment(schedule, *part, at)
    # Over both changes of the clock, in the hour that occurs twice or not at all.
    change = Recurring(*berlin, int(1.5 * HOUR), int(2.5 * HOUR))
    for at in ["2026-03-28T12:00:00Z", "2026-10-24T12:00:00Z"]:
        schedule = Schedule(Calendar(*berlin), 24, exclusions=[change])
        for part in [(1.5 * HOUR, 2 * HOUR), (2 * HOUR, 2.5 * HOUR), (2.5 * HOUR, 3 * HOUR)]:
            yield assignment(schedule, *part, at)
        schedule = Schedule(Calendar(*berlin), 24, exclusions=[Recurring(*berlin, 0, 4 * HOUR)])
        yield assignment(schedule, 2 * HOUR, 3 * HOUR, at)
    # The head and the tail of a cycle, together with what remains of an active window.
    night = Schedule(
        Calendar(*berlin),
        8,
        windows=[(HOUR, 5 * HOUR)],
        exclusions=[Recurring(*berlin, 4 * HOUR, 6 * HOUR), Recurring(*berlin, 0, 2 * HOUR)],
    )
    for low in [1, 2, 4]:
        yield assignment(night, low * HOUR, (low + 1) * HOUR, "2026-05-05T12:00:00Z")
    # Dated: skipped and deferred, overlapping, touching, and longer than a cycle.
    dated = Schedule(
        Calendar("DAY", "America/New_York"),
        24,
        exclusions=[
            Dated("2025-12-24T10:00:00Z", "2025-12-24T14:00:00Z", "SKIP"),
            Dated("2025-12-24T12:00:00Z", "2025-12-24T18:00:00Z"),
            Dated("2025-12-24T18:00:00Z", "2025-12-24T20:00:00Z"),
            Dated("2025-12-26T00:00:00Z", "2025-12-28T00:00:00Z"),
        ],
    )
    for low in [6, 9, 12, 14, 16]:
        yield assignment(dated, low * HOUR, (low + 1) * HOUR, "2025-12-23T22:00:00Z", 4)
    # Another zone and unit than the cycle's.
    partner = Schedule(
        Period(12 * HOUR),
        12,
        exclusions=[
            Recurring("DAY", "Australia/Lord_Howe", HOUR, 3 * HOUR),
            Recurring("WEEK", "Europe/Berlin", 5 * DAY, 6 * DAY, "SKIP"),
        ],
    )
    for low in range(2, 5):
        yield assignment(partner, low * HOUR, (low + 1) * HOUR, "2024-10-05T03:00:00Z", 5)
    weekend = Schedule(
        Calendar("WEEK", "Europe/Berlin"),
        56,
        exclusions=[Recurring("WEEK", "Europe/Berlin", 5 * DAY, 7 * DAY - HOUR)],
    )
    for part in [(5 * DAY, 5 * DAY + HOUR), (6 * DAY, 6 * DAY + HOUR)]:
        yield assignment(weekend, *part, "2026-03-25T00:00:00Z", 2)
    month = Schedule(
        Calendar("MONTH", "UTC"),
        4,
        windows=[(0, 4 * HOUR), (10 * DAY, 10 * DAY + 4 * HOUR)],
        exclusions=[Recurring("MONTH", "UTC", HOUR, 3 * HOUR)],
    )
    yield assignment(month, HOUR, 2 * HOUR, "2026-01-31T00:00:00Z", 2)
    fraction = Schedule(
        Calendar(*berlin), 24, exclusions=[evening], placement="FRACTION"
    )
    for u in [22 / 24, 22.5 / 24, 0.95]:
        yield assignment(fraction, u, 0, "2026-10-24T12:00:00Z")


def listed():
    """All slots that start in a day around a change, and in windows."""
    night = [(HOUR, 5 * HOUR)]
    for zone, start, end, more in [
        ("Europe/Berlin", "2026-03-28T20:00:00Z", "2026-03-29T20:00:00Z", {}),
        ("Europe/Berlin", "2026-10-24T20:00:00Z", "2026-10-25T20:00:00Z", {}),
        ("Australia/Lord_Howe", "2024-10-05T00:00:00Z", "2024-10-06T00:00:00Z", {}),
        ("Pacific/Apia", "2011-12-30T00:00:00Z", "2011-12-31T00:00:00Z", {}),
        ("Europe/Berlin", "2026-03-28T20:00:00Z", "2026-03-30T20:00:00Z", {"windows": night}),
    ]:
        schedule = Schedule(Calendar("DAY", zone), 32, **more)
        low, high = instant(start), instant(end)
        first = schedule.axis.number(schedule.axis.wall(low))
        spans = [span for cycle in range(first - 2, first + 5) for span in schedule.slot_spans(cycle)]
        yield {
            "method": "ListSlots",
            "request": {"schedule": schedule.spec(), "startTime": start, "endTime": end},
            "response": {
                "identity": schedule.identity,
                "slots": [
                    {
                        "slotIndex": slot,
                        "cycleIndex": str(cycle),
                        "startTime": rfc3339(begin),
                        "endTime": rfc3339(behind),
                    }
                    for begin, cycle, slot, behind in sorted(spans)
                    if low <= begin < high
                ],
            },
        }


def main():
    cases = [*changes(), *months(), *windows(), *exclusions(), *listed()]
    version = Path("/usr/share/zoneinfo/tzdata.zi").read_text().split("\n", 1)[0]
    print(f"{len(cases)} cases, tzdata {version}", file=sys.stderr)
    print_cases(cases)


if __name__ == "__main__":
    main()
