"""Prints golden answers about IDs with time zones of their own.

Run: python3 decisions_of_zones.py > ../decisions/zones.json
An ID of a zone runs as it would by the same schedule in that zone, by calendars.py; only what
stands for the schedule, in identities and run keys, is that of the request.
"""

from __future__ import annotations

from fractions import Fraction

from calendars import DAY, Calendar, instant, rfc3339
from decisions import print_cases, run_id
from decisions_of_duties_by_calendar import HOUR, Weighted
from declared_kinds import ByCalendar, two
from late_runs_of_kinds import due_case as late_kinds

#: Zones, and a day before each change of their clocks, some by half an hour or at midnight.
ZONES = {
    "Europe/Berlin": ("2026-03-28T12:00:00Z", "2026-10-24T12:00:00Z"),
    "America/New_York": ("2025-03-08T12:00:00Z", "2025-11-01T12:00:00Z"),
    "Australia/Lord_Howe": ("2024-10-05T05:00:00Z", "2025-04-05T05:00:00Z"),
    "Pacific/Auckland": ("2025-09-27T05:00:00Z", "2025-04-05T05:00:00Z"),
    "America/Santiago": ("2024-09-07T12:00:00Z", "2024-04-06T12:00:00Z"),
    "America/Sao_Paulo": ("2018-11-03T12:00:00Z", "2018-02-17T12:00:00Z"),
    "Africa/Cairo": ("2024-04-25T12:00:00Z", "2024-10-31T12:00:00Z"),
    "Europe/Lisbon": ("2026-03-28T12:00:00Z", "2026-10-24T12:00:00Z"),
    "America/St_Johns": ("2025-03-08T12:00:00Z", "2025-11-01T12:00:00Z"),
    "Pacific/Apia": ("2011-12-29T12:00:00Z", "2011-04-01T12:00:00Z"),
}
OWN = "Asia/Kolkata"
IDS = [f"user-{number}" for number in range(6)]


def zoned(unit, windows):
    """The schedule of the request, and that of each zone."""
    slots = 16 if windows else 24
    schedules = {
        zone: Weighted(Calendar(unit, zone), slots, windows=windows) for zone in [OWN, *ZONES]
    }
    return schedules[OWN], schedules


