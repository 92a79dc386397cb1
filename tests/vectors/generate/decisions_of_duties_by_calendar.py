"""Prints golden answers about weights, new IDs, due runs and migrations of schedules with
calendars, active windows and exclusions: duties as in decisions_of_duties.py, over the cycles of
calendars.py.

Run: python3 decisions_of_duties_by_calendar.py > ../decisions/duties_by_calendar.json
"""

from __future__ import annotations

import hashlib
import struct
from fractions import Fraction

from calendars import DAY, Calendar, Dated, Period, Recurring, Schedule, instant, rfc3339
from decisions import print_cases, run_id

HOUR = 3_600


def reversed_bits(piece):
    return int(format(piece, "064b")[::-1], 2)


def at_millis(millis):
    seconds, rest = divmod(millis, 1_000)
    text = rfc3339(seconds)
    return text if rest == 0 else f"{text[:-1]}.{rest:03}Z"


def duration(millis):
    seconds, rest = divmod(millis, 1_000)
    return f"{seconds}s" if rest == 0 else f"{seconds}.{rest:03}s"


class Weighted(Schedule):
    """IDs are texts, or fractions; their keys are (ID, piece)."""

    def __init__(self, *arguments, quantum=None, **more):
        super().__init__(*arguments, **more)
        self.quantum = quantum
        if quantum is not None:
            head, salt, rest = self.canonical_text.partition("\nsalt=")
            self.canonical_text = f"{head}\nweight_quantum={quantum}{salt}{rest}"
            fingerprint = hashlib.sha256(self.canonical_text.encode()).hexdigest()
            self.identity = self.identity_of(fingerprint)

    def spec(self):
        spec = super().spec()
        if self.quantum is not None:
            spec["spec"]["weightQuantum"] = str(self.quantum)
        return spec

    def canonical(self, ident):
        return struct.pack(">d", ident).hex() if isinstance(ident, float) else ident

    def digest(self, ident):
        return hashlib.md5((self.salt + self.canonical(ident)).encode()).hexdigest()

    def _walls(self, cycle):
        if self.windows:
            return super()._walls(cycle)
        return range(self.axis.start(cycle + 1) - self.axis.start(cycle))

    def tick_of(self, key, cycle):
        ident, piece = key
        ticks = self.ticks(cycle)
        if self.placement == "FRACTION":
            own = super().tick_of(ident, cycle)
            return (own + (reversed_bits(piece) * ticks >> 64)) % ticks
        h = (int(self.digest(ident)[:16], 16) + reversed_bits(piece)) % 2**64
        return super().tick_of(h, cycle)

    def smear(self, ident, piece):
        return (int(self.digest(ident)[16:], 16) + reversed_bits(piece)) % 2**64

    def pieces(self, weight):
        return max(1, min(self.slots, -(-weight // self.quantum)))

    def cycle_of(self, seconds):
        return self.axis.number(self.axis.wall(seconds))

    def runs_in(self, key, start, end):
        """(Cycle, regular time, time) of the runs in [start, end) seconds, cycle by cycle."""
        cycles = range(self.cycle_of(start) - 4, self.cycle_of(end) + 4)
        runs = [(cycle, *self.run(key, cycle)) for cycle in cycles]
        return [run for run in runs if run[2] is not None and start <= run[2] < end]

    def skipped_in(self, key, start, end):
        """How many runs of [start, end) seconds are skipped."""
        cycles = range(self.cycle_of(start) - 4, self.cycle_of(end) + 4)
        runs = [self.run(key, cycle) for cycle in cycles]
        return sum(1 for regular, at in runs if at is None and start <= regular < end)

    def next_in(self, key, start):
        """(Cycle, regular time, time) of the first run from an instant on, in the next 64 cycles."""
        first = self.cycle_of(start)
        for cycle in range(first - 4, first + 64):
            regular, at = self.run(key, cycle)
            if at is not None and at >= start:
                return cycle, regular, at
        return None

    def starts_after(self, at, share, span):
        """The start of a run that is smeared by a share of a span (in milliseconds) from an instant
        in seconds on; None if nothing may start in the next 64 cycles."""
        if not self.windows and not self.exclusions:
            return at * 1_000 + int(share * span)
        usable, last = [], at + 64 * self.axis.longest()
        for second in range(at, last):
            if self.is_usable(second):
                usable.append(second)
                if len(usable) > span // 1_000:
                    break
        if not usable:
            return None
        span = min(span, len(usable) * 1_000)
        return usable[int(share * span) // 1_000] * 1_000


def run_json(spec, run, ident, piece):
    cycle, regular, start = run
    key = f"{spec.identity['fingerprint']}/default/{cycle}/{piece}/{spec.canonical(ident)}"
    deferred = {"nominalTime": rfc3339(regular)} if regular != start else {}
    return {
        "startTime": rfc3339(start),
        "cycleIndex": str(cycle),
        "runKey": "" if isinstance(ident, float) else key,
        "runId": run_id("" if isinstance(ident, float) else key),
        **deferred,
    }


def first_run(spec, ident, piece, created, span):
    key = (ident, piece)
    following = spec.runs_in(key, created, created + 3 * spec.axis.longest() + DAY)[0]
    cycle = spec.cycle_of(created)
    if span is not None and following[0] > cycle:
        start = spec.starts_after(created, Fraction(spec.smear(ident, piece), 2**64), span)
        if start is not None and start < following[2] * 1_000:
            regular, ran = spec.run(key, cycle)
            first = run_json(spec, (cycle, 0, 0), ident, piece)
            first["startTime"] = at_millis(start)
            first.pop("nominalTime", None)
            if ran is not None:
                first["nominalTime"] = rfc3339(ran)
            return first
    return run_json(spec, following, ident, piece)


def assign_case(spec, ident, at, weight=None, count=1, new_id=None):
    at = instant(at)
    request = {
        "schedule": spec.spec(),
        "id": {"fraction": ident} if isinstance(ident, float) else {"text": ident},
        "fromTime": rfc3339(at),
        "nextRunCount": count,
    }
    if weight is not None:
        request["weight"] = str(weight)
    if new_id is not None:
        created, span = instant(new_id[0]), new_id[1]
        request["newId"] = {"createTime": rfc3339(created)}
        if span is not None:
            policy = {"policy": "FIRST_RUN_POLICY_NOW_SMEARED", "smearSpan": duration(span)}
            request["newId"] |= policy
    pieces = []
    for piece in range(1 if weight is None else spec.pieces(weight)):
        key = (ident, piece)
        last, nexts = spec.runs_around(key, at, count)
        cycle = nexts[0][0]
        tick = spec.tick_of(key, cycle)
        slot, offset = divmod(tick, spec.ticks(cycle) // spec.slots)
        answer = {
            "pieceIndex": piece,
            "slotIndex": slot,
            "slotOffset": f"{offset}s",
            "cycleOffset": f"{spec.walls(cycle)[tick]}s",
            "lastRun": run_json(spec, last, ident, piece),
            "nextRuns": [run_json(spec, run, ident, piece) for run in nexts],
        }
        if new_id is not None:
            answer["firstRun"] = first_run(spec, ident, piece, created, new_id[1])
        pieces.append(answer)
    rule = {"fraction": ident} if isinstance(ident, float) else {"hash": spec.digest(ident)[:16]}
    response = {
        "identity": spec.identity,
        "pieces": pieces,
        "explanation": {"canonicalId": spec.canonical(ident), **rule},
    }
    return {"method": "AssignSlot", "request": request, "response": response}


BERLIN = ("DAY", "Europe/Berlin")
NIGHT = [(HOUR, 5 * HOUR)]
EVENING = Recurring(*BERLIN, 22 * HOUR, 23 * HOUR)


def schedules():
    """Schedules, each with an instant near which something happens."""
    yield Weighted(Calendar(*BERLIN), 24, quantum=10), "2026-03-28T12:00:00Z"
    yield Weighted(Calendar(*BERLIN), 16, windows=NIGHT, quantum=10), "2026-10-24T20:00:00Z"
    yield Weighted(Calendar(*BERLIN), 24, exclusions=[EVENING], quantum=10), "2026-06-01T21:20:00Z"
    skips = [Recurring(*BERLIN, 3 * HOUR, 4 * HOUR, "SKIP"), EVENING]
    yield Weighted(Calendar(*BERLIN), 24, exclusions=skips, quantum=10), "2026-03-28T21:00:00Z"
    dated = [Dated("2026-01-01T05:00:00Z", "2026-01-01T09:00:00Z")]
    shifts = Weighted(
        Period(8 * HOUR), 3, windows=[(0, HOUR), (2 * HOUR, 4 * HOUR)], exclusions=dated, quantum=10
    )
    yield shifts, "2026-01-01T06:30:00Z"
    stored = Weighted(
        Calendar("DAY", "America/New_York"), 16, windows=NIGHT, placement="FRACTION", quantum=10
    )
    yield stored, "2025-11-02T03:00:00Z"


def runs_at_all(spec, ident):
    """Whether no piece is placed where exclusions skip every day."""
    runs = [spec.run((ident, piece), cycle)[1] for piece in range(4) for cycle in [20_000, 20_001]]
    return isinstance(spec.axis, Period) or None not in runs


def assign_cases():
    for spec, at in schedules():
        texts = [f"user-{number}" for number in range(40)]
        idents = [0.25, 0.875] if spec.placement == "FRACTION" else texts
        for ident in [ident for ident in idents if runs_at_all(spec, ident)][:3]:
            yield assign_case(spec, ident, at, weight=35, count=2)
            for span in [None, HOUR * 1_000, 3 * HOUR * 1_000 + 1]:
                yield assign_case(spec, ident, at, new_id=(at, span))
    month = Weighted(Calendar("MONTH", "Europe/Berlin"), 4, quantum=10)
    yield assign_case(month, "acme", "2026-02-14T00:00:00Z", weight=40, count=2)


def due_case(spec, texts, start, now, policy, tolerance=60, horizon=2 * DAY, smear=0, gap=0):
    start, now = instant(start), instant(now)
    rows, late_count, dropped, superseded, skipped, nexts = [], 0, 0, 0, 0, []
    for index, text in enumerate(texts):
        key = (text, 0)
        runs = spec.runs_in(key, start, now)
        skipped += spec.skipped_in(key, start, now)
        following = spec.next_in(key, now)
        nexts += [following[2]] if following else []
        on_time = [run for run in runs if now - run[2] <= tolerance]
        missed = [run for run in runs if now - run[2] > tolerance]
        late = [run for run in missed if now - run[2] <= horizon]
        if policy == "DROP" or (policy == "RUN_ONCE" and on_time):
            late = []
        elif policy == "RUN_ONCE":
            late = late[-1:]
        u = Fraction(spec.smear(text, 0), 2**64)
        starts = [spec.starts_after(now, (j + u) / len(late), smear) for j in range(len(late))]
        if None in starts:
            late = []
        dropped += len(missed) - len(late)
        if policy == "RUN_ONCE" and late and following:
            if starts[0] >= (following[2] - gap) * 1_000:
                superseded, late = superseded + 1, []
        for (cycle, _, run), at in zip(late, starts):
            rows.append((index, 0, cycle, run * 1_000, at))
        rows += [(index, 0, cycle, run * 1_000, run * 1_000) for cycle, _, run in on_time]
        late_count += len(late)
    columns = list(zip(*rows)) or [()] * 5
    names = ["idIndexes", "pieceIndexes", "cycleIndexes", "scheduledUnixMillis", "startUnixMillis"]
    runs = {"runKeyPrefix": f"{spec.identity['fingerprint']}/default"}
    for name, column in zip(names, columns):
        runs[name] = [cell if name[0] in "ip" else str(cell) for cell in column]
    return {
        "method": "ListDueRuns",
        "request": {
            "schedule": spec.spec(),
            "ids": {"texts": texts},
            "watermarkTime": rfc3339(start),
            "nowTime": rfc3339(now),
            "catchUpPolicy": {
                "missedRunPolicy": f"MISSED_RUN_POLICY_{policy}",
                "onTimeTolerance": f"{tolerance}s",
                "horizon": f"{horizon}s",
                "smearSpan": duration(smear),
                **({"minGap": f"{gap}s"} if gap else {}),
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
            **({"nextDueTime": rfc3339(min(nexts))} if nexts else {}),
        },
    }


def due_cases():
    texts = [f"user-{number}" for number in range(8)]
    for spec, at in schedules():
        if spec.placement == "FRACTION":
            continue
        now = instant(at)
        for policy in ["DROP", "RUN_ONCE", "RUN_ALL"]:
            yield due_case(spec, texts, rfc3339(now - 30 * HOUR), at, policy, smear=HOUR * 1_000)
        # Up to an instant at which nothing may start, and up to one at which runs may start.
        yield due_case(spec, texts, rfc3339(now - 3 * DAY), at, "RUN_ALL", tolerance=7_200)
        later = rfc3339(now + 5 * HOUR)
        yield due_case(spec, texts, at, later, "RUN_ALL", smear=3 * HOUR * 1_000)
        early = rfc3339(now - 20 * HOUR)
        yield due_case(spec, texts, early, at, "RUN_ONCE", smear=HOUR * 1_000, gap=6 * HOUR)
    # The usable time of the next 64 cycles is half of the span over which runs are smeared.
    little = Weighted(Period(6_400), 1, windows=[(6_000, 6_050)])
    for policy in ["RUN_ONCE", "RUN_ALL"]:
        at = "2026-01-01T00:10:00Z"
        yield due_case(little, texts, "2025-12-31T22:00:00Z", at, policy, smear=6_400_000)
        yield due_case(little, texts, "2025-12-31T22:00:00Z", at, policy, smear=3_000_000)
    # Nothing may start for longer than that, or for slightly less.
    for end in ["2026-01-04T19:00:00Z", "2026-01-03T15:40:00Z"]:
        dated = [Dated("2026-01-01T00:00:00Z", end, "SKIP")]
        hourly = Weighted(Period(HOUR), 4, exclusions=dated)
        for policy in ["DROP", "RUN_ONCE", "RUN_ALL"]:
            asked = ("2025-12-31T21:30:00Z", "2026-01-01T00:02:00Z", policy)
            yield due_case(hourly, texts, *asked, tolerance=0, smear=HOUR * 1_000)
    samoa = Weighted(Calendar("DAY", "Pacific/Apia"), 24)
    for policy in ["DROP", "RUN_ONCE", "RUN_ALL"]:
        asked = ("2011-12-29T11:00:00Z", "2011-12-31T08:00:00Z", policy)
        yield due_case(samoa, texts, *asked, smear=HOUR * 1_000)


def migration_case(old, new, at, path, advice, longest, gap=0):
    at, texts = instant(at), [f"user-{number}" for number in range(8)]
    rows, moved, left_out = [], 0, 0
    for text in texts:
        last = old.runs_in((text, 0), at - 3 * DAY, at)[-1]
        unchanged = old.runs_in((text, 0), at, at + 3 * DAY)[0]
        runs = new.runs_in((text, 0), at, at + 4 * DAY)
        first = next(run for run in runs if run[2] - last[2] >= gap)
        left_out += runs.index(first)
        moved += first[2] != unchanged[2]
        rows.append((last[2] * 1_000, last[0], first[2] * 1_000, first[0]))
    gaps = [first - last for last, _, first, _ in rows]
    names = [
        "lastOldUnixMillis", "lastOldCycleIndexes", "firstNewUnixMillis", "firstNewCycleIndexes",
    ]  # fmt: skip
    ids = {name: [str(cell) for cell in column] for name, column in zip(names, zip(*rows))}
    ids |= {
        "movedIdCount": str(moved),
        "movedRatio": moved / len(texts),
        "observedMinGap": duration(min(gaps)),
        "observedMaxGap": duration(max(gaps)),
        "leftOutRunCount": str(left_out),
        "oldRunKeyPrefix": f"{old.identity['fingerprint']}/default",
        "newRunKeyPrefix": f"{new.identity['fingerprint']}/default",
    }
    response = {
        "oldIdentity": old.identity,
        "newIdentity": new.identity,
        "cutoverTime": rfc3339(at),
        "path": f"MIGRATION_PATH_{path}",
        "advice": advice,
        "ids": ids,
    }
    if longest is not None:
        assert max(gaps) <= longest
        response["maxGapBound"] = duration(longest)
    return {
        "method": "PlanMigration",
        "request": {
            "oldSchedule": old.spec(),
            "newSchedule": new.spec(),
            "cutoverTime": rfc3339(at),
            "minGap": f"{gap}s",
            "ids": {"texts": texts},
        },
        "response": response,
    }


def migration_cases():
    elapsed = Weighted(Period(DAY), 24)
    daily = Weighted(Calendar(*BERLIN), 24)
    night = Weighted(Calendar(*BERLIN), 16, windows=NIGHT)
    evening = Weighted(Calendar(*BERLIN), 24, exclusions=[EVENING])
    at = "2026-03-28T12:00:00Z"
    # A daily ID waits a day, and another at most where a clock changes (and a tick).
    day, by_clock = DAY * 1_000, (2 * DAY + 1) * 1_000
    for gap in [0, 6 * HOUR]:
        yield migration_case(elapsed, daily, at, "SAME_ORDER", "", day + by_clock - 1, gap)
        yield migration_case(daily, night, at, "SAME_ORDER", "", 2 * by_clock - 1, gap)
        yield migration_case(night, evening, at, "SAME_ORDER", "", None, gap)
    yield migration_case(evening, evening, at, "UNCHANGED", "", None)
    yield migration_case(daily, Weighted(Calendar(*BERLIN), 96), at, "SAME_TIMES", "", 2 * by_clock - 1)
    yield migration_case(night, night, at, "UNCHANGED", "", by_clock)


if __name__ == "__main__":
    print_cases([*assign_cases(), *due_cases(), *migration_cases()])
