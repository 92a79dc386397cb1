"""A schedule evaluated by brute force: written from the protos alone, in integers.

Times are ticks unless they say otherwise: of instants since the Unix epoch, of wall clocks
since they showed 1970-01-01T00:00:00.
"""

from __future__ import annotations

import hashlib
import math
import struct
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from wall_clocks import DAY, Spans, clock, length, merged, unit_of, unit_start, within, without

TWO64 = 1 << 64


def rev64(number: int) -> int:
    return int(f"{number:064b}"[::-1], 2)


class Run(NamedTuple):
    """A run: its cycle, when it starts, and when it would start without exclusions."""

    cycle: int
    at: int
    regular: int


class Stretch(NamedTuple):
    """Consecutive active ticks of a cycle, at consecutive instants."""

    offset: int
    ticks: int
    wall: int
    instant: int

    @property
    def end(self) -> int:
        return self.instant + self.ticks


@dataclass(frozen=True)
class Excluded:
    policy: str
    dated: tuple[int, int] | None = None
    unit: str = ""
    zone: str = ""
    window: tuple[int, int] = (0, 0)


@dataclass
class Id:
    """The placement data of an ID: a hash, a fraction, or (TWISTER) its offset in the cycle."""

    text: str
    hash: int = 0
    fraction: float = 0.0
    piece: int = 0
    shifted: int | None = None
    smear: int = 0


