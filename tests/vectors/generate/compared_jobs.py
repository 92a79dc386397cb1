"""Jobs as CompareSchedules compares them: both are run, and every distance is checked.

No rule here says which schedules are alike. IDs run by both for some days; the distance is known
if it is the same for each ID and in each cycle, in elapsed time or by the clock that both jobs
share. The shortest is then searched at each quarter of an hour at which an ID can be placed, and
around each change of the clocks from 2020 to 2037.
"""

from __future__ import annotations

import hashlib
import random
from fractions import Fraction
from functools import lru_cache

from calendars import DAY, Calendar, Period, instant, rfc3339
from decisions import duration
from decisions_of_duties_by_calendar import HOUR, Weighted, reversed_bits

EIGHT = 8 * HOUR * 1_000
FROM, UNTIL = (instant(f"2026-{day}T00:00:00Z") * 1_000 for day in ("03-20", "04-03"))
IDS = [(number, random.Random(number).random()) for number in range(12)]


def twister(seed):
    """Python's Mersenne twister, seeded by one word as Ruby and PHP do it."""
    state = [seed]
    for number in range(1, 624):
        last = state[-1]
        state.append((1_812_433_253 * (last ^ (last >> 30)) + number) % 2**32)
    drawn = random.Random()
    drawn.setstate((3, (*state, 624), None))
    return drawn


def draw(profile, seed, limit):
    if profile == "PYTHON":
        return random.Random(seed).randrange(limit)
    drawn, word = twister(seed), 2**32
    while limit > 1:
        word = drawn.getrandbits(32)
        if profile == "RUBY":
            word %= 1 << (limit - 1).bit_length()
            if word < limit:
                return word
        elif word < 2**32 - 2**32 % limit:
            return word % limit
    return 0


