"""What the runner promises, in simulated time."""

from __future__ import annotations

import logging
from collections import Counter
from datetime import timedelta

import pytest
from offbeat import (
    CatchUpPolicy,
    Client,
    FirstRunPolicy,
    InvalidArgument,
    MissedRunPolicy,
    Schedule,
)
from offbeat.runner import Declaration, IdList, PlannedPage, RunMessage, RunState
from simulation import HOUR, MINUTE, START, Simulation

EVERY_8_HOURS = Schedule(8 * HOUR)
GAP = 3.5 * HOUR
TWO_KINDS = Schedule(8 * HOUR, kinds=["import", "export"])
ROWS = 400


def declared(name="sync", schedule=EVERY_8_HOURS, ids=None, **options):
    rows = IdList(list(range(ROWS)) if ids is None else ids, int)
    return Declaration(name, schedule, rows, **options)


def kinds():
    return [declared(kind, TWO_KINDS, kind=kind) for kind in ("import", "export")]


def test_each_row_runs_once_a_cycle_at_its_time():
    simulation = Simulation(declared())
    simulation.run(24 * HOUR)
    runs = Counter(
        (execution.row_id, (execution.scheduled_time - START) // (8 * HOUR))
        for execution in simulation.executions
    )
    assert len(runs) == 3 * ROWS
    assert set(runs.values()) == {1}
    client = simulation.client
    for execution in simulation.executions[::97]:
        assigned = client.assign_slot(
            EVERY_8_HOURS, execution.row_id, from_time=execution.scheduled_time
        )
        assert execution.time == assigned.next_run.start_time


def test_messages_that_come_twice_run_once():
    simulation = Simulation(declared())
    simulation.copies = lambda message: 3
    simulation.run(8 * HOUR)
    assert len(simulation.executions) == ROWS


def test_lost_messages_are_published_again_later_and_later():
    simulation = Simulation(declared(ids=[7], republish_after=timedelta(minutes=10)))
    lost = []

    def copies(message: RunMessage) -> int:
        lost.append(simulation.now)
        return 0 if message.publication < 4 else 1

    simulation.copies = copies
    simulation.run(8 * HOUR)
    assert len(simulation.executions) == 1
    waits = [later - earlier for earlier, later in zip(lost[1:], lost[2:])]
    assert [round(wait / (10 * MINUTE)) for wait in waits] == [2, 4]


def test_the_run_of_a_dead_worker_is_done_by_another_after_its_claim():
    limit = timedelta(minutes=20)
    simulation = Simulation(declared(ids=[7], run_time_limit=limit))
    simulation.works = lambda message: message.publication > 1
    simulation.run(8 * HOUR)
    (execution,) = simulation.executions
    assert timedelta(minutes=30) <= execution.time - execution.scheduled_time <= 33 * MINUTE


def test_the_message_of_an_older_publication_is_obsolete():
    simulation = Simulation(declared(ids=[7]))
    first = []

    def copies(message: RunMessage) -> int:
        first.append(message)
        return 0 if message.publication == 1 else 1

    simulation.copies = copies
    simulation.run(8 * HOUR)
    assert len(simulation.executions) == 1
    simulation.put(simulation.now, first[0])
    simulation.run(MINUTE)
    assert len(simulation.executions) == 1


def test_a_run_that_kills_each_worker_fails_in_the_end():
    simulation = Simulation(declared(ids=[7], max_publication_count=3))
    simulation.works = lambda message: message.publication > 3
    simulation.run(8 * HOUR)
    assert not simulation.executions
    assert simulation.states()[RunState.FAILED] == 1


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
    if policy is MissedRunPolicy.RUN_ALL:  # which a sidecar decides
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
    """Rows, of which 9 is gone when its job runs."""

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
    simulation.works = lambda message: message.row_id != "7"  # it kills its workers
    simulation.run(8 * HOUR)
    simulation.run(9 * HOUR, ticks=False)
    simulation.run(20 * MINUTE)
    simulation.run(7 * HOUR, ticks=False)
    simulation.works = lambda message: message.row_id != "7" or message.publication > 1
    simulation.run(4 * HOUR)
    # Nothing more is planned, and what is planned ends.
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


@pytest.mark.parametrize("first", ["old", "new"])
def test_kinds_keep_apart_when_a_runner_of_the_old_schedule_is_the_first_back(first):
    schedule = Schedule(8 * HOUR, kinds=["import", "export"], slot_count=240)
    ids = range(150)
    old = [declared(kind, TWO_KINDS, ids, kind=kind) for kind in ("import", "export")]
    new = [
        declared(kind, schedule, ids, kind=kind, previous_schedule=TWO_KINDS)
        for kind in ("import", "export")
    ]
    simulation = Simulation(*new)
    simulation.run(HOUR)
    simulation.run(9 * HOUR, ticks=False)
    simulation.run(20 * MINUTE)
    simulation.run(2 * HOUR, ticks=False)
    runners = {"old": simulation.runner(*old), "new": simulation.runner(*new)}
    simulation.runners = [runners[first]]
    simulation.run(10 * MINUTE)
    simulation.runners = list(runners.values())
    simulation.run(6 * HOUR)
    assert simulation.least_gap() >= timedelta(minutes=14)
    states = simulation.states()
    assert not states[RunState.PLANNED] + states[RunState.CLAIMED]


def test_a_paused_declaration_runs_nothing_and_catches_up_when_it_is_resumed():
    simulation = Simulation(declared())
    simulation.run(2 * HOUR)
    simulation.store.pause("sync", True)
    simulation.run(2 * MINUTE)
    before = len(simulation.executions)
    simulation.run(2 * HOUR)
    assert len(simulation.executions) == before
    simulation.store.pause("sync", False)
    simulation.run(4 * HOUR)
    assert {execution.row_id for execution in simulation.executions} == set(range(ROWS))


def test_a_paused_declaration_does_not_go_on_catching_up():
    simulation = Simulation(declared("import", TWO_KINDS, kind="import"))
    simulation.run(HOUR)
    simulation.run(9 * HOUR, ticks=False)
    simulation.run(5 * MINUTE)
    simulation.store.pause("import", True)
    simulation.run(2 * MINUTE)  # what is with the queue is done
    before = len(simulation.executions)
    assert simulation.states()[RunState.PLANNED] > 100
    simulation.run(30 * MINUTE)
    assert len(simulation.executions) == before


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


@pytest.mark.parametrize("leaves_after", [2 * HOUR, 11 * HOUR])
def test_a_cutover_loses_no_run_and_keeps_the_gap(leaves_after):
    every_6_hours = Schedule(6 * HOUR)
    old = declared()
    new = declared(schedule=every_6_hours, previous_schedule=EVERY_8_HOURS, min_gap=GAP)
    simulation = Simulation(old)
    simulation.run(3 * HOUR)
    # A rolling deploy: one runner knows the new schedule, and one does not.
    simulation.declarations = (new,)
    simulation.runners = [simulation.runner(old), simulation.runner(new)]
    simulation.run(10 * MINUTE)
    with pytest.raises(InvalidArgument, match="cutover_time"):
        simulation.runners[1].cut_over("sync", simulation.now)
    cutover = START + 12 * HOUR
    simulation.runners[1].cut_over("sync", cutover)
    simulation.run(leaves_after)  # before the cutover, or behind it
    simulation.runners = [simulation.runner(new)]
    simulation.run(24 * HOUR - leaves_after)
    rows = {}
    for execution in simulation.executions:
        rows.setdefault(execution.row_id, []).append(execution)
    dropped = 0
    for row, executions in rows.items():
        times = [execution.time for execution in executions]
        gaps = [later - earlier for earlier, later in zip(times, times[1:])]
        assert min(gaps) >= GAP, row
        last = max(one.time for one in executions if one.scheduled_time < cutover)
        first = min(one.time for one in executions if one.scheduled_time >= cutover)
        assigned = simulation.client.assign_slot(every_6_hours, row, from_time=cutover)
        regular = assigned.next_run.start_time
        assert first == (regular if regular - last >= GAP else regular + 6 * HOUR), row
        dropped += regular - last < GAP
    assert len(rows) == ROWS
    assert dropped == simulation.store.progress()[0].counts.dropped > 50


def test_a_new_row_runs_by_the_schedule_of_its_time_while_a_cutover_is_to_come():
    ids = []
    new = declared(schedule=Schedule(6 * HOUR), previous_schedule=EVERY_8_HOURS, ids=ids)
    simulation = Simulation(declared(ids=ids))
    simulation.run(HOUR)
    simulation.declarations, simulation.runners = (new,), [simulation.runner(new)]
    cutover = START + 2 * HOUR
    simulation.runners[0].cut_over("sync", cutover)
    old = simulation.store.progress()[0].schedule
    while simulation.now < cutover:
        for row in range(ROWS):
            row += len(ids)
            run = simulation.client.assign_slot(EVERY_8_HOURS, row, from_time=simulation.now)
            added = simulation.runners[0].add_row(new, row)
            soon = run.next_run.start_time < simulation.now + 2 * simulation.runners[0].look_ahead
            assert added == (soon and run.next_run.start_time < cutover)
        simulation.run(10 * MINUTE)
    stored = simulation.store.runs("sync", START, START + 24 * HOUR, 1_000)
    assert stored
    assert {run.schedule for run in stored} == {old}


@pytest.mark.parametrize("kind", ["", "fees"])
def test_a_kind_that_the_schedule_has_not_is_refused_at_start(kind):
    simulation = Simulation(declared(schedule=TWO_KINDS, kind=kind))
    with pytest.raises(InvalidArgument, match="must be a kind of the schedule: import, export"):
        simulation.runners[0].check()


def test_a_declaration_can_be_paused_before_its_first_tick():
    simulation = Simulation(declared())
    simulation.runners[0].pause("sync", True)
    simulation.run(9 * HOUR)
    assert not simulation.executions
    simulation.runners[0].pause("sync", False)
    simulation.run(9 * HOUR)
    assert len({one.row_id for one in simulation.executions}) == ROWS


def test_a_cutover_while_no_runner_is_there_loses_nobody():
    new = declared(schedule=Schedule(6 * HOUR), previous_schedule=EVERY_8_HOURS)
    simulation = Simulation(declared())
    simulation.run(HOUR)
    simulation.declarations, simulation.runners = (new,), [simulation.runner(new)]
    simulation.runners[0].cut_over("sync", START + 2 * HOUR)
    simulation.run(4 * HOUR, ticks=False)
    simulation.run(10 * HOUR)
    late = {one.row_id for one in simulation.executions if one.time >= START + 5 * HOUR}
    assert late == set(range(ROWS))
    progress = simulation.store.progress()[0]
    assert progress.schedule != progress.next_schedule == ""
    assert progress.watermark_time > START + 15 * HOUR


def test_a_schedule_that_changed_without_a_cutover_is_not_planned(caplog):
    simulation = Simulation(declared())
    simulation.run(HOUR)
    simulation.runners = [simulation.runner(declared(schedule=Schedule(6 * HOUR)))]
    watermark = simulation.store.progress()[0].watermark_time
    with caplog.at_level(logging.ERROR):
        simulation.run(MINUTE)
    assert simulation.store.progress()[0].watermark_time == watermark
    assert "previous_schedule" in caplog.text


@pytest.mark.parametrize("policy", FirstRunPolicy)
def test_a_new_row_runs_once_in_its_first_cycle_or_waits_for_the_next(policy, sidecar):
    ids = list(range(50))
    span = 10 * MINUTE if policy is FirstRunPolicy.NOW_SMEARED else None
    declaration = declared(ids=lambda: ids, first_run=policy, first_run_span=span)
    simulation = Simulation(declaration)
    if policy is FirstRunPolicy.NOW_SMEARED:  # which a sidecar decides
        simulation.client = Client(sidecar, mode="auto")
        simulation.runners = [simulation.runner(declaration) for _ in range(2)]
    simulation.run(4 * HOUR + MINUTE)
    created = simulation.now
    for row in range(50, 250):
        ids.append(row)
        simulation.runners[0].add_row(declaration, row)
        simulation.runners[1].add_row(declaration, row)  # saved twice
    simulation.run(4 * HOUR - 2 * MINUTE)
    first = Counter(one.row_id for one in simulation.executions if one.row_id >= 50)
    assert set(first.values()) == {1}
    for row in range(50, 250):
        at = simulation.client.assign_slot(EVERY_8_HOURS, row, from_time=START).next_run.start_time
        if policy is FirstRunPolicy.NOW_SMEARED or at >= created:
            assert first[row] == 1 or at >= simulation.now
        else:
            assert first[row] == 0
    simulation.run(8 * HOUR + 2 * MINUTE)
    assert {one.row_id for one in simulation.executions} == set(range(250))


def test_a_deleted_row_ends_its_run_quietly():
    ids = list(range(50))
    simulation = Simulation(declared(ids=lambda: ids))
    simulation.runners[0].tick()
    simulation.run(HOUR)
    planned = simulation.runners[0].run_now(simulation.declarations[0], 7)
    ids.remove(7)
    simulation.run(2 * MINUTE)
    assert simulation.store.runs("sync", planned.start_time, planned.start_time + MINUTE, 10)
    assert simulation.states()[RunState.SKIPPED] == 1
    assert 7 not in {one.row_id for one in simulation.executions[-2:]}


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


def test_ended_runs_are_pruned_after_two_cycles():
    simulation = Simulation(declared())
    simulation.run(30 * HOUR)
    pruned = simulation.runners[0].prune()
    assert pruned > ROWS
    assert sum(simulation.states().values()) >= 2 * ROWS - 20
    simulation.run(HOUR)
    runs = Counter((one.row_id, one.scheduled_time) for one in simulation.executions)
    assert set(runs.values()) == {1}
