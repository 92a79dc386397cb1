"""Prints which IDs of ten time zones run in windows around both changes of their clocks.

Run: python3 zone_windows.py > ../zone_windows.json
An ID of a zone runs as it would by the same schedule in that zone, by calendars.py. Besides any
IDs, each zone has some whose wall-clock times are those at which windows begin and end.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict

from calendars import DAY, Calendar, instant, rfc3339
from decisions_of_duties_by_calendar import HOUR, Weighted
from decisions_of_zones import OWN, ZONES
from declared_kinds import ByCalendar, two

#: Where windows around a change begin and end, in seconds from it.
AROUND = [
    (-HOUR, 0), (0, HOUR), (-1_800, 1_800), (-60, 60), (0, 1), (-1, 0), (HOUR, 2 * HOUR),
    (-2 * HOUR, 2 * HOUR), (-DAY // 2, DAY // 2), (HOUR - 1, HOUR + 1), (-1_800, 0), (0, 1_800),
]  # fmt: skip
SOME = [(-HOUR, 0), (0, HOUR), (-DAY // 2, DAY // 2)]


def change_after(zone, at):
    """The second at which the clock of a zone is changed, in the three days from an instant on."""
    clock, at = Calendar("DAY", zone), instant(at)
    away = [clock.wall(second) - second for second in range(at, at + 3 * DAY)]
    (found,) = [number for number in range(1, 3 * DAY) if away[number] != away[number - 1]]
    return at + found


def texts_by_second():
    """IDs by the second of the day at which they run."""
    found = defaultdict(list)
    for number in range(400_000):
        text = f"user-{number}"
        h = int.from_bytes(hashlib.md5(text.encode()).digest()[:8], "big")
        found[h * DAY >> 64].append(text)
    return found


def rows_of(zone, changes, pool):
    """IDs of a zone: random ones, and those at the edges of its windows by either clock."""
    clock, seconds = Calendar("DAY", zone), set(range(0, DAY, 3 * HOUR))
    for change in changes:
        for edge in {edge for window in AROUND for edge in window}:
            for beside in (-1, 0, 1):
                second = change + edge + beside
                before = clock.wall(change - 1) - (change - 1)
                seconds |= {clock.wall(second) % DAY, (second + before) % DAY}
    texts = [pool[second][0] for second in sorted(seconds) if pool[second]]
    return [(text, zone) for text in texts]


class Kept:
    """A schedule in each zone, and the runs that are known."""

    def __init__(self, make, kind=None):
        self.of_zone = {zone: make(zone) for zone in [OWN, *ZONES]}
        self.kind = kind

    def selects(self, text, zone, start, end):
        schedule = self.of_zone[zone]
        key = (text, 0 if self.kind is None else schedule.kinds.names.index(self.kind))
        return bool(schedule.runs_in(key, start, end))

    def asked(self):
        more = {} if self.kind is None else {"kind": self.kind}
        return {"schedule": self.of_zone[OWN].spec(), "timeZones": list(ZONES), **more}


def main():
    pool = texts_by_second()
    changes = {zone: [change_after(zone, at) for at in ats] for zone, ats in ZONES.items()}
    rows = [row for zone in ZONES for row in rows_of(zone, changes[zone], pool)]
    # Rows of a zone that is not in the request.
    rows += [(f"user-{number}", OWN) for number in range(4)]
    night = [(HOUR, 5 * HOUR)]
    daily = Kept(lambda zone: Weighted(Calendar("DAY", zone), 24))
    schedules = [
        daily,
        Kept(lambda zone: ByCalendar(two(), Calendar("DAY", zone), 24), "export"),
        Kept(lambda zone: Weighted(Calendar("DAY", zone), 16, windows=night)),
        Kept(lambda zone: Weighted(Calendar("WEEK", zone), 28)),
    ]
    cases = []
    for change in [change for both in changes.values() for change in both]:
        asked = [(daily, window) for window in AROUND]
        asked += [(schedule, window) for schedule in schedules[1:] for window in SOME]
        for schedule, (start, end) in asked:
            start, end = change + start, change + end
            selected = [
                number
                for number, (text, zone) in enumerate(rows)
                if zone != OWN and schedule.selects(text, zone, start, end)
            ]
            cases.append(
                {
                    "schedule": schedules.index(schedule),
                    "startTime": rfc3339(start),
                    "endTime": rfc3339(end),
                    "selected": selected,
                }
            )
    digests = (hashlib.md5(text.encode()).hexdigest() for text, _ in rows)
    told = [
        {"id": text, "timeZone": zone, "hash": digest[:16]}
        for (text, zone), digest in zip(rows, digests)
    ]
    found = {"rows": told, "schedules": [one.asked() for one in schedules], "cases": cases}
    parts = (
        f'"{name}":[\n' + ",\n".join(json.dumps(one, separators=(",", ":")) for one in part) + "\n]"
        for name, part in found.items()
    )
    print("{" + ",\n".join(parts) + "}")


if __name__ == "__main__":
    main()