class Job:
    """A job and its schedule; spans in milliseconds, offsets of windows in seconds."""

    def __init__(
        self, period=EIGHT, unit=None, zone=None, slots=96, tick=1_000, anchor=0, kinds=None,
        kind="", run_time=None, placement="HASH", salt="", profile=None, buckets=None, windows=(),
        exclusions=(), quantum=None,
    ):  # fmt: skip
        self.period, self.slots, self.tick, self.anchor = period, slots, tick, anchor
        self.axis = Calendar(unit, zone) if unit else None
        self.kinds, self.kind, self.given = kinds, kind, run_time
        self.placement, self.salt, self.profile, self.buckets = placement, salt, profile, buckets
        self.windows, self.exclusions, self.quantum = windows, exclusions, quantum
        self.ticks = lru_cache(None)(lambda cycle: len(self.walls(cycle)))
        self.walls = lru_cache(None)(self.walls)
        self.run_time, self.place = run_time, 0
        if kinds:
            usable = [self.ticks(cycle) * tick for cycle in range(48)]
            kinds.tick = tick
            kinds.stand(slots, min(usable) // slots, usable)
            index = kinds.names.index(kind)
            self.place = kinds.places[index]
            if kinds.run_times and run_time is None:
                self.run_time = kinds.run_times[index]
        defers = any(one.policy == "DEFER" for one in exclusions)
        if defers:
            assert {unit, anchor, kinds, windows} == {None, 0, ()}, "only plain ones defer here"
            self.deferred = Weighted(Period(period // 1_000), slots, exclusions=exclusions)
        self.defers = defers

    def json(self):
        spec = {"slotCount": self.slots}
        if self.axis:
            spec["calendar"] = self.axis.json()
        else:
            spec["period"] = duration(self.period)
        if self.tick != 1_000:
            spec["resolution"] = duration(self.tick)
        if self.anchor:
            seconds, rest = divmod(self.anchor, 1_000)
            spec["anchorTime"] = rfc3339(seconds)[:-1] + (f".{rest:03}Z" if rest else "Z")
        if self.placement != "HASH":
            spec["placement"] = f"PLACEMENT_{self.placement}"
        if self.salt:
            spec["salt"] = self.salt
        if self.profile:
            spec["profile"] = f"TWISTER_PROFILE_{self.profile}"
        if self.buckets:
            spec["bucketCount"] = self.buckets
        if self.windows:
            spec["activeWindows"] = [
                {"startOffset": f"{start}s", "endOffset": f"{end}s"} for start, end in self.windows
            ]
        if self.exclusions:
            spec["exclusions"] = [one.json() for one in self.exclusions]
        if self.quantum:
            spec["weightQuantum"] = str(self.quantum)
        if self.kinds:
            spec |= self.kinds.declared()
        told = {"schedule": {"spec": spec}}
        if self.kind:
            told["kind"] = self.kind
        if self.given is not None:
            told["runTime"] = duration(self.given)
        return told

    # --- places of IDs, and their runs

    @property
    def clock(self):
        """Jobs of one clock have the same cycles and the same active time in them."""
        axis = self.axis and (self.axis.unit, self.axis.zone)
        return axis or (self.period, self.anchor % self.period), self.tick, tuple(self.windows)

    def follows_clock(self):
        """Whether places follow the wall clock, or the active windows of a cycle."""
        return bool(self.axis or self.windows)

    def walls(self, cycle):
        if self.axis:
            length = self.axis.start(cycle + 1) - self.axis.start(cycle)
        else:
            length = self.period // self.tick
        if not self.windows:
            return range(length)
        part = 1_000 // self.tick
        return [
            offset
            for start, end in self.windows
            for offset in range(start * part, min(end * part, length))
        ]

    def instant_of(self, cycle, tick):
        wall = self.walls(cycle)[tick]
        if self.axis:
            return self.axis.instant_of(self.axis.start(cycle) + wall) * 1_000
        return self.anchor + cycle * self.period + wall * self.tick

    def cycle_of(self, millis):
        if self.axis:
            return self.axis.number(self.axis.wall(millis // 1_000))
        return (millis - self.anchor) // self.period

    def share(self, ident, piece=0):
        """The exact share of the cycle at which an ID is placed, except for TWISTER."""
        number, fraction = ident
        if self.placement == "FRACTION":
            return Fraction(fraction) + Fraction(reversed_bits(piece), 2**64)
        digest = hashlib.md5(f"{self.salt}{number}".encode()).digest()
        return Fraction(int.from_bytes(digest[:8], "big") + reversed_bits(piece), 2**64)

    def tick_of(self, ident, cycle, piece=0):
        ticks = self.ticks(cycle)
        slot = ticks // self.slots
        if self.placement == "TWISTER":
            buckets = self.buckets or 256
            first = ident[0] % buckets * self.slots // buckets * slot
            first += draw(self.profile or "RUBY", ident[0], slot)
        else:
            first = int(self.share(ident, piece) % 1 * ticks)
        return (first + self.place * slot) % ticks

    def runs(self, ident, start, end, skipped=False):
        """The runs in [start, end) of an ID, of which every third has a weight; with those that are
        skipped, or without."""
        if self.defers:
            runs = self.deferred.runs_in((str(ident[0]), 0), start // 1_000, end // 1_000)
            return sorted(at * 1_000 for _, _, at in runs)
        pieces = 1
        if self.quantum and ident[0] % 3 == 0:
            pieces = min(self.slots, -(-25 // self.quantum))
        cycles = range(self.cycle_of(start) - 1, self.cycle_of(end) + 2)
        runs = [
            self.instant_of(cycle, self.tick_of(ident, cycle, piece))
            for cycle in cycles
            for piece in range(pieces)
        ]
        runs = (at for at in runs if start <= at < end)
        return sorted(at for at in runs if skipped or not self.is_skipped(at))

    def is_skipped(self, millis):
        return any(one.holds(millis // 1_000) for one in self.exclusions)


# --- distances between two jobs


def next_in(runs, at):
    return min(run for run in runs if run >= at)


def elapsed_distances(one, other, skipped):
    """All distances in elapsed time, of some IDs over two weeks."""
    return {
        next_in(seconds, at) - at
        for ident in IDS
        for seconds in [other.runs(ident, FROM, UNTIL + 9 * DAY * 1_000, skipped)]
        for at in one.runs(ident, FROM, UNTIL, skipped)
    }


def shares_between(one, other):
    """The distances between both jobs by their common clock, as shares of a cycle."""
    for cycle in range(678, 682):
        ticks = one.ticks(cycle)
        for ident in IDS:
            away = (other.tick_of(ident, cycle) - one.tick_of(ident, cycle)) % ticks
            yield Fraction(away, ticks)


def shortest(one, other):
    """From a run of the one to the next of the other, of all IDs and cycles; None if not known."""
    if one.clock != other.clock or not one.follows_clock():
        if len(elapsed_distances(one, other, skipped=True)) > 1:
            return None
        return min(elapsed_distances(one, other, skipped=False))
    if len(set(shares_between(one, other))) > 1:
        return None
    cycles = [0] if one.axis is None else sorted(changing_cycles(one))
    found = []
    for cycle in cycles:
        for base in places(one, other, cycle):
            at = stand(one, base, cycle)
            if at is None:
                continue
            nexts = (stand(other, base, cycle + step) for step in (-1, 0, 1, 2))
            nexts = [run - at for run in nexts if run is not None and run >= at]
            if nexts:
                found.append(min(nexts))
    return min(found)


def changing_cycles(job):
    """The cycles of 2020 to 2037 with a change of the clocks, and the adjacent ones."""
    start, end = (instant(f"{year}-01-01T00:00:00Z") for year in (2020, 2038))
    if job.axis.unit == "MONTH":
        return range(600, 816)
    away = [job.axis.wall(day) - day for day in range(start, end, DAY)]
    changes = [number for number, (a, b) in enumerate(zip(away, away[1:])) if a != b] or [0]
    numbers = {job.axis.number(job.axis.wall(start + number * DAY)) for number in changes}
    return {number + step for number in numbers for step in (-2, -1, 0, 1, 2)}


def places(one, other, cycle):
    """Shares of a cycle at which something may change: quarters of an hour, for either job."""
    ticks, part = one.ticks(cycle), 900_000 // one.tick
    if one.axis and one.axis.unit == "MONTH":
        return [Fraction(number, 480) for number in range(480)]
    edges = set()
    for job in (one, other):
        before = job.place * (ticks // job.slots)
        edges |= {(tick - before) % ticks for tick in range(0, ticks, part)}
    return [Fraction(edge, ticks) for edge in sorted(edges)]


def stand(job, share, cycle):
    """The time at which an ID at a share of the cycle runs; None if it is skipped."""
    ticks = job.ticks(cycle)
    tick = (int(share * ticks) + job.place * (ticks // job.slots)) % ticks
    at = job.instant_of(cycle, tick)
    return None if job.is_skipped(at) else at
