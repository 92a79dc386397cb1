"""Wall clocks by Python's zoneinfo: what a clock shows, and which instant a shown time means.

Times are whole seconds: of instants since the Unix epoch, of wall clocks since they showed
1970-01-01T00:00:00.
"""

from __future__ import annotations

import zoneinfo
from datetime import date, datetime, timedelta
from functools import cache

zoneinfo.reset_tzpath([])  # not the machine's: the package tzdata, whose release is pinned
EPOCH = datetime(1970, 1, 1)
FIRST_DAY = EPOCH.date()
DAY = 86_400
#: The step in which changes of the clocks are searched; no two changes are closer.
STEP = 3 * 3_600

Spans = list[tuple[int, int]]


class Clock:
    """The wall clock of a zone."""

    def __init__(self, name: str) -> None:
        self.zone = zoneinfo.ZoneInfo(name)
        self.known: dict[int, list[tuple[int, int, int]]] = {}

    def offset_at(self, instant: int) -> int:
        shown = (EPOCH + timedelta(seconds=instant)).replace(tzinfo=zoneinfo.ZoneInfo("UTC"))
        offset = shown.astimezone(self.zone).utcoffset()
        assert offset is not None
        return round(offset.total_seconds())

    def instant_of(self, wall: int) -> int:
        """As in PEP 495 with fold=0: the first of two instants; in a gap, the offset before it."""
        shown = (EPOCH + timedelta(seconds=wall)).replace(tzinfo=self.zone, fold=0)
        offset = shown.utcoffset()
        assert offset is not None
        return wall - round(offset.total_seconds())

    def changes_of(self, month: int) -> list[tuple[int, int, int]]:
        """The changes in about a twelfth of a year: instant, offset before, offset after."""
        if month not in self.known:
            self.known[month] = self.changes_in(month)
        return self.known[month]

    def changes_in(self, month: int) -> list[tuple[int, int, int]]:
        found = []
        width = 30 * DAY
        for low in range(month * width, (month + 1) * width, STEP):
            before, after = self.offset_at(low), self.offset_at(low + STEP)
            if before == after:
                continue
            high = low + STEP
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if self.offset_at(middle) == before else (low, middle)
            found.append((high, before, after))
        return found

    def changes(self, start: int, end: int) -> list[tuple[int, int, int]]:
        width = 30 * DAY
        months = range(start // width, end // width + 1)
        return [one for month in months for one in self.changes_of(month) if start < one[0] < end]

    def stretches(self, start: int, end: int) -> list[tuple[int, int, int]]:
        """The instants [start, end) in parts of equal UTC offset."""
        edges = [start, *(at for at, _, _ in self.changes(start, end)), end]
        return [
            (low, high, self.offset_at(low)) for low, high in zip(edges, edges[1:], strict=False)
        ]


@cache
def clock(name: str) -> Clock:
    return Clock(name)


def unit_start(unit: str, number: int) -> int:
    """The wall-clock time of the start of a day, week or month."""
    if unit == "DAY":
        days = number
    elif unit == "WEEK":  # 29 December 1969 was a Monday
        days = number * 7 - 3
    else:
        days = (date(1970 + number // 12, number % 12 + 1, 1) - FIRST_DAY).days
    return days * DAY


def unit_of(unit: str, wall: int) -> int:
    day = wall // DAY
    if unit == "DAY":
        return day
    if unit == "WEEK":
        return (day + 3) // 7
    shown = FIRST_DAY + timedelta(days=day)
    return (shown.year - 1970) * 12 + shown.month - 1


def merged(spans: Spans) -> Spans:
    """The same times, as spans that neither overlap nor touch."""
    out: Spans = []
    for start, end in sorted(spans):
        if start >= end:
            continue
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((start, end))
    return out


def without(spans: Spans, taken: Spans) -> Spans:
    for gone_from, gone_to in taken:
        left = []
        for start, end in spans:
            left += [(start, min(end, gone_from)), (max(start, gone_to), end)]
        spans = [(start, end) for start, end in left if start < end]
    return spans


def within(spans: Spans, start: int, end: int) -> Spans:
    cut = [(max(low, start), min(high, end)) for low, high in spans]
    return [(low, high) for low, high in cut if low < high]


def length(spans: Spans) -> int:
    return sum(end - start for start, end in spans)
