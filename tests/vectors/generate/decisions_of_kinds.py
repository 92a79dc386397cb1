"""Prints golden answers about kinds: where each stands, and where its late runs start.

Run: python3 decisions_of_kinds.py > ../decisions/kinds.json
Places of kinds with conflicts are searched, runs are walked cycle by cycle, places of late runs
turn by turn. Calendars are those of calendars.py, second by second; places in turns are
milliseconds, as everywhere.
"""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta
from functools import lru_cache
from math import gcd

from calendars import DAY, UTC, Calendar, Period, Recurring, instant
from calendars import rfc3339 as at_seconds
from decisions import Spec, duration, print_cases, run_id
from decisions_in_sql import column, condition, hash_bounds, index_name, indexed
from decisions_of_duties import AT, at_millis, since_epoch
from decisions_of_duties import Weighted as ElapsedSpec
from decisions_of_duties_by_calendar import HOUR
from decisions_of_duties_by_calendar import Weighted as CalendarSpec
from decisions_of_reciprocals import search

MINUTE = 60_000
BERLIN = ("DAY", "Europe/Berlin")


class Kinds:
    """What a schedule declares: names, run times in milliseconds, spacing and conflicts."""

    def __init__(self, names, run_times=None, spacing="EVEN", conflicts=(), span=None):
        self.names, self.run_times, self.spacing = names, run_times, spacing
        self.pairs = sorted(tuple(sorted(map(names.index, pair))) for pair in conflicts)
        self.given_span = span

    def stand(self, slots, slot_length, usable):
        """Where they stand on so many slots of so many milliseconds, and how they catch up, in
        cycles of which each has `usable` milliseconds."""
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
        """As an answer tells it."""
        spacing = f"KIND_SPACING_{self.spacing}"
        return {**self.declared(), "kindSpacing": spacing, "catchUpSpan": duration(self.span)}


def with_kinds(canonical_text, kinds):
    head, placement, rest = canonical_text.partition("\nplacement=")
    return "\n".join([head, *kinds.lines()]) + placement + rest


class Elapsed(ElapsedSpec):
    """Elapsed cycles, in milliseconds, of whatever placement."""

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
                near = max(lead, own)  # it may start late, and so behind this one
                if any(start - near < run < start or start <= run < start + own for run in regular):
                    return False
                # Where the clock changes, places of turns may come near to one another.
                before, behind = max(lead, left), max(own, left)
                if any(start - before < place < start + behind for place in places[other]):
                    return False
            return True

        # Where the clock skips an hour, two turns may have one place.
        return sorted({start for start in places[kind] if at <= start < until and is_free(start)})

    @lru_cache(None)
    def left_in_cut(self):
        """What a turn leaves between two kinds that the worst change of the clocks cuts."""
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
    """What an answer tells of each run, but its times."""
    key = f"{spec.identity['fingerprint']}/{spec.kinds.names[kind]}/{cycle}/0/{canonical}"
    if spec.placement == "FRACTION":
        key = ""
    return {"cycleIndex": str(cycle), "runKey": key, "runId": run_id(key)}


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


def two(**more):
    return Kinds(["import", "export"], **more)


def three(**more):
    return Kinds(["import", "export", "a.b_c-1"], **more)


def elapsed_schedules():
    """Of every spacing and placement; some with slots that kinds do not divide."""
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
    """Of a schedule without skipped runs, at an instant in an active window."""
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


