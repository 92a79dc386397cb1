"""The promises of the runner when runners, queues and clocks fail, in simulated time."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import pytest
from declarations import EVERY_8_HOURS, ROWS, declared, kinds
from offbeat import CatchUpPolicy, Client, MissedRunPolicy
from offbeat.runner import Declaration, IdList, PlannedPage, RunMessage, RunState
from simulation import HOUR, MINUTE, START, Simulation


def test_kinds_keep_apart_after_an_outage():
    simulation = Simulation(*kinds())
    simulation.run(8 * HOUR)
    simulation.run(9 * HOUR, ticks=False)
    before = len(simulation.executions)
    simulation.run(10 * HOUR)
    assert len(simulation.executions) > before + ROWS
    # The promise of two kinds without run times: a quarter of a turn of an hour, and the tolerance.
    assert simulation.least_gap() >= timedelta(minutes=15) - timedelta(seconds=60)


def test_kinds_keep_apart_when_the_runners_stop_again_while_they_catch_up():
    simulation = Simulation(*kinds())
    simulation.run(8 * HOUR)
    simulation.run(9 * HOUR, ticks=False)
    simulation.run(20 * MINUTE)
    simulation.run(2 * HOUR, ticks=False)
    simulation.run(10 * HOUR)
    assert simulation.least_gap() >= timedelta(minutes=14)
    states = simulation.states()
    assert not states[RunState.PLANNED] + states[RunState.CLAIMED]


@pytest.mark.parametrize("policy", MissedRunPolicy)
def test_every_run_is_accounted_for_after_an_outage(policy, sidecar):
    catch_up = CatchUpPolicy(
        policy, on_time_tolerance=timedelta(seconds=60), smear_span=timedelta(minutes=30)
    )
    simulation = Simulation(declared(catch_up=catch_up))
    if policy is MissedRunPolicy.RUN_ALL:  # only a sidecar decides this
        simulation.client = Client(sidecar, mode="auto")
        simulation.runners = [simulation.runner(*simulation.declarations) for _ in range(2)]
    simulation.run(3 * HOUR)
    simulation.run(9 * HOUR, ticks=False)
    simulation.run(12 * HOUR - 2 * MINUTE)
    (progress,) = simulation.store.progress()
    scheduled = 0
    for row in range(ROWS):
        columns = simulation.client.assign_slot(EVERY_8_HOURS, row, from_time=START)
        first = columns.next_run.start_time
        scheduled += (progress.watermark_time - first) // (8 * HOUR) + 1
    counts = progress.counts
    assert counts.planned + counts.dropped + counts.superseded + counts.skipped == scheduled
    states = simulation.states()
    assert sum(states.values()) == counts.planned
    assert states[RunState.DONE] + states[RunState.PUBLISHED] == counts.planned
    assert counts.dropped > 0 if policy is MissedRunPolicy.DROP else counts.late > 0


class WithoutNine(IdList):
    """Rows of which row 9 is deleted when its job runs."""

    def contains(self, row_id):
        return row_id != 9 and super().contains(row_id)


def test_each_scheduled_run_ends_in_one_way():
    declaration = Declaration(
        "sync",
        EVERY_8_HOURS,
        WithoutNine(list(range(ROWS)), int),
        catch_up=CatchUpPolicy(MissedRunPolicy.RUN_ONCE, smear_span=HOUR),
        max_publication_count=1,
    )
    simulation = Simulation(declaration)
    simulation.works = lambda message: message.row_id != "7"  # row 7 kills its workers
    simulation.run(8 * HOUR)
    simulation.run(9 * HOUR, ticks=False)
    simulation.run(20 * MINUTE)
    simulation.run(7 * HOUR, ticks=False)
    simulation.works = lambda message: message.row_id != "7" or message.publication > 1
    simulation.run(4 * HOUR)
    # Nothing more is planned, and planned runs finish.
    simulation.store.pause("sync", True)
    simulation.run(HOUR)
    simulation.store.pause("sync", False)
    for run in simulation.store.runs("sync", START, simulation.now, 100_000):
        if not run.state.ended:
            simulation.put(run.start_time, RunMessage.of(run))
    (progress,) = simulation.store.progress()
    scheduled = 0
    for row in range(ROWS):
        first = simulation.client.assign_slot(EVERY_8_HOURS, row, from_time=START)
        since = progress.watermark_time - first.next_run.start_time
        scheduled += -(-since // (8 * HOUR))
    counts, states = progress.counts, simulation.states()
    ended = sum(count for state, count in states.items() if state.ended)
    assert ended + counts.dropped + counts.superseded + counts.skipped == scheduled
    assert states[RunState.FAILED] >= 2
    assert states[RunState.SKIPPED] >= 2
    assert states[RunState.SUPERSEDED] > 20


def test_a_pass_that_was_left_open_is_continued_with_the_time_of_now():
    simulation = Simulation(*kinds())
    simulation.run(HOUR)
    simulation.run(9 * HOUR, ticks=False)
    failing = simulation.runner(*kinds())
    plan, pages = simulation.store.plan, []

    def dies_after_a_page(declaration, before, page):
        pages.append(page)
        if len(pages) > 1:
            raise KeyboardInterrupt
        cut = PlannedPage(page.runs, page.cursor or "row:0", page.counts)
        return plan(declaration, before, cut)

    simulation.store.plan = dies_after_a_page
    with pytest.raises(KeyboardInterrupt):
        failing.tick()
    simulation.store.plan = plan
    simulation.run(2 * HOUR, ticks=False)
    again = simulation.now
    simulation.run(3 * HOUR)
    assert simulation.least_gap() >= timedelta(minutes=14)
    # Nothing that was late starts all at once.
    starts = Counter(one.time for one in simulation.executions if one.time >= again)
    assert max(starts.values()) < 20


def test_a_clock_that_goes_back_plans_nothing_twice():
    simulation = Simulation(declared())
    simulation.run(2 * HOUR)
    simulation.now -= HOUR
    simulation.run(9 * HOUR)
    runs = Counter(
        (execution.row_id, execution.scheduled_time) for execution in simulation.executions
    )
    assert set(runs.values()) == {1}
    assert len({row for row, _ in runs}) == ROWS


def test_a_queue_that_is_away_loses_nothing():
    simulation = Simulation(declared())

    class Away(Exception):
        pass

    def fails(message: RunMessage) -> int:
        raise Away

    simulation.copies = fails
    for _ in range(60):
        for runner in simulation.runners:
            runner.run_once()
        simulation.now += MINUTE
    simulation.copies = lambda message: 1
    simulation.run(7 * HOUR)
    assert len(simulation.executions) == ROWS
