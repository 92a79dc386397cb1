"""A ledger of runs and their starts, checked against the promises of a schedule."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import NamedTuple

from worlds import World, at_millis


class Run(NamedTuple):
    """A listed run, with the time its job starts: its start time, or the time of the poll."""

    taken: int
    scheduled: int
    is_late: bool


@dataclass
class Counts:
    dropped: int = 0
    superseded: int = 0
    skipped: int = 0


@dataclass
class Ledger:
    """All answers about the IDs of a world."""

    world: World
    budgets: list[int]
    runs: dict[tuple[int, int], dict[int, Run]] = field(default_factory=dict)
    counts: list[Counts] = field(default_factory=list)
    #: The polls of each kind: (watermark, end of the listed time, now).
    polls: list[list[tuple[int, int, int]]] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    #: Pairs of a late run and an on-time run of two kinds that are closer than the longer run time.
    near: int = 0

    def __post_init__(self) -> None:
        kinds = range(len(self.world.schedule.names))
        self.counts = [Counts() for _ in kinds]
        self.polls = [[] for _ in kinds]
        self.runs = {(i, kind): {} for i in range(len(self.world.texts)) for kind in kinds}

    def enter(self, kind: int, watermark: int, now: int, answer: dict, next_watermark: int) -> None:
        columns, late = answer["runs"], 0
        names = ["idIndexes", "cycleIndexes", "scheduledUnixMillis", "startUnixMillis"]
        rows = list(zip(*([int(cell) for cell in columns.get(name, [])] for name in names)))
        for index, cycle, scheduled, start in rows:
            is_late = now - scheduled > self.world.tolerance
            late += is_late
            known = self.runs[index, kind]
            if cycle in known:
                self.wrong.append(f"{self.name(index, kind)}: cycle {cycle} is listed twice")
            if is_late and start < now:
                self.wrong.append(f"{self.name(index, kind)}: cycle {cycle} starts before now")
            known[cycle] = Run(max(start, now), scheduled, is_late)
        if late != int(answer.get("lateRunCount", 0)):
            self.wrong.append(f"{late} late runs are listed, and others counted")
        counts = self.counts[kind]
        counts.dropped += int(answer.get("droppedRunCount", 0))
        counts.superseded += int(answer.get("supersededRunCount", 0))
        counts.skipped += int(answer.get("skippedRunCount", 0))
        self.polls[kind].append((watermark, next_watermark, now))

    def name(self, index: int, kind: int) -> str:
        return f"{self.world.texts[index]} {self.world.schedule.names[kind]}"

    def close(self) -> list[str]:
        """Checks the ledger, and returns the violations."""
        for kind in range(len(self.polls)):
            self.add_up(kind)
        for index in range(len(self.world.texts)):
            for one in range(len(self.polls)):
                for other in range(one):
                    if self.world.schedule.must_not_meet(one, other):
                        self.compare(index, one, other)
        return self.wrong

    def add_up(self, kind: int) -> None:
        """Checks that the counts of runs add up to those scheduled, and on-time runs are done."""
        schedule, polls = self.world.schedule, self.polls[kind]
        scheduled = skipped = done = 0
        for index, text in enumerate(self.world.texts):
            known = self.runs[index, kind]
            runs = schedule.runs(text, kind, polls[0][0], polls[-1][1])
            scheduled += len(runs)
            done += len(known)
            if strangers := {c: r for c, r in known.items() if runs.get(c) != r.scheduled}:
                self.wrong.append(f"{self.name(index, kind)}: {strangers} are not scheduled")
            for cycle, at in runs.items():
                if schedule.is_skipped(at):
                    skipped += 1
                    if cycle in known:
                        self.wrong.append(f"{self.name(index, kind)}: {cycle} runs, and is skipped")
                elif cycle not in known and at >= self.now_for(kind, at) - self.world.tolerance:
                    # So an ID that is polled in time never misses two cycles in a row: a late run
                    # is superseded only by the next one, which is then on time.
                    text = f"{self.name(index, kind)}: {cycle} was on time, and is not listed"
                    self.wrong.append(text)
        counts = self.counts[kind]
        if counts.skipped != skipped:
            self.wrong.append(f"{counts.skipped} are counted as skipped, and {skipped} are")
        told = done + counts.dropped + counts.superseded + counts.skipped
        if told != scheduled:
            self.wrong.append(
                f"{schedule.names[kind]}: {done} done, {counts}, and {scheduled} scheduled"
            )
        if self.world.policy != "RUN_ONCE" and counts.superseded:
            self.wrong.append(f"{counts} superseded under {self.world.policy}")

    def now_for(self, kind: int, at: int) -> int:
        """The time of the poll that covers a regular run."""
        return next(now for start, end, now in self.polls[kind] if start <= at < end)

    def compare(self, index: int, one: int, other: int) -> None:
        """Compares the starts of two kinds of an ID, each with the nearest ones of the other."""
        starts = sorted((run, other) for run in self.runs[index, other].values())
        takens = [run.taken for run, _ in starts]
        for run in self.runs[index, one].values():
            place = bisect_left(takens, run.taken)
            # More than the nearest two: late and regular runs have different promises.
            for near, _ in starts[max(0, place - 4) : place + 4]:
                (first, kind), (second, then) = sorted([(run, one), (near, other)])
                promise = self.promise(first, second, kind, then)
                if second.taken - first.taken < promise:
                    self.wrong.append(
                        f"{self.world.texts[index]}: {self.world.schedule.names[kind]} "
                        f"{first} and the other {second} at {at_millis(second.taken)}: "
                        f"{second.taken - first.taken} ms apart, {promise} promised"
                    )

    def promise(self, first: Run, second: Run, kind: int, other: int) -> int:
        """The least time from a start of `kind` to one of `other`."""
        schedule = self.world.schedule
        if not first.is_late and not second.is_late:
            return self.budgets[kind] - self.world.tolerance
        if first.is_late != second.is_late:
            longest = max(schedule.lead(kind), schedule.lead(other))
            self.near += second.taken - first.taken < longest
            # An on-time run follows a late one this closely only if it can start later than that.
            if first.is_late and self.world.tolerance <= longest:
                return schedule.lead(kind)
            return schedule.lead(kind) - self.world.tolerance
        if schedule.clock_changes_near(first.taken):
            return schedule.lead(kind)
        return schedule.share - 1
