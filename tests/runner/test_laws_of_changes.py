"""The promises of the runner when declarations are paused or schedules change."""

from __future__ import annotations

import logging
from datetime import timedelta

import pytest
from declarations import EVERY_8_HOURS, GAP, ROWS, TWO_KINDS, declared
from offbeat import InvalidArgument, Schedule
from offbeat.runner import RunState
from simulation import HOUR, MINUTE, START, Simulation


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
    simulation.run(2 * MINUTE)  # queued runs are done
    before = len(simulation.executions)
    assert simulation.states()[RunState.PLANNED] > 100
    simulation.run(30 * MINUTE)
    assert len(simulation.executions) == before


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
    simulation.run(leaves_after)  # before or after the cutover
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