@dataclass
class Model:
    tick: int  # ms
    slots: int
    period: int = 0
    unit: str = ""
    zone: str = ""
    anchor: int = 0
    placement: str = "HASH"
    salt: str = ""
    windows: Spans = field(default_factory=list)
    exclusions: list[Excluded] = field(default_factory=list)
    #: Slots from kind 0 to the kind of the request.
    kind_place: int = 0

    # --- cycles

    def start(self, cycle: int) -> int:
        """The time that the clock shows at the start of a cycle (for periods, in UTC)."""
        if self.unit:
            return unit_start(self.unit, cycle) * self.rate
        return self.anchor + cycle * self.period

    @property
    def rate(self) -> int:
        return 1_000 // self.tick

    def instant_of(self, wall: int) -> int:
        if not self.unit:
            return wall
        seconds, part = divmod(wall, self.rate)
        return clock(self.zone).instant_of(seconds) * self.rate + part

    def cycle_start(self, cycle: int) -> int:
        return self.instant_of(self.start(cycle))

    def cycle_at(self, instant: int) -> int:
        """The last cycle that starts at or before an instant."""
        if not self.unit:
            return (instant - self.anchor) // self.period
        shown = instant // self.rate + clock(self.zone).offset_at(instant // self.rate)
        cycle = unit_of(self.unit, shown) + 2
        while self.cycle_start(cycle) > instant:
            cycle -= 1
        return cycle

    def never_comes(self, cycle: int) -> bool:
        """Whether the clock skips all of a cycle, which then has no runs."""
        return bool(self.unit) and self.cycle_start(cycle) >= self.cycle_start(cycle + 1)

    def windows_of(self, cycle: int) -> Spans:
        whole = self.start(cycle + 1) - self.start(cycle)
        return within(self.windows or [(0, whole)], 0, whole)

    def active(self, cycle: int) -> int:
        return length(self.windows_of(cycle))

    @cached_property
    def shortest(self) -> int:
        """Active ticks of the shortest cycle."""
        return self.active(1)  # February 1970; all days and weeks are alike

    @cached_property
    def _stretches(self) -> dict[int, list[Stretch]]:
        return {}

    def stretches(self, cycle: int) -> list[Stretch]:
        if cycle not in self._stretches:
            self._stretches[cycle] = self._stretches_of(cycle)
        return self._stretches[cycle]

    def _stretches_of(self, cycle: int) -> list[Stretch]:
        start = self.start(cycle)
        edges = []
        if self.unit:
            low, high = start // self.rate, self.start(cycle + 1) // self.rate
            changes = clock(self.zone).changes(low - 2 * DAY, high + 2 * DAY)
            # The old offset holds up to the later of the two times shown at the change.
            edges = [(at + max(before, after)) * self.rate - start for at, before, after in changes]
        found, offset = [], 0
        for first, last in self.windows_of(cycle):
            cuts = [first, *(edge for edge in edges if first < edge < last), last]
            for low, high in zip(cuts, cuts[1:], strict=False):
                at = self.instant_of(start + low)
                assert self.instant_of(start + high - 1) == at + high - 1 - low
                found.append(Stretch(offset, high - low, low, at))
                offset += high - low
        return found

    # --- places

    def offset(self, one: Id, cycle: int) -> int:
        """The active tick of the cycle at which the kind of an ID is placed."""
        ticks = self.active(cycle)
        later = self.kind_place * (ticks // self.slots)
        return (self.first_offset(one, cycle) + later) % ticks

    def first_offset(self, one: Id, cycle: int) -> int:
        """The active tick of kind 0, or of the ID if no kinds are declared."""
        ticks = self.active(cycle)
        if self.placement == "HASH":
            return (one.hash + rev64(one.piece)) % TWO64 * ticks >> 64
        if self.placement == "FRACTION":
            if not one.piece:
                return min(math.floor(one.fraction * ticks), ticks - 1)
            base = min(math.floor(one.fraction * self.shortest), self.shortest - 1)
            shifted = (base + (rev64(one.piece) * self.shortest >> 64)) % self.shortest
            if ticks == self.shortest:
                return shifted
            fraction = smallest_fraction(shifted, self.shortest)
            return min(math.floor(fraction * ticks), ticks - 1)
        assert one.shifted is not None
        return (one.shifted + (rev64(one.piece) * ticks >> 64)) % ticks

    def slot(self, one: Id, cycle: int) -> tuple[int, int]:
        """Slot and offset in it, which for a fraction at an edge differ between months."""
        return divmod(self.offset(one, cycle), self.active(cycle) // self.slots)

    def wall_offset(self, cycle: int, offset: int) -> int:
        for start, end in self.windows_of(cycle):
            if offset < end - start:
                return start + offset
            offset -= end - start
        raise AssertionError("behind the cycle")

    def regular(self, one: Id, cycle: int) -> int:
        wall = self.wall_offset(cycle, self.offset(one, cycle))
        return self.instant_of(self.start(cycle) + wall)

    # --- exclusions

    def showing(self, unit: str, zone: str, windows: Spans, start: int, end: int) -> Spans:
        """The instants in [start, end) at which a clock is within the windows of a unit."""
        found: Spans = []
        low_s, high_s = start // self.rate, -(-end // self.rate)
        for low, high, ahead in clock(zone).stretches(low_s, high_s):
            low, high, ahead = low * self.rate, high * self.rate, ahead * self.rate
            number = unit_of(unit, (low + ahead) // self.rate)
            while (first := unit_start(unit, number) * self.rate) < high + ahead:
                last = unit_start(unit, number + 1) * self.rate
                parts = within([(first + a, first + b) for a, b in windows], first, last)
                found += within([(a - ahead, b - ahead) for a, b in parts], low, high)
                number += 1
        return within(merged(found), start, end)

    def forbidden(self, start: int, end: int) -> tuple[Spans, Spans]:
        """The skipped times in [start, end), and the deferred times that are not skipped."""
        by_policy: dict[str, Spans] = {"SKIP": [], "DEFER": []}
        for one in self.exclusions:
            if one.dated:
                by_policy[one.policy] += within([one.dated], start, end)
            else:
                shown = self.showing(one.unit, one.zone, [one.window], start, end)
                by_policy[one.policy] += shown
        skipped = merged(by_policy["SKIP"])
        return skipped, without(merged(by_policy["DEFER"]), skipped)

    def usable(self, start: int, end: int) -> Spans:
        """The instants in [start, end) that are active and not excluded."""
        if not self.windows:
            shown = [(start, end)]
        elif self.unit:
            shown = self.showing(self.unit, self.zone, self.windows, start, end)
        else:
            cycles = range(self.cycle_at(start), self.cycle_at(end) + 1)
            each = [(self.start(cycle), window) for cycle in cycles for window in self.windows]
            shown = within([(at + a, at + b) for at, (a, b) in each], start, end)
        skipped, deferred = self.forbidden(start, end)
        return without(shown, merged(skipped + deferred))

    def usable_ticks(self, start: int, most: int) -> int:
        """The number of usable ticks in the next 64 cycles, counted up to `most`."""
        count = 0
        for low in range(start, start + 64 * self.longest, self.longest):
            count += length(self.usable(low, low + self.longest))
            if count >= most:
                break
        return count

    def usable_tick(self, start: int, ticks: int) -> int | None:
        """The instant of the usable tick that is `ticks` usable ticks after `start`."""
        longest = self.longest
        for low in range(start, start + 64 * longest, longest):
            for first, last in self.usable(low, low + longest):
                if ticks < last - first:
                    return first + ticks
                ticks -= last - first
        return None

    @property
    def longest(self) -> int:
        if self.unit:
            return {"DAY": 1, "WEEK": 7, "MONTH": 31}[self.unit] * DAY * self.rate
        return self.period

    @cached_property
    def _around(self) -> dict[int, tuple[Spans, Spans]]:
        return {}

    def forbidden_around(self, instant: int) -> tuple[Spans, Spans]:
        key = instant // (4 * self.longest)
        if key not in self._around:
            start = key * 4 * self.longest
            self._around[key] = self.forbidden(start - 5 * self.longest, start + 9 * self.longest)
        return self._around[key]

    @cached_property
    def _deferrals(self) -> dict[tuple[int, int], tuple[Spans, int, Spans]]:
        return {}

    def deferral(self, start: int, end: int) -> tuple[Spans, int, Spans]:
        """The runs that a span defers by regular instant, their number, and their new times."""
        if (start, end) not in self._deferrals:
            self._deferrals[start, end] = self._deferral(start, end)
        return self._deferrals[start, end]

    def _deferral(self, start: int, end: int) -> tuple[Spans, int, Spans]:
        held: Spans = []
        next_run = None
        for cycle in range(self.cycle_at(start) - 3, self.cycle_at(end) + 3):
            for one in [] if self.never_comes(cycle) else self.stretches(cycle):
                low, high = max(one.instant, start), min(one.end, end)
                if low >= high:
                    continue
                held.append((low, high))
                first = one.offset + low - one.instant
                behind = first + high - low
                earliest = self.earliest_next(cycle, first, behind)
                next_run = earliest if next_run is None else min(next_run, earliest)
        count = sum(high - low for low, high in held)
        targets = self.usable(end, next_run) if next_run is not None and next_run > end else []
        return held, count, targets

    def earliest_next(self, cycle: int, first: int, behind: int) -> int:
        """The earliest run in the next cycle of the IDs at these active ticks."""
        ticks, later = self.active(cycle), self.active(cycle + 1)
        if ticks != later and self.placement == "HASH":
            low = -(-first * TWO64 // ticks)
            high = -(-behind * TWO64 // ticks) - 1
            first, behind = low * later >> 64, (high * later >> 64) + 1
        elif ticks != later:
            low_u, high_u = smallest_fraction(first, ticks), smallest_fraction(behind, ticks)
            first = min(math.floor(low_u * later), later - 1)
            behind = min(math.floor(math.nextafter(high_u, 0) * later), later - 1) + 1
        instants = []
        for one in self.stretches(cycle + 1):
            low, high = max(one.offset, first), min(one.offset + one.ticks, behind)
            if low < high:
                instants.append(one.instant + low - one.offset)
        return min(instants)

    def fate(self, instant: int) -> int | None:
        """The start of a regular run after exclusions, or None if it is skipped."""
        if not self.exclusions:
            return instant
        skipped, deferred = self.forbidden_around(instant)
        if within(skipped, instant, instant + 1):
            return None
        for start, end in deferred:
            if start <= instant < end:
                held, count, targets = self.deferral(start, end)
                room = length(targets)
                if not room:
                    return None
                before = sum(min(max(instant - low, 0), high - low) for low, high in held)
                tick = before * room // count
                for low, high in targets:
                    if tick < high - low:
                        return low + tick
                    tick -= high - low
        return instant

    # --- runs

    def run(self, one: Id, cycle: int) -> Run | None:
        regular = self.regular(one, cycle)
        at = None if self.never_comes(cycle) else self.fate(regular)
        return None if at is None else Run(cycle, at, regular)

    def runs(self, one: Id, start: int, end: int) -> list[Run]:
        """The runs in [start, end)."""
        cycles = range(self.cycle_at(start) - 3, self.cycle_at(end) + 4)
        found = [self.run(one, cycle) for cycle in cycles]
        return [run for run in found if run is not None and start <= run.at < end]

    def skipped_count(self, one: Id, start: int, end: int) -> int:
        """The number of skipped runs whose regular time is in [start, end)."""
        cycles = range(self.cycle_at(start) - 3, self.cycle_at(end) + 4)
        unheard = [cycle for cycle in cycles if self.run(one, cycle) is None]
        return sum(1 for cycle in unheard if start <= self.regular(one, cycle) < end)

    def next_run(self, one: Id, at: int) -> Run | None:
        first = self.cycle_at(at)
        for cycle in range(first - 3, first + 64):
            run = self.run(one, cycle)
            if run is not None and run.at >= at:
                return run
        return None

    def last_run(self, one: Id, at: int) -> Run | None:
        first = self.cycle_at(at)
        for cycle in range(first + 3, first - 30, -1):
            run = self.run(one, cycle)
            if run is not None and run.at < at:
                return run
        return None


def smallest_fraction(offset: int, ticks: int) -> float:
    """The smallest double with at least this offset, by bisection over its bits."""
    low, high = 0, struct.unpack("<q", struct.pack("<d", 1.0))[0]
    while low < high:
        middle = (low + high) // 2
        fraction = struct.unpack("<d", struct.pack("<q", middle))[0]
        low, high = (low, middle) if math.floor(fraction * ticks) >= offset else (middle + 1, high)
    return struct.unpack("<d", struct.pack("<q", low))[0]


def hashes(salt: str, text: str) -> tuple[int, int]:
    """The hashes that place an ID and that smear it."""
    digest = hashlib.md5(salt.encode() + text.encode()).digest()
    return int.from_bytes(digest[:8], "big"), int.from_bytes(digest[8:], "big")
