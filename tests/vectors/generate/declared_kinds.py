"""Kinds as a schedule declares them, the slow way: the place of each, and the free times.

Places of kinds with conflicts are searched, and free times for late runs are found turn by turn.
Calendars are those of calendars.py, second by second; places in turns are milliseconds, as
everywhere.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from math import gcd

from calendars import Period, instant
from decisions import duration, run_id
from decisions_of_duties_by_calendar import Weighted as CalendarSpec
from decisions_of_reciprocals import search
from weighted_schedules import Weighted as ElapsedSpec

MINUTE = 60_000
BERLIN = ("DAY", "Europe/Berlin")


class Kinds:
    """The kinds of a schedule: names, run times in milliseconds, spacing and conflicts."""

    def __init__(self, names, run_times=None, spacing="EVEN", conflicts=(), span=None):
        self.names, self.run_times, self.spacing = names, run_times, spacing
        self.pairs = sorted(tuple(sorted(map(names.index, pair))) for pair in conflicts)
        self.given_span = span

    def stand(self, slots, slot_length, usable):
        """Their places on `slots` slots of `slot_length` milliseconds, and how they catch up, in
        cycles with `usable` milliseconds each."""
        count = len(self.names)
        if self.pairs:
            self.places = list(search(slots, count, self.pairs))
        elif self.run_times:
            needs = [max(1, -(-time // slot_length)) for time in self.run_times]
            slack = slots - sum(needs)
            self.places = [sum(needs[:kind]) + kind * slack // count for kind in range(count)]
        elif self.spacing == "STABLE":
            reverse = [int(format(kind, "010b")[::-1], 2) for kind in range(count)]
            self.places = [slots * value // 1_024 for value in reverse]
        else:
            self.places = [kind * slots // count for kind in range(count)]
        ways = [
            [(self.places[other] - place) % slots for other in self.others(kind)]
            for kind, place in enumerate(self.places)
        ]
        self.gaps = [min(way, default=slots) for way in ways]
        self.turns, self.span = self.cut(slots, usable)
        turn = min(usable) // self.turns
        half = turn * min(self.gaps) // slots // 2
        self.leads = self.run_times or [half] * count

    def others(self, kind):
        """The kinds that it must not meet."""
        others = [other for other in range(len(self.names)) if other != kind]
        if self.pairs:
            others = [one for one in others if tuple(sorted((one, kind))) in self.pairs]
        return others

    def cut(self, slots, usable):
        """Into how many turns a cycle is cut, and the span that says so."""
        longest = max(usable)
        ticks = gcd(*usable) // self.tick
        divisors = [one for one in range(1, min(ticks, 100_000) + 1) if ticks % one == 0]
        fewest = 2 * len(self.names)
        if self.given_span:
            wanted = -(-longest // self.given_span)
            assert wanted >= fewest
            return next(one for one in divisors if one >= wanted), self.given_span

        def holds(count):
            turn = min(usable) // count
            return all(
                turn * gap // slots >= time + 1
                for gap, time in zip(self.gaps, self.run_times)
            )

        turns = next(one for one in divisors if one >= max(8, fewest))
        if self.run_times and len(self.names) > 1 and not holds(turns):
            turns = max(one for one in divisors if one >= fewest and holds(one))
        return turns, longest // turns

    def lines(self):
        lines = [f"kind_spacing={self.spacing}"]
        for kind, name in enumerate(self.names):
            time = f" {duration(self.run_times[kind])}" if self.run_times else ""
            lines.append(f"kind={name}{time}")
        lines += [f"kind_conflict={self.names[a]} {self.names[b]}" for a, b in self.pairs]
        return [*lines, f"catch_up_span={duration(self.span)}"]

    def declared(self):
        """As in a request."""
        kinds = [{"name": name} for name in self.names]
        for kind, time in zip(kinds, self.run_times or ()):
            kind["runTime"] = duration(time)
        told = {"kinds": kinds}
        if self.spacing != "EVEN":
            told["kindSpacing"] = f"KIND_SPACING_{self.spacing}"
        if self.pairs:
            told["kindConflicts"] = [
                {"firstKind": self.names[a], "secondKind": self.names[b]} for a, b in self.pairs
            ]
        if self.given_span:
            told["catchUpSpan"] = duration(self.given_span)
        return told

    def resolved(self):
        """As in an answer."""
        spacing = f"KIND_SPACING_{self.spacing}"
        return {**self.declared(), "kindSpacing": spacing, "catchUpSpan": duration(self.span)}


def with_kinds(canonical_text, kinds):
    head, placement, rest = canonical_text.partition("\nplacement=")
    return "\n".join([head, *kinds.lines()]) + placement + rest


class Elapsed(ElapsedSpec):
    """Elapsed cycles, in milliseconds, with any placement."""

    def __init__(self, kinds, *arguments, **more):
        super().__init__(*arguments, **more)
        self.kinds, kinds.tick = kinds, self.tick
        kinds.stand(self.slots, self.slot, [self.period])
        self.canonical_text = with_kinds(self.canonical_text, kinds)
        self.fingerprint = hashlib.sha256(self.canonical_text.encode()).hexdigest()
        self.identity = {"fingerprint": self.fingerprint, "runKeyRoot": self.fingerprint}

    def json(self, **more):
        return super().json(**self.kinds.declared(), **more)

    def offset_of(self, kind, canonical, own=None):
        first = super().offset(canonical, own)
        return (first + self.kinds.places[kind] * self.slot) % self.period


class ByCalendar(CalendarSpec):
    """Cycles of calendars.py, whose keys here are (ID, kind)."""

    def __init__(self, kinds, *arguments, **more):
        super().__init__(*arguments, **more)
        self.kinds, kinds.tick = kinds, 1_000
        usable = [self.ticks(cycle) * 1_000 for cycle in range(48)]
        slot = min(usable) // self.slots
        kinds.stand(self.slots, slot, usable)
        self.canonical_text = with_kinds(self.canonical_text, kinds)
        self.fingerprint = hashlib.sha256(self.canonical_text.encode()).hexdigest()
        self.identity = self.identity_of(self.fingerprint)

    def spec(self):
        spec = super().spec()["spec"]
        return {"spec": {**spec, **self.kinds.declared()}}

    def tick_of(self, key, cycle):
        ident, kind = key
        ticks = self.ticks(cycle)
        first = super().tick_of((ident, 0), cycle)
        return (first + self.kinds.places[kind] * (ticks // self.slots)) % ticks

    def turn_places(self, ident, kind, cycle):
        """The places of a kind in the turns of a cycle, in milliseconds."""
        if self.never_comes(cycle):
            return
        turn = self.ticks(cycle) * 1_000 // self.kinds.turns
        share = (self.smear(ident, 0) * turn >> 64) + self.kinds.places[kind] * turn // self.slots
        for number in range(self.kinds.turns):
            tick, rest = divmod(number * turn + share % turn, 1_000)
            yield self.regular(cycle, tick) * 1_000 + rest

    def late_starts(self, ident, kind, at, until=None):
        """The free places from an instant on (in milliseconds), in the next two cycles."""
        cycle, whole = self.cycle_of(at // 1_000), self.axis.longest()
        until = until or at + 2 * whole * 1_000
        last = self.cycle_of(until // 1_000)
        places = {
            one: [
                place
                for number in range(cycle - 2, last + 3)
                for place in self.turn_places(ident, one, number)
            ]
            for one in [kind, *self.kinds.others(kind)]
        }
        runs = {
            other: [
                run * 1_000
                for _, _, run in self.runs_in(
                    (ident, other), at // 1_000 - 2 * whole, until // 1_000 + 3 * whole
                )
            ]
            for other in self.kinds.others(kind)
        }
        own, left = self.kinds.leads[kind], self.left_in_cut()

        def is_free(start):
            if self.held(start // 1_000) is not None:
                return False
            for other, regular in runs.items():
                lead = self.kinds.leads[other]
                near = max(lead, own)  # it may start late, and so after this one
                if any(start - near < run < start or start <= run < start + own for run in regular):
                    return False
                # Near a change of the clock, places of turns may be close together.
                before, behind = max(lead, left), max(own, left)
                if any(start - before < place < start + behind for place in places[other]):
                    return False
            return True

        # If the clock skips an hour, two turns may have the same place.
        return sorted({start for start in places[kind] if at <= start < until and is_free(start)})

    @lru_cache(None)
    def left_in_cut(self):
        """The time between two kinds in a turn that the worst change of the clocks shortens."""
        if isinstance(self.axis, Period) or self.axis.unit == "MONTH":
            return 0
        slot, cut = self.ticks(0) // self.slots, 0
        for kind, gap in enumerate(self.kinds.gaps):
            away, _ = self.budget(kind)
            cut = max(cut, gap * slot - away if away else 0)
        turn = self.ticks(0) * 1_000 // self.kinds.turns - cut * 1_000
        return max(0, turn * min(self.kinds.gaps) // self.slots - 1)

    def budget(self, kind):
        """The shortest time to the next kind, in seconds, and the cycle that a change makes short."""
        gap, best, worst = self.kinds.gaps[kind], None, None
        for cycle in self.changing_cycles():
            ticks = self.ticks(cycle)
            ahead = gap * (ticks // self.slots)
            edges = {*range(0, ticks, 900), *((tick - ahead) % ticks for tick in range(0, ticks, 900))}
            for tick in edges:
                over, later = divmod(tick + ahead, ticks)
                away = self.regular(cycle + over, later) - self.regular(cycle, tick)
                if best is None or away < best:
                    best, worst = away, cycle if self.is_changed(cycle) else cycle + 1
        return best, worst

    def is_changed(self, cycle):
        start, end = self.axis.start(cycle), self.axis.start(cycle + 1)
        return self.axis.instant_of(end) - self.axis.instant_of(start) != end - start

    def changing_cycles(self):
        """The cycles of 2020 to 2037 on whose days, or the next, the clock changes."""
        first, last = (self.cycle_of(instant(f"{year}-01-01T12:00:00Z")) for year in (2020, 2038))
        for cycle in range(first, last):
            if self.is_changed(cycle) or self.is_changed(cycle + 1):
                yield cycle


def run_of(spec, kind, cycle, canonical):
    """The fields of a run in an answer, except its times."""
    key = f"{spec.identity['fingerprint']}/{spec.kinds.names[kind]}/{cycle}/0/{canonical}"
    if spec.placement == "FRACTION":
        key = ""
    return {"cycleIndex": str(cycle), "runKey": key, "runId": run_id(key)}


def two(**more):
    return Kinds(["import", "export"], **more)


def three(**more):
    return Kinds(["import", "export", "a.b_c-1"], **more)
