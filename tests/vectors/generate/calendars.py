"""Calendar cycles, active windows and exclusions, the slow way: second by second, with zoneinfo.

No part of a cycle is ever computed as a whole: every tick of every cycle is taken from
datetime, and every second of every span is checked. Ticks are seconds.
"""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta, timezone
from functools import lru_cache
from zoneinfo import ZoneInfo

from decisions import TIME_ZONE_DATABASE

EPOCH = datetime(1970, 1, 1)
UTC = timezone.utc
DAY = 86_400


def instant(text: str) -> int:
    return int(datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp())


def rfc3339(seconds: int) -> str:
    return (EPOCH + timedelta(seconds=seconds)).isoformat() + "Z"


class Calendar:
    """A unit of the calendar in a time zone."""

    def __init__(self, unit, zone):
        self.unit, self.zone = unit, zone
        self.rules = ZoneInfo(zone)
        self.instant_of = lru_cache(None)(self._instant_of)

    def wall(self, seconds):
        """The time that the clock shows, as seconds since it showed 1970."""
        shown = datetime.fromtimestamp(seconds, self.rules).replace(tzinfo=None)
        return (shown - EPOCH) // timedelta(seconds=1)

    def _instant_of(self, wall):
        # fold=0: the first of two instants; in a gap, the offset before it, so later by the gap.
        shown = EPOCH + timedelta(seconds=wall)
        return int(shown.replace(tzinfo=self.rules, fold=0).timestamp())

    def start(self, number):
        if self.unit == "DAY":
            return number * DAY
        if self.unit == "WEEK":
            return (number * 7 - 3) * DAY
        year, month = divmod(number, 12)
        return (datetime(1970 + year, month + 1, 1) - EPOCH).days * DAY

    def number(self, wall):
        shown = EPOCH + timedelta(seconds=wall)
        if self.unit == "DAY":
            return (shown - EPOCH).days
        if self.unit == "WEEK":
            return ((shown - EPOCH).days + 3) // 7
        return (shown.year - 1970) * 12 + shown.month - 1

    def longest(self):
        return {"DAY": 1, "WEEK": 7, "MONTH": 31}[self.unit] * DAY

    def json(self):
        return {"unit": f"CALENDAR_UNIT_{self.unit}", "timeZone": self.zone}

    def lines(self):
        return [f"cycle={self.unit}", f"time_zone={self.zone}"]


class Period:
    """Cycles of one length, from the epoch on."""

    def __init__(self, length):
        self.length = length

    def wall(self, seconds):
        return seconds

    def instant_of(self, wall):
        return wall

    def start(self, number):
        return number * self.length

    def number(self, wall):
        return wall // self.length

    def longest(self):
        return self.length

    def lines(self):
        return [f"period={self.length}s"]


class Dated:
    def __init__(self, start, end, policy="DEFER"):
        self.start, self.end, self.policy = instant(start), instant(end), policy

    def holds(self, seconds):
        return self.start <= seconds < self.end

    def line(self):
        return f"{self.policy} {rfc3339(self.start)}..{rfc3339(self.end)}"

    def json(self):
        dated = {"startTime": rfc3339(self.start), "endTime": rfc3339(self.end)}
        return {"dated": dated, "policy": f"EXCLUSION_POLICY_{self.policy}"}


class Recurring:
    def __init__(self, unit, zone, start, end, policy="DEFER"):
        self.calendar, self.start, self.end = Calendar(unit, zone), start, end
        self.policy = policy

    def holds(self, seconds):
        wall = self.calendar.wall(seconds)
        offset = wall - self.calendar.start(self.calendar.number(wall))
        return self.start <= offset < self.end

    def line(self):
        calendar = self.calendar
        return f"{self.policy} {calendar.unit} {calendar.zone} {self.start}s..{self.end}s"

    def json(self):
        window = {"startOffset": f"{self.start}s", "endOffset": f"{self.end}s"}
        recurring = {"calendar": self.calendar.json(), "window": window}
        return {"recurring": recurring, "policy": f"EXCLUSION_POLICY_{self.policy}"}


