"""Any beat sends the tick: Celery's, django-celery-beat, RedBeat; two at once, one killed."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timezone

import pytest
from harness import Bank, rows_done
from support.databases import PostgreSql
from support.waiting import wait_until, within

#: Ten runs a second: a busy machine, where each takes 70 ms, can keep up.
ROWS = 60
SENT = "Sending due task offbeat.tick"

#: By the schedulers of beats: their arguments, and whether two of them send at once.
BEATS = {
    "celery": ([], True),
    "django_celery_beat": (["-S", "django_celery_beat.schedulers:DatabaseScheduler"], True),
    "redbeat": (["-S", "redbeat.RedBeatScheduler"], False),
}


@pytest.mark.parametrize("scheduler", BEATS)
def test_two_beats_publish_each_run_once(
    bank: Bank, postgresql: PostgreSql, scheduler: str
) -> None:
    arguments, both_send = BEATS[scheduler]
    # No run is published again only because the machine is busy.
    quietly = {"REPUBLISH_AFTER": "600", "RUN_TIME_LIMIT": "600"}
    bank.environment |= {
        "BEAT": scheduler,
        # On a busy machine a tick takes seconds: more of them would pile up before the jobs.
        "INTERVAL": "3s",
        "CYCLE": "12s",
        "SLOT_COUNT": "12",
        **quietly,
    }
    bank.manage("migrate", "-v0")
    bank.shell(f"Account.objects.bulk_create([Account() for _ in range({ROWS})]); print(1)")

    worker = bank.worker("-c", "2")
    first = bank.beat(*arguments)
    wait_until(60, lambda: SENT in bank.log(first))
    second = bank.beat(*arguments)
    if both_send:
        wait_until(60, lambda: SENT in bank.log(second))
    wait_until(120, lambda: rows_done(bank) == 2 * ROWS)
    assert (SENT in bank.log(second)) == both_send

    bank.kill(first)
    killed = datetime.now(timezone.utc)
    sent = bank.log(second).count(SENT)
    wait_until(60, lambda: bank.log(second).count(SENT) > sent)
    wait_until(120, lambda: rows_done(bank, killed) == 2 * ROWS)
    bank.kill(second)

    with postgresql.connect("bank") as connection:

        def states() -> dict[str, tuple[str, int]]:
            query = "SELECT run_id, state, publication FROM offbeat_run"
            return {run: (state, count) for run, state, count in connection.execute(query)}

        def in_flight() -> dict[str, tuple[str, int]]:
            pending = {"published", "claimed"}
            return {run: state for run, state in states().items() if state[0] in pending}

        assert within(60, lambda: not in_flight()), (in_flight(), bank.log(worker)[-4_000:])
        runs = states()
    done = {run for run, state in runs.items() if state[0] == "done"}
    assert {count for state, count in runs.values() if state == "done"} == {1}, "published once"
    executions = Counter(line["run"] for line in bank.ledger())
    assert {executions[run] for run in done} == {1}, "done once"
    assert {state for state, _ in runs.values()} <= {"done", "planned"}
