"""A queue and workers in simulated time, over any number of runners and one store."""

from __future__ import annotations

import heapq
import itertools
from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, Callable

from offbeat.runner import (
    Declaration,
    MemoryStore,
    PutBack,
    RunMessage,
    Runner,
    RunState,
    Worker,
)
from offbeat.testing import FakeClient

START = datetime(2026, 1, 1, tzinfo=timezone.utc)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class Execution:
    """A job that was done."""

    declaration: str
    row_id: Any
    time: datetime
    scheduled_time: datetime


class Simulation:
    """Runs declarations minute by minute."""

    def __init__(self, *declarations: Declaration[Any], runner_count: int = 2) -> None:
        self.now = START
        self.store = MemoryStore(lambda: self.now)
        self.client = FakeClient()
        self.declarations = declarations
        self.runners = [self.runner(*declarations) for _ in range(runner_count)]
        self.executions: list[Execution] = []
        #: How many times a message is delivered.
        self.copies: Callable[[RunMessage], int] = lambda message: 1
        #: Whether a worker finishes a run: ``False`` means that it dies while it holds the run.
        self.works: Callable[[RunMessage], bool] = lambda message: True
        self._queue: list[tuple[datetime, int, RunMessage]] = []
        self._numbers = itertools.count()

    def runner(self, *declarations: Declaration[Any]) -> Runner:
        """Return another runner over the same store."""
        return Runner(declarations, self.store, self, client=self.client)

    def publish(self, runs: Any) -> None:
        """Take messages, as a queue does."""
        for run in runs:
            message = RunMessage.of(run)
            for _ in range(self.copies(message)):
                self.put(run.start_time, message)

    def put(self, at: datetime, message: RunMessage) -> None:
        """Deliver a message at a time."""
        heapq.heappush(self._queue, (at, next(self._numbers), message))

    def run(self, span: timedelta, ticks: bool = True) -> None:
        """Let time pass; without ``ticks`` no runner works."""
        end = self.now + span
        while self.now < end:
            for runner in self.runners if ticks else ():
                tick = runner.tick()
                assert not tick.errors
            self._deliver(self.now + MINUTE)

    def _deliver(self, end: datetime) -> None:
        worker = Worker({one.name: one for one in self.declarations}, self.store)
        while self._queue and self._queue[0][0] < end:
            at, _, message = heapq.heappop(self._queue)
            self.now = max(self.now, at)
            if not self.works(message):
                self.store.claim(message.run_id, message.publication, timedelta(minutes=30))
                continue
            try:
                with worker.attempt(message) as attempt:
                    if attempt is not None:
                        self.executions.append(
                            Execution(
                                message.declaration,
                                attempt.row_id,
                                self.now,
                                message.scheduled_time,
                            )
                        )
            except PutBack as put_back:
                self.put(self.now + put_back.delay, message)
        self.now = end

    def states(self) -> Counter[RunState]:
        """Return how many runs are in each state."""
        horizon = (START - 1000 * HOUR, START + 100_000 * HOUR, 10_000_000)
        return Counter(
            run.state for one in self.declarations for run in self.store.runs(one.name, *horizon)
        )

    def least_gap(self) -> timedelta:
        """Return the least time between executions of two declarations for one row."""
        rows = defaultdict(list)
        for execution in self.executions:
            rows[execution.row_id].append((execution.time, execution.declaration))
        gaps = [
            later[0] - earlier[0]
            for times in rows.values()
            for earlier, later in itertools.pairwise(sorted(times))
            if earlier[1] != later[1]
        ]
        return min(gaps)