def calendar_case(spec, kind, ident, at, count=2, created=None):
    at = instant(at)
    key = (ident, kind)
    last, nexts = spec.runs_around(key, at, count)
    canonical = spec.canonical(ident)

    def run(cycle, _, start):
        return {"startTime": at_seconds(start), **run_of(spec, kind, cycle, canonical)}

    cycle = nexts[0][0]
    tick = spec.tick_of(key, cycle)
    slot, rest = divmod(tick, spec.ticks(cycle) // spec.slots)
    request = {
        "schedule": spec.spec(),
        "id": {"fraction": ident} if isinstance(ident, float) else {"text": ident},
        "kind": spec.kinds.names[kind],
        "fromTime": at_seconds(at),
        "nextRunCount": count,
    }
    rule = {"fraction": ident} if isinstance(ident, float) else {"hash": spec.digest(ident)[:16]}
    piece = {
        "slotIndex": slot,
        "slotOffset": f"{rest}s",
        "cycleOffset": f"{spec.walls(cycle)[tick]}s",
        "lastRun": run(*last),
        "nextRuns": [run(*one) for one in nexts],
    }
    if created is not None:
        request["newId"] = {
            "createTime": at_millis(created),
            "policy": "FIRST_RUN_POLICY_NOW_SMEARED",
        }
        piece["firstRun"] = first_run(spec, kind, ident, created, run)
    response = {
        "identity": spec.identity,
        "pieces": [piece],
        "explanation": {"canonicalId": canonical, **rule},
    }
    return {"method": "AssignSlot", "request": request, "response": response}


def first_run(spec, kind, ident, created, run):
    """In the first free turn, if that is before the next run and the own time has passed."""
    key, second = (ident, kind), -(-created // 1_000)
    following = spec.runs_in(key, second, second + 3 * spec.axis.longest() + DAY)[0]
    cycle = spec.cycle_of(created // 1_000)
    starts = spec.late_starts(ident, kind, created, following[2] * 1_000)
    if following[0] > cycle and starts:
        regular, at = spec.run(key, cycle)
        first = {**run(cycle, 0, 0), "startTime": at_millis(starts[0])}
        if at is not None:
            first["nominalTime"] = at_seconds(at)
        return first
    return run(*following)


def due_case(spec, kind, start, now, policy=None, texts=None, tolerance=None, **spans):
    """Times in milliseconds; `horizon`, `gap`, `ahead` and `skew` too."""
    texts = texts or [f"user-{number}" for number in range(8)]
    longest = min(spec.kinds.gaps) * (spec.ticks(1) // spec.slots) * 1_000
    used = min(60 * 1_000, longest) if tolerance is None else tolerance
    horizon = spans.get("horizon", spec.axis.longest() * 1_000)
    end, gap = now + spans.get("ahead", 0), spans.get("gap", 0)
    rows, nexts = [], []
    late_count = dropped = superseded = skipped = 0
    for index, text in enumerate(texts):
        key = (text, kind)
        first, last = -(-start // 1_000), -(-end // 1_000)
        runs = [(cycle, at * 1_000) for cycle, _, at in spec.runs_in(key, first, last)]
        skipped += spec.skipped_in(key, first, last)
        following = spec.next_in(key, -(-max(start, end) // 1_000))
        nexts += [following[2]] if following else []
        on_time = [run for run in runs if now - run[1] <= used]
        missed = [run for run in runs if now - run[1] > used]
        late = [run for run in missed if now - run[1] <= horizon]
        ran = any(run[1] < now for run in on_time)
        if policy == "DROP" or (policy != "RUN_ALL" and ran):
            late = []
        elif policy != "RUN_ALL":
            late = late[-1:]
        starts = spec.late_starts(text, kind, now) if late else []
        dropped += len(missed) - len(late)
        if policy != "RUN_ALL" and late and starts:
            own = spec.next_in(key, -(-now // 1_000))
            if own and starts[0] >= own[2] * 1_000 - gap:
                superseded, late = superseded + 1, []
        dropped += max(0, len(late) - len(starts))
        late = late[: len(starts)]
        rows += [(index, 0, *run, at) for run, at in zip(late, starts)]
        rows += [(index, 0, cycle, at, at) for cycle, at in on_time]
        late_count += len(late)
    columns = list(zip(*rows)) or [()] * 5
    names = ["idIndexes", "pieceIndexes", "cycleIndexes", "scheduledUnixMillis", "startUnixMillis"]
    name = spec.kinds.names[kind]
    runs = {"runKeyPrefix": f"{spec.identity['fingerprint']}/{name}"}
    for field, cells in zip(names, columns):
        runs[field] = [cell if field[0] in "ip" else str(cell) for cell in cells]
    request = {
        "schedule": spec.spec(),
        "ids": {"texts": texts},
        "kind": name,
        "watermarkTime": at_millis(start),
        "nowTime": at_millis(now),
    }
    catch_up = {"missedRunPolicy": f"MISSED_RUN_POLICY_{policy}"} if policy else {}
    if tolerance is not None or policy == "DROP":  # which has no default
        catch_up["onTimeTolerance"] = duration(used)
    for part, span, field in [
        (catch_up, "horizon", "horizon"),
        (catch_up, "gap", "minGap"),
        (request, "ahead", "lookAhead"),
        (request, "skew", "maxClockSkew"),
    ]:
        if span in spans:
            part[field] = duration(spans[span])
    if catch_up:
        request["catchUpPolicy"] = catch_up
    return {
        "method": "ListDueRuns",
        "request": request,
        "response": {
            "identity": spec.identity,
            "runs": runs,
            "nextWatermarkTime": at_millis(max(start, end)),
            "lateRunCount": str(late_count),
            "droppedRunCount": str(dropped),
            "supersededRunCount": str(superseded),
            "skippedRunCount": str(skipped),
            **({"nextDueTime": at_seconds(min(nexts))} if nexts else {}),
        },
    }


def late_schedules():
    """Each with an instant at which an outage ends."""
    hours = Period(8 * HOUR)
    night = [(HOUR, 5 * HOUR)]
    lunch = Recurring(*BERLIN, 12 * HOUR, 13 * HOUR, "SKIP")
    weekend = Recurring("WEEK", "Europe/Berlin", 5 * DAY, 7 * DAY, "SKIP")
    shifts = [(0, HOUR), (2 * HOUR, 4 * HOUR)]
    times = [20 * MINUTE, 45 * MINUTE, 5 * MINUTE, 0]
    four = Kinds(["a", "b", "c", "d"], run_times=times)
    yield ByCalendar(two(), hours, 128), "2026-01-01T03:04:05.006Z"
    yield ByCalendar(three(), hours, 96, salt="v2"), "2026-01-01T03:04:05Z"
    yield ByCalendar(four, Period(DAY), 96), "2026-01-01T13:04:05Z"
    pairs = [("import", "export")]
    yield ByCalendar(three(conflicts=pairs), Period(DAY), 96), "2026-01-01T13:04:05Z"
    yield ByCalendar(three(spacing="STABLE"), Period(DAY), 96), "2026-01-01T13:04:05Z"
    yield ByCalendar(two(span=HOUR * 1_000), Period(DAY), 24), "2026-01-01T13:04:05Z"
    yield ByCalendar(two(), hours, 3, windows=shifts), "2026-01-01T03:04:05Z"
    yield ByCalendar(two(), Calendar(*BERLIN), 24), "2026-06-01T13:04:05Z"
    yield ByCalendar(two(), Calendar(*BERLIN), 24), "2026-03-29T00:10:00Z"
    yield ByCalendar(three(), Calendar(*BERLIN), 24), "2026-10-25T00:10:00Z"
    yield ByCalendar(two(), Calendar("DAY", "Australia/Lord_Howe"), 24), "2024-10-05T15:20:00Z"
    yield ByCalendar(two(), Calendar(*BERLIN), 16, windows=night), "2026-06-01T01:04:05Z"
    yield ByCalendar(two(), Calendar(*BERLIN), 16, windows=night), "2026-03-29T00:10:00Z"
    yield ByCalendar(two(), Calendar(*BERLIN), 24, exclusions=[lunch]), "2026-06-01T09:50:00Z"
    yield ByCalendar(three(), Calendar(*BERLIN), 24, exclusions=[weekend]), "2026-06-05T21:50:00Z"
    yield ByCalendar(two(), hours, 96, exclusions=[lunch]), "2026-06-01T09:50:00Z"
    yield ByCalendar(two(), Calendar("WEEK", "America/New_York"), 28), "2025-11-02T05:30:00Z"
    yield ByCalendar(two(), Calendar("DAY", "Pacific/Apia"), 24), "2011-12-31T03:00:00Z"


def late_cases():
    for spec, at in late_schedules():
        now = round(datetime.fromisoformat(at.replace("Z", "+00:00")).timestamp() * 1_000)
        whole = spec.axis.longest() * 1_000
        for kind in range(len(spec.kinds.names)):
            for policy in ["DROP", "RUN_ONCE", "RUN_ALL"]:
                yield due_case(spec, kind, now - whole * 7 // 10, now, policy)
            yield due_case(spec, kind, now - 4 * whole, now, "RUN_ALL", horizon=3 * whole)
            yield due_case(spec, kind, now - whole, now, gap=whole // 6)
        yield due_case(spec, 0, now - whole // 2, now, tolerance=1_000, ahead=whole // 3)
        yield due_case(spec, 1, now + 7, now, ahead=5, skew=2)
        seconds = -(-now // 1_000)
        texts = [f"new-{number}" for number in range(8)]
        texts = [text for text in texts if all(spec.next_in((text, i), seconds) for i in range(2))]
        for text in texts[:3]:
            for kind in range(2):
                yield calendar_case(
                    spec, kind, text, at_seconds(seconds), 1 + kind, created=now - whole // 5
                )
    yield from short_turns()
    stored = ByCalendar(two(), Calendar(*BERLIN), 24, placement="FRACTION")
    month = ByCalendar(two(), Calendar("MONTH", "Europe/Berlin"), 4)
    for kind in range(2):
        yield calendar_case(stored, kind, 0.25, "2026-03-28T12:00:00Z")
        for text in ["acme", "user-1", "user-2"]:
            yield calendar_case(month, kind, text, "2026-02-14T00:00:00Z", 3)
        now = since_epoch(datetime(2026, 2, 14, tzinfo=UTC).replace(tzinfo=AT.tzinfo))
        for policy in ["RUN_ONCE", "RUN_ALL"]:
            yield due_case(month, kind, now - 40 * DAY * 1_000, now, policy, tolerance=60_000)


def short_turns():
    """Turns that are shorter than what the clock skips: places of kinds come upon one another."""
    for zone, at in [
        ("Europe/Berlin", "2026-03-29T00:30:00Z"),
        ("Europe/Berlin", "2026-10-25T00:30:00Z"),
        ("Australia/Lord_Howe", "2024-10-05T14:50:00Z"),
    ]:
        now = instant(at) * 1_000
        for kinds in [two(span=1_500_000), three(span=1_700_000)]:
            spec = ByCalendar(kinds, Calendar("DAY", zone), 24)
            for kind in range(2):
                spans = {"horizon": 9 * DAY * 1_000, "tolerance": 0}
                yield due_case(spec, kind, now - 8 * DAY * 1_000, now, "RUN_ALL", **spans)


def budget_cases():
    """The worst change of the clocks shortens what a kind may take."""
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


def predicate_cases():
    """A kind's IDs in a window are those of kind 0 so much earlier."""
    expression = "`hash`"
    name = index_name("hash", "account", expression)
    index = indexed(name, f"CREATE INDEX IF NOT EXISTS `{name}` ON `account` ({expression})")
    hashed = column("SQLITE", "HASH_DIGITS", column="hash")
    midnight = datetime(2026, 1, 1, tzinfo=AT.tzinfo)
    for kinds in [two(), three(), three(spacing="STABLE")]:
        spec = Elapsed(kinds, DAY * 1_000, 24)
        plain = Spec(DAY * 1_000, 24)
        for kind, kind_name in enumerate(kinds.names):
            ahead = kinds.places[kind] * spec.slot // 1_000
            for start, length in [(100, 60), (DAY - 30, 60), (ahead, 3_600), (ahead - 60, 120)]:
                ranges = []
                for low, high in split(start % DAY, start % DAY + length):
                    ranges += sorted(split((low - ahead) % DAY, (low - ahead) % DAY + high - low))
                if len(ranges) == 2 and ranges[0][1] == ranges[1][0]:
                    ranges = [(ranges[0][0], ranges[1][1])]
                parts = [
                    condition(expression, hash_bounds(plain, *one), lambda bound: f"'{bound}'")
                    for one in ranges
                ]
                sql = parts[0] if len(parts) == 1 else " OR ".join(f"({part})" for part in parts)
                yield {
                    "method": "GetWindowPredicate",
                    "request": {
                        "schedule": spec.json(),
                        "startTime": at_millis(since_epoch(midnight) + start * 1_000),
                        "endTime": at_millis(since_epoch(midnight) + (start + length) * 1_000),
                        "sqlTarget": hashed,
                        "kind": kind_name,
                    },
                    "response": {
                        "identity": spec.identity,
                        "predicate": {"sql": f"({sql})"},
                        "sqlIndex": index,
                    },
                }
            yield slots_case(spec, plain, kind, hashed, expression, index)


def split(low, high):
    """A span of seconds, cut at the end of the day."""
    return [(low, high)] if high <= DAY else [(low, DAY), (0, high - DAY)]


def slots_case(spec, plain, kind, hashed, expression, index):
    """All slots of a cycle, each with whose rows are those of the kind."""
    slots = []
    first = (AT - spec.anchor) // timedelta(milliseconds=spec.slot)
    for number in range(first, first + spec.slots):
        own = (number - spec.kinds.places[kind]) % spec.slots
        edges = (own * spec.slot // 1_000, (own + 1) * spec.slot // 1_000)
        text = condition(expression, hash_bounds(plain, *edges), lambda bound: f"'{bound}'")
        slots.append(
            {
                "slotIndex": number % spec.slots,
                "cycleIndex": str(number // spec.slots),
                "startTime": at_millis(number * spec.slot),
                "endTime": at_millis((number + 1) * spec.slot),
                "predicate": {"sql": f"({text})"},
            }
        )
    return {
        "method": "ListSlots",
        "request": {
            "schedule": spec.json(),
            "startTime": at_millis(first * spec.slot),
            "sqlTarget": hashed,
            "kind": spec.kinds.names[kind],
        },
        "response": {"identity": spec.identity, "slots": slots, "sqlIndex": index},
    }


def refusal(name, method, request, reason, field, **more):
    return {"name": name, "method": method, "request": request, "reason": reason, "field": field, **more}


def refusals():
    names = [{"name": "import"}, {"name": "export"}]
    plain = {"period": "28800s", "slotCount": 128}
    spec = {**plain, "kinds": names}

    def described(name, reason, field, spec, **more):
        request = {"schedule": {"spec": spec}}
        return refusal(name, "DescribeSchedule", request, reason, f"schedule.spec.{field}", **more)

    def of(name, method, field, reason, more, **words):
        request = {"schedule": {"spec": spec}, **more}
        return refusal(name, method, request, reason, field, **words)

    known = ["import", "export"]
    ids, at = {"texts": ["a"]}, {"nowTime": "2026-01-01T03:00:00Z", "kind": "import"}
    due = {"ids": ids, "watermarkTime": "2026-01-01T00:00:00Z", **at}
    window = {
        "startTime": "2026-01-01T00:00:00Z",
        "endTime": "2026-01-01T00:01:00Z",
        "sqlTarget": column("SQLITE", "HASH_DIGITS", column="hash"),
    }
    listed = {"startTime": "2026-01-01T00:00:00Z", "sqlTarget": window["sqlTarget"]}
    for method, more in [
        ("AssignSlot", {"id": {"text": "a"}}),
        ("AssignSlots", {"ids": ids}),
        ("ListDueRuns", {**due, "kind": ""}),
        ("GetWindowPredicate", window),
        ("ListSlots", listed),
    ]:
        more = {key: value for key, value in more.items() if key != "kind"}
        yield of(f"{method} of no kind", method, "kind", "FIELD_MISSING", more, allowed=known)
        more = {**more, "kind": "imports"}
        unknown = ("kind", "OUT_OF_RANGE")
        yield of(
            f"{method} of another kind", method, *unknown, more, value='"imports"', allowed=known
        )
    contradictory = "CONTRADICTORY"
    yield described(
        "weights with two kinds", contradictory, "weight_quantum", {**spec, "weightQuantum": "10"},
        value="10",
    )  # fmt: skip
    deferred = {
        "dated": {"startTime": "2026-01-01T00:00:00Z", "endTime": "2026-01-02T00:00:00Z"},
        "policy": "EXCLUSION_POLICY_DEFER",
    }
    skipped = {**deferred, "policy": "EXCLUSION_POLICY_SKIP"}
    yield described(
        "deferring with two kinds", contradictory, "exclusions[1].policy",
        {**spec, "exclusions": [skipped, deferred]}, allowed=["SKIP", "active_windows"],
    )  # fmt: skip
    yield described("a kind twice", contradictory, "kinds[1].name", {**plain, "kinds": names[:1] * 2})
    yield described("a kind without a name", "OUT_OF_RANGE", "kinds[1].name", {**plain, "kinds": [names[0], {}]})
    yield described("a slash in a kind", "OUT_OF_RANGE", "kinds[0].name", {**plain, "kinds": [{"name": "a/b"}]})
    long = {"name": "x" * 65}
    yield described("a kind's name too long", "OUT_OF_RANGE", "kinds[0].name", {**plain, "kinds": [long]}, allowed=["64"])
    some = [{"name": "import", "runTime": "60s"}, {"name": "export"}]
    yield described("a run time for some", contradictory, "kinds[1].run_time", {**plain, "kinds": some})
    both = [{"name": "import", "runTime": "60s"}, {"name": "export", "runTime": "60s"}]
    stable = {"kindSpacing": "KIND_SPACING_STABLE"}
    yield described("run times with STABLE", contradictory, "kind_spacing", {**plain, "kinds": both, **stable})
    pairs = {"kindConflicts": [{"firstKind": "import", "secondKind": "export"}]}
    yield described("run times with conflicts", contradictory, "kind_conflicts", {**plain, "kinds": both, **pairs})
    yield described("STABLE with conflicts", contradictory, "kind_conflicts", {**spec, **pairs, **stable})
    yield described("a spacing of no kinds", contradictory, "kind_spacing", {**plain, **stable})
    yield described("conflicts of no kinds", contradictory, "kind_conflicts", {**plain, **pairs})
    yield described("a catch-up of no kinds", contradictory, "catch_up_span", {**plain, "catchUpSpan": "60s"}, value="60s")
    stranger = {"kindConflicts": [{"firstKind": "import", "secondKind": "exports"}]}
    yield described(
        "a conflict with a stranger", "OUT_OF_RANGE", "kind_conflicts[0].second_kind",
        {**spec, **stranger}, value='"exports"',
    )  # fmt: skip
    yield described("a conflict twice", contradictory, "kind_conflicts", {**spec, "kindConflicts": pairs["kindConflicts"] * 2})
    full = {"period": "8s", "kinds": [{"name": f"k{number}"} for number in range(9)]}
    yield described("more kinds than slots", "KINDS_DO_NOT_FIT", "kinds", full)
    hours = [{"name": "import", "runTime": "14400s"}, {"name": "export", "runTime": "14401s"}]
    yield described("run times above the cycle", "KINDS_DO_NOT_FIT", "kinds", {**plain, "kinds": hours})
    # Kinds an hour apart meet where the clock skips an hour.
    berlin = {"unit": "CALENDAR_UNIT_DAY", "timeZone": "Europe/Berlin"}
    hourly = [{"name": f"k{number}"} for number in range(24)]
    yield described(
        "kinds that a change of the clocks lets meet", "KINDS_DO_NOT_FIT", "kinds[0]",
        {"calendar": berlin, "slotCount": 24, "kinds": hourly}, allowed=["2020", "2037", "-03-2"],
    )  # fmt: skip
    longest = "7200s"  # the 2k-th part
    yield described(
        "a catch-up span too long", "OUT_OF_RANGE", "catch_up_span", {**spec, "catchUpSpan": "7200.001s"},
        value="7200.001s", allowed=[longest],
    )  # fmt: skip
    yield described("no catch-up span", "OUT_OF_RANGE", "catch_up_span", {**spec, "catchUpSpan": "0s"})
    times = [{"name": "import", "runTime": "1800s"}, {"name": "export", "runTime": "60s"}]
    short = {**plain, "kinds": times, "catchUpSpan": "1800s"}
    yield described("a catch-up span too short for run times", "OUT_OF_RANGE", "catch_up_span", short, value="1800s")
    yield of(
        "a smear of due runs of kinds", "ListDueRuns", "catch_up_policy.smear_span", contradictory,
        {**due, "catchUpPolicy": {"smearSpan": "60s"}}, value="60s", allowed=["catch_up_span"],
    )  # fmt: skip
    new_id = {"createTime": "2026-01-01T00:00:00Z", "policy": "FIRST_RUN_POLICY_NOW_SMEARED", "smearSpan": "60s"}
    asked = {"id": {"text": "a"}, "kind": "import", "fromTime": "2026-01-01T00:00:00Z", "newId": new_id}
    yield of("a smear of a new ID of kinds", "AssignSlot", "new_id.smear_span", contradictory, asked, value="60s")
    yield of(
        "a tolerance above the run budget", "ListDueRuns", "catch_up_policy.on_time_tolerance",
        "OUT_OF_RANGE", {**due, "catchUpPolicy": {"onTimeTolerance": "14401s"}}, value="14401s",
        allowed=["14400s"],
    )  # fmt: skip
    policy = {"catchUpPolicy": {"onTimeTolerance": "14341s"}}
    timed = {"schedule": {"spec": {**plain, "kinds": both}}, **due, **policy}
    yield refusal(
        "a tolerance above what run times leave", "ListDueRuns", timed, "OUT_OF_RANGE",
        "catch_up_policy.on_time_tolerance", value="14341s", allowed=["0s to "],
    )  # fmt: skip


def cases():
    yield from elapsed_cases()
    yield from late_cases()
    yield from budget_cases()
    yield from predicate_cases()
    yield from refusals()


if __name__ == "__main__":
    print_cases(list(cases()))