class Schedule:
    def __init__(self, axis, slots, windows=(), exclusions=(), placement="HASH", salt=""):
        self.axis, self.slots, self.placement, self.salt = axis, slots, placement, salt
        self.windows, self.exclusions = list(windows), list(exclusions)
        self.walls = lru_cache(None)(self._walls)
        self.held = lru_cache(None)(self._held)
        self.stretch_of = {}
        lines = ["offbeat.v1.Schedule", *axis.lines(), "resolution=1s"]
        if isinstance(axis, Period):
            lines.append("anchor_time=1970-01-01T00:00:00Z")
        lines.append(f"slot_count={slots}")
        lines += [f"active_window={start}s..{end}s" for start, end in self.windows]
        lines += [f"exclusion={line}" for line in sorted({one.line() for one in exclusions})]
        lines.append(f"placement={placement}")
        if placement == "HASH":
            lines.append(f"salt={salt}")
        self.canonical_text = "\n".join(lines)
        fingerprint = hashlib.sha256(self.canonical_text.encode()).hexdigest()
        self.identity = self.identity_of(fingerprint)

    def identity_of(self, fingerprint):
        identity = {"fingerprint": fingerprint, "runKeyRoot": fingerprint}
        recurring = any(isinstance(one, Recurring) for one in self.exclusions)
        if isinstance(self.axis, Calendar) or recurring:
            identity["timeZoneDatabase"] = TIME_ZONE_DATABASE
        return identity

    def spec(self):
        axis = self.axis
        period = isinstance(axis, Period)
        spec = {"period": f"{axis.length}s"} if period else {"calendar": axis.json()}
        spec["slotCount"] = self.slots
        if self.windows:
            spec["activeWindows"] = [
                {"startOffset": f"{start}s", "endOffset": f"{end}s"} for start, end in self.windows
            ]
        if self.exclusions:
            spec["exclusions"] = [one.json() for one in self.exclusions]
        if self.placement != "HASH":
            spec["placement"] = f"PLACEMENT_{self.placement}"
        if self.salt:
            spec["salt"] = self.salt
        return {"spec": spec}

    def _walls(self, cycle):
        """The active ticks of a cycle, one by one: offsets by the wall clock."""
        length = self.axis.start(cycle + 1) - self.axis.start(cycle)
        windows = self.windows or [(0, length)]
        return [tick for start, end in windows for tick in range(start, min(end, length))]

    def ticks(self, cycle):
        return len(self.walls(cycle))

    def never_comes(self, cycle):
        """Whether the clock skips all of a cycle, as Samoa's did 30 December 2011."""
        start, end = self.axis.start(cycle), self.axis.start(cycle + 1)
        return self.axis.instant_of(start) >= self.axis.instant_of(end)

    def regular(self, cycle, tick):
        return self.axis.instant_of(self.axis.start(cycle) + self.walls(cycle)[tick])

    def tick_of(self, key, cycle):
        """The active tick at which an ID is placed."""
        ticks = self.ticks(cycle)
        if self.placement == "FRACTION":
            return min(int(key * ticks), ticks - 1)
        return key * ticks >> 64

    def _held(self, seconds):
        policies = {one.policy for one in self.exclusions if one.holds(seconds)}
        return "SKIP" if "SKIP" in policies else "DEFER" if policies else None

    def is_usable(self, seconds):
        wall = self.axis.wall(seconds)
        offset = wall - self.axis.start(self.axis.number(wall))
        active = not self.windows or any(start <= offset < end for start, end in self.windows)
        return active and self.held(seconds) is None

    def stretch(self, seconds):
        """The runs that are deferred together with this second, and the times that they move to."""
        if seconds in self.stretch_of:
            return self.stretch_of[seconds]
        start = end = seconds
        while self.held(start - 1) == "DEFER":
            start -= 1
        while self.held(end) == "DEFER":
            end += 1
        number = self.axis.number
        cycles = range(number(self.axis.wall(start)) - 1, number(self.axis.wall(end)) + 2)
        runs, nexts = [], []
        for cycle in cycles:
            for tick in range(0 if self.never_comes(cycle) else self.ticks(cycle)):
                if start <= (at := self.regular(cycle, tick)) < end:
                    runs.append(at)
                    later = tick * self.ticks(cycle + 1) // self.ticks(cycle)
                    nexts.append(self.regular(cycle + 1, later))
        target = [at for at in range(end, min(nexts)) if self.is_usable(at)]
        found = (sorted(runs), target)
        self.stretch_of.update(dict.fromkeys(range(start, end), found))
        return found

    def run(self, key, cycle):
        """The regular time of an ID in a cycle, and the time it runs; None if it is skipped."""
        regular = self.regular(cycle, self.tick_of(key, cycle))
        held = self.held(regular)
        if held == "SKIP" or self.never_comes(cycle):
            return regular, None
        if held is None:
            return regular, regular
        runs, target = self.stretch(regular)
        if not target:
            return regular, None
        before = sum(1 for run in runs if run < regular)
        return regular, target[before * len(target) // len(runs)]

    def runs_around(self, key, at, count):
        """The last run before an instant, and the next ones: (cycle, regular time, time)."""
        cycle = self.axis.number(self.axis.wall(at))
        runs = [(index, *self.run(key, index)) for index in range(cycle - 4, cycle + count + 4)]
        runs = [run for run in runs if run[2] is not None]
        nexts = [run for run in runs if run[2] >= at][:count]
        lasts = [run for run in runs if run[2] < at]
        assert len(nexts) == count and lasts
        return max(lasts), nexts

    def slot_spans(self, cycle):
        """The slots of a cycle, each from its earliest tick to the end of its latest one."""
        if self.never_comes(cycle):
            return
        length = self.ticks(cycle) // self.slots
        for slot in range(self.slots):
            ticks = range(slot * length, (slot + 1) * length)
            instants = [self.regular(cycle, tick) for tick in ticks]
            yield min(instants), cycle, slot, max(instants) + 1