def batch_case(unit, windows, at):
    """Each ID in each zone, and in that of the schedule."""
    spec, schedules = zoned(unit, windows)
    zones, at = list(ZONES), instant(at)
    rows, texts, indexes = [], [], []
    for index in range(-1, len(zones)):
        own = schedules[OWN if index < 0 else zones[index]]
        for text in IDS:
            key = (text, 0)
            cycle, _, start = own.next_in(key, at)
            tick = own.tick_of(key, cycle)
            slot, offset = divmod(tick, own.ticks(cycle) // own.slots)
            rows.append((slot, offset, own.walls(cycle)[tick], cycle, start * 1_000))
            texts.append(text)
            indexes.append(index)
    names = [
        "slotIndexes", "slotOffsetTicks", "cycleOffsetTicks", "cycleIndexes", "nextRunUnixMillis",
    ]  # fmt: skip
    assignments = {"resolution": "1s", "runKeyPrefix": f"{spec.identity['fingerprint']}/default"}
    for name, cells in zip(names, zip(*rows)):
        assignments[name] = [cell if name == "slotIndexes" else str(cell) for cell in cells]
    return {
        "method": "AssignSlots",
        "request": {
            "schedule": spec.spec(),
            "fromTime": rfc3339(at),
            "ids": {"texts": texts, "timeZones": zones, "timeZoneIndexes": indexes},
        },
        "response": {"identity": spec.identity, "assignments": assignments},
    }


def single_case(zone, text, at):
    spec, schedules = zoned("DAY", [])
    own, key, at = schedules[zone], (text, 0), instant(at)
    last, nexts = own.runs_around(key, at, 3)

    def run(cycle, _, start):
        run_key = f"{spec.identity['fingerprint']}/default/{cycle}/0/{text}"
        return {
            "startTime": rfc3339(start),
            "cycleIndex": str(cycle),
            "runKey": run_key,
            "runId": run_id(run_key),
        }

    cycle = nexts[0][0]
    tick = own.tick_of(key, cycle)
    slot, offset = divmod(tick, own.ticks(cycle) // own.slots)
    return {
        "method": "AssignSlot",
        "request": {
            "schedule": spec.spec(),
            "id": {"text": text},
            "timeZone": zone,
            "fromTime": rfc3339(at),
            "nextRunCount": 3,
        },
        "response": {
            "identity": spec.identity,
            "pieces": [
                {
                    "slotIndex": slot,
                    "slotOffset": f"{offset}s",
                    "cycleOffset": f"{own.walls(cycle)[tick]}s",
                    "lastRun": run(*last),
                    "nextRuns": [run(*one) for one in nexts],
                }
            ],
            "explanation": {"canonicalId": text, "hash": own.digest(text)[:16]},
        },
    }


def due_case(at, policy):
    """The runs due up to an instant since a day before, in each zone; late runs are smeared."""
    spec, schedules = zoned("DAY", [])
    zones, now = list(ZONES), instant(at)
    start, tolerance, smear = now - 24 * HOUR, 3_600, 2 * HOUR
    rows, texts, indexes, nexts = [], [], [], []
    late_count = dropped = superseded = skipped = 0
    for number in range(-1, len(zones)):
        own = schedules[OWN if number < 0 else zones[number]]
        for text in IDS[:3]:
            index, key = len(texts), (text, 0)
            texts.append(text)
            indexes.append(number)
            runs = own.runs_in(key, start, now)
            skipped += own.skipped_in(key, start, now)
            following = own.next_in(key, now)[2]
            nexts.append(following)
            on_time = [run for run in runs if now - run[2] <= tolerance]
            missed = [run for run in runs if now - run[2] > tolerance]
            late = [] if policy == "RUN_ONCE" and on_time else missed
            late = late[-1:] if policy == "RUN_ONCE" else late
            u = Fraction(own.smear(text, 0), 2**64)
            starts = [
                now * 1_000 + int((j + u) / len(late) * smear * 1_000) for j in range(len(late))
            ]
            dropped += len(missed) - len(late)
            if policy == "RUN_ONCE" and late and starts[0] >= following * 1_000:
                superseded, late = superseded + 1, []
            for (cycle, _, run), begin in zip(late, starts):
                rows.append((index, 0, cycle, run * 1_000, begin))
            rows += [(index, 0, cycle, run * 1_000, run * 1_000) for cycle, _, run in on_time]
            late_count += len(late)
    names = ["idIndexes", "pieceIndexes", "cycleIndexes", "scheduledUnixMillis", "startUnixMillis"]
    runs = {"runKeyPrefix": f"{spec.identity['fingerprint']}/default"}
    for name, cells in zip(names, zip(*rows)):
        runs[name] = [cell if name[0] in "ip" else str(cell) for cell in cells]
    return {
        "method": "ListDueRuns",
        "request": {
            "schedule": spec.spec(),
            "ids": {"texts": texts, "timeZones": zones, "timeZoneIndexes": indexes},
            "watermarkTime": rfc3339(start),
            "nowTime": rfc3339(now),
            "catchUpPolicy": {
                "missedRunPolicy": f"MISSED_RUN_POLICY_{policy}",
                "onTimeTolerance": f"{tolerance}s",
                "smearSpan": f"{smear}s",
            },
        },
        "response": {
            "identity": spec.identity,
            "runs": runs,
            "nextWatermarkTime": rfc3339(now),
            "lateRunCount": str(late_count),
            "droppedRunCount": str(dropped),
            "supersededRunCount": str(superseded),
            "skippedRunCount": str(skipped),
            "nextDueTime": rfc3339(min(nexts)),
        },
    }


def late_kinds_case(zone, at, kind):
    """Late runs of kinds where the zone's clock changes and the schedule's never does.
    Turns are shorter than the gap."""
    home, own = (
        ByCalendar(two(span=1_500_000), Calendar("DAY", name), 24) for name in ["UTC", zone]
    )
    now = instant(at) * 1_000
    spans = {"horizon": 9 * DAY * 1_000, "tolerance": 0}
    case = late_kinds(own, kind, now - 8 * DAY * 1_000, now, "RUN_ALL", **spans)
    request, response = case["request"], case["response"]
    request["schedule"] = home.spec()
    request["ids"] |= {"timeZones": [zone], "timeZoneIndexes": [0] * len(request["ids"]["texts"])}
    response["identity"] = home.identity
    prefix = f"{home.identity['fingerprint']}/{home.kinds.names[kind]}"
    response["runs"]["runKeyPrefix"] = prefix
    return case


def cases():
    for zone, changes in ZONES.items():
        for at in changes:
            for text in IDS[:2]:
                yield single_case(zone, text, at)
            yield batch_case("DAY", [], at)
    night = [(HOUR, 5 * HOUR)]
    for at in ZONES["Europe/Berlin"]:
        yield batch_case("DAY", night, at)
        yield batch_case("WEEK", [], at)
    for at in ["2026-03-29T12:00:00Z", "2011-12-30T12:00:00Z"]:
        for policy in ["RUN_ONCE", "RUN_ALL"]:
            yield due_case(at, policy)
    for zone, at in [
        ("Europe/Berlin", "2026-03-29T00:30:00Z"),
        ("Australia/Lord_Howe", "2024-10-05T14:50:00Z"),
    ]:
        for kind in range(2):
            yield late_kinds_case(zone, at, kind)


if __name__ == "__main__":
    print_cases(list(cases()))
