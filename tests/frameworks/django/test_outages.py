"""Runs in simulated time in each database, with an outage and deleted rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

START = datetime(2026, 1, 1, tzinfo=timezone.utc)
CYCLE = timedelta(minutes=30)
INTERVAL = timedelta(minutes=5)
KINDS = ("balance", "transactions")


class Simulation:
    """A runner whose queue is a list, and a worker that does runs as soon as they start."""

    def __init__(self, alias: str, rows: Any) -> None:
        from offbeat import Schedule
        from offbeat.django import DjangoStore, QuerySetRows, get_client
        from offbeat.runner import Declaration, Runner, Worker

        self.now = START
        self.store: Any = DjangoStore(alias)
        self.store.now = lambda: self.now
        schedule = Schedule(CYCLE, slot_count=30, kinds=KINDS)
        source = QuerySetRows(rows)
        self.declarations = {kind: Declaration(kind, schedule, source, kind=kind) for kind in KINDS}
        self.worker = Worker(self.declarations, self.store)
        declared = self.declarations.values()
        self.runner = Runner(declared, self.store, self, client=get_client(), interval=INTERVAL)
        self.waiting: list[Any] = []
        self.done: list[Any] = []

    def publish(self, runs: Sequence[Any]) -> None:
        """Keep runs until they start."""
        self.waiting.extend(runs)

    def run(self, minutes: int, ticks: bool = True) -> None:
        """Let time pass."""
        from offbeat.runner import RunMessage

        end = self.now + timedelta(minutes=minutes)
        while self.now < end:
            if ticks:
                self.runner.tick()
            tick = self.now + INTERVAL
            soon = [run for run in self.waiting if run.start_time < tick]
            self.waiting = [run for run in self.waiting if run.start_time >= tick]
            for run in sorted(soon, key=lambda one: one.start_time):
                self.now = max(self.now, run.start_time)
                with self.worker.attempt(RunMessage.of(run)) as attempt:
                    if attempt is not None:
                        self.done.append(run)
            self.now = tick


def test_an_outage_that_is_longer_than_a_cycle(alias: str) -> None:
    from crm.models import Account
    from offbeat.django.models import OffbeatProgress, OffbeatRun

    rows = Account.objects.using(alias)
    rows.bulk_create([Account() for _ in range(20)])
    simulation = Simulation(alias, lambda: rows.all())
    simulation.run(45)
    simulation.run(75, ticks=False)
    back = simulation.now
    simulation.run(90)
    assert max(Counter(run.run_id for run in simulation.done).values()) == 1
    for kind in KINDS:
        late = {run.row_id for run in simulation.done if run.kind == kind and run.start_time > back}
        assert len(late) == 20
    starts: dict[str, list[tuple[datetime, str]]] = {}
    for run in simulation.done:
        starts.setdefault(run.row_id, []).append((run.start_time, run.kind))
    for each in starts.values():
        each.sort()
        for (earlier, one), (later, other) in zip(each, each[1:]):
            # Late runs of two kinds: half a turn, which is at most an eighth of a cycle, halved.
            assert one == other or later - earlier >= timedelta(seconds=56)
    for progress in OffbeatProgress.objects.using(alias).all():
        runs = OffbeatRun.objects.using(alias).filter(declaration=progress.declaration)
        minutes = progress.watermark_time - START
        scheduled = 20 * (minutes // CYCLE)
        decided = progress.planned_count + progress.dropped_count
        decided += progress.superseded_count + progress.skipped_count
        assert scheduled <= decided <= scheduled + 20
        assert runs.count() == progress.planned_count


def test_rows_that_go_between_plan_and_run(alias: str) -> None:
    from crm.models import Account
    from offbeat.django.models import OffbeatRun

    rows = Account.objects.using(alias)
    rows.bulk_create([Account() for _ in range(50)])
    simulation = Simulation(alias, lambda: rows.filter(active=True))
    simulation.runner.tick()
    waiting = {run.row_id for run in simulation.waiting}
    assert len(waiting) > 1
    deleted, *excluded = sorted(waiting)
    rows.filter(pk=deleted).delete()
    rows.filter(pk__in=excluded).update(active=False)
    simulation.run(10, ticks=False)
    assert not simulation.done
    states = OffbeatRun.objects.using(alias).filter(row_id__in=waiting).values_list("state")
    assert set(states) == {("skipped",)}
