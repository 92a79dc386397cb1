"""The promises of the runner, in simulated time."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import pytest
from declarations import EVERY_8_HOURS, ROWS, declared
from offbeat import Client, FirstRunPolicy
from offbeat.runner import RunMessage, RunState
from simulation import HOUR, MINUTE, START, Simulation


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


def test_a_run_waits_no_longer_than_the_queue_although_it_is_published_again():
    simulation = Simulation(declared(ids=[7], republish_after=10 * MINUTE))
    published = []

    def copies(message: RunMessage) -> int:
        published.append(message.publication)
        simulation.put(simulation.now + 30 * MINUTE, message)
        return 0

    simulation.copies = copies
    simulation.run(8 * HOUR)
    assert published == [1, 2]
    (execution,) = simulation.executions
    assert execution.time - execution.scheduled_time <= 31 * MINUTE


def test_the_message_of_a_run_that_was_done_is_obsolete():
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


@pytest.mark.parametrize("policy", FirstRunPolicy)
def test_a_new_row_runs_once_in_its_first_cycle_or_waits_for_the_next(policy, sidecar):
    ids = list(range(50))
    span = 10 * MINUTE if policy is FirstRunPolicy.NOW_SMEARED else None
    declaration = declared(ids=lambda: ids, first_run=policy, first_run_span=span)
    simulation = Simulation(declaration)
    if policy is FirstRunPolicy.NOW_SMEARED:  # only a sidecar decides this
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


def test_ended_runs_are_pruned_after_two_cycles():
    simulation = Simulation(declared())
    simulation.run(30 * HOUR)
    pruned = simulation.runners[0].prune()
    assert pruned > ROWS
    assert sum(simulation.states().values()) >= 2 * ROWS - 20
    simulation.run(HOUR)
    runs = Counter((one.row_id, one.scheduled_time) for one in simulation.executions)
    assert set(runs.values()) == {1}
