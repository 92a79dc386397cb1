"""Random histories of a store, compared step by step with the store in memory."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

from offbeat.runner import Counts, MemoryStore, Pass, PlannedPage, RunState, StoredRun

START = datetime(2026, 1, 1, tzinfo=timezone.utc)
NAMES = ("import", "export")
AFTER = {"import": timedelta(minutes=10), "export": timedelta(minutes=3)}
FOREVER = (START - timedelta(days=1_000), START + timedelta(days=1_000), 100_000)


class History:
    """Does the same to a store and to the model."""

    def __init__(self, seed: int, stores: list[Any], clock: list[datetime]) -> None:
        self.random = random.Random(seed)
        self.clock = clock
        self.model = MemoryStore(lambda: clock[0])
        self.stores = stores
        self.number = 0

    def both(self, method: str, *arguments: Any) -> Any:
        """Call a method of both, and compare what it returns."""
        store = self.random.choice(self.stores)
        expected = getattr(self.model, method)(*arguments)
        actual = getattr(store, method)(*arguments)
        if method in ("publish", "overdue", "runs"):
            expected, actual = ([known(run) for run in runs] for runs in (expected, actual))
        elif method == "claim":
            expected, actual = (
                (claim.outcome, claim.retry_delay, claim.run and known(claim.run))
                for claim in (expected, actual)
            )
        elif method == "last_starts":
            expected, actual = dict(expected), dict(actual)
        assert actual == expected, (method, arguments)
        return actual

    def run(self, steps: int) -> None:
        """Take steps, and compare all runs from time to time."""
        for name in NAMES:
            self.both("begin", name, "bank/1")
        for step in range(steps):
            self.clock[0] += timedelta(seconds=self.random.choice([0, 1, 60, 400, 3_000]))
            self.step()
            if step % 20 == 0:
                self.compare()
        self.compare()

    def compare(self) -> None:
        """Compare all runs and progress."""
        self.both("progress")
        for name in NAMES:
            self.both("runs", name, *FOREVER)

    def step(self) -> None:
        """Take one random step."""
        name = self.random.choice(NAMES)
        progress = {one.declaration: one for one in self.model.progress()}[name]
        runs = self.model.runs(name, *FOREVER)
        run = self.random.choice(runs) if runs else self.new_run(name)
        publication = max(0, run.publication - self.random.choice([0, 0, 0, 1]))
        now = self.clock[0]
        choice = self.random.randrange(14)
        if choice == 0:
            stale = self.random.random() < 0.2
            before = replace(progress, watermark_time=START) if stale else progress
            self.both("open_pass", before, Pass(now, now + timedelta(minutes=2)))
        elif choice in (1, 2):
            opened = progress.open_pass or Pass(now, now)
            if self.random.random() < 0.2:
                opened = replace(opened, cursor="elsewhere")
            cursor = self.random.choice([None, f"row:{self.random.randrange(99)}"])
            new = tuple(self.new_run(name) for _ in range(self.random.randrange(6)))
            again = tuple(self.random.sample(runs, min(len(runs), 2)))
            counts = Counts(*(self.random.randrange(9) for _ in range(5)))
            self.both("plan", name, opened, PlannedPage(new + again, cursor, counts))
        elif choice == 3:
            self.both("pause", name, self.random.random() < 0.3)
        elif choice == 4:
            self.both("schedule_cutover", progress, "bank/2", now + timedelta(hours=1))
        elif choice == 5:
            self.both("cut_over", progress)
        elif choice == 6:
            self.both("add", [self.new_run(name), run])
        elif choice in (7, 8):
            names = self.random.choice([["import"], ["export"], list(NAMES)])
            published = self.both(
                "publish",
                now + timedelta(minutes=2),
                {chosen: AFTER[chosen] for chosen in names},
                self.random.choice([1, 3, 100]),
            )
            if published and self.random.random() < 0.3:
                older = [0, 0, 1]  # some by a runner that was slow
                taken_back = [
                    replace(one, publication=one.publication - self.random.choice(older))
                    for one in self.model.runs(name, *FOREVER)
                ]
                self.both("unpublish", taken_back)
        elif choice == 9:
            for late in self.both("overdue", name, now - timedelta(minutes=1), 5):
                state = self.random.choice([RunState.PLANNED, RunState.SUPERSEDED])
                start = now + timedelta(seconds=self.random.randrange(600))
                self.both("replan", StoredRun(**late), state, start)
        elif choice in (10, 11):
            self.both("claim", run.run_id, publication, timedelta(minutes=7))
        elif choice == 12:
            state = self.random.choice([RunState.DONE, RunState.FAILED])
            self.both("finish", run.run_id, publication, state)
        elif self.random.random() < 0.5:
            self.both("release", run.run_id, publication, now + timedelta(minutes=4))
        else:
            row_ids = [one.row_id for one in runs[:50]]
            self.both("last_starts", name, row_ids, now)
            if self.random.random() < 0.3:
                self.both("prune", name, now - timedelta(hours=2), 100_000)

    def new_run(self, name: str) -> StoredRun:
        """Return a run that does not exist yet."""
        self.number += 1
        scheduled = self.clock[0] + timedelta(seconds=self.random.randrange(-900, 900))
        late = timedelta(seconds=self.random.choice([0, 0, 77]))
        return StoredRun(
            run_id=f"{self.number:032x}",
            declaration=name,
            schedule="bank/1",
            row_id=self.random.choice(["acme", "42", "Ärger", "b" * 255]),
            kind=name,
            scheduled_time=scheduled,
            start_time=scheduled + late,
        )


def known(run: StoredRun) -> dict[str, Any]:
    """Return a run's fields, with an explicit time of its next action."""
    return {**vars(run), "next_action_time": run.action_time}
