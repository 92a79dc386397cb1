"""Management commands, and their output."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from io import StringIO
from typing import Any

import pytest


def manage(*arguments: Any, **options: Any) -> str:
    from django.core.management import call_command

    printed = StringIO()
    call_command(*arguments, stdout=printed, **options)
    return printed.getvalue()


def filled() -> Any:
    from crm.models import Account

    Account.objects.bulk_create([Account() for _ in range(200)])
    return Account.objects.all()


@pytest.fixture
def rows(alias: str) -> Any:
    """Return accounts in the first database, wherever the runs are."""
    yield filled()
    from crm.models import Account

    Account.objects.all().delete()


def test_a_pause_holds_before_the_first_tick_and_after_it(rows: Any) -> None:
    assert "balance is paused" in manage("offbeat_pause", "balance")
    assert "balance: paused" in manage("offbeat_due")
    assert "balance is resumed" in manage("offbeat_resume", "balance")
    assert "runs are planned" in manage("offbeat_due")


def test_a_plan_is_drawn_in_ascii(rows: Any) -> None:
    drawn = manage("offbeat_plan", hours=8)
    drawn.encode("ascii")
    assert "balance: 200 runs" in drawn
    assert "transactions: 200 runs" in drawn
    assert sum(line.strip().startswith("20") for line in drawn.splitlines()) == 16


def test_a_dry_run_plans_nothing(rows: Any, alias: str) -> None:
    from offbeat.django.models import OffbeatRun

    assert "runs would be planned" in manage("offbeat_due", dry_run=True)
    assert not OffbeatRun.objects.using(alias).exists()


def test_a_row_runs_now(rows: Any, alias: str) -> None:
    from django.core.management import CommandError
    from offbeat.django.models import OffbeatRun

    row = rows.first()
    assert "starts with the next tick" in manage("offbeat_run_now", "balance", str(row.pk))
    (run,) = OffbeatRun.objects.using(alias).all()
    assert (run.row_id, run.state) == (str(row.pk), "planned")
    for name, row_id, message in (
        ("other", str(row.pk), "not declared: there are balance, transactions"),
        ("balance", "x", "is no ID"),
        ("balance", "0" * 32, "not among the rows"),
    ):
        with pytest.raises(CommandError, match=message):
            manage("offbeat_run_now", name, row_id)


def test_a_cutover_needs_another_schedule(rows: Any) -> None:
    from django.core.management import CommandError

    with pytest.raises(CommandError, match="declaration runs by it"):
        manage("offbeat_migrate", "balance", cutover="2100-01-01T00:00:00Z")
    with pytest.raises(CommandError, match="is no time"):
        manage("offbeat_migrate", "balance", cutover="tomorrow")


def test_pruning_keeps_two_cycles(rows: Any, alias: str) -> None:
    from offbeat.django import get_store
    from offbeat.django.models import OffbeatRun
    from offbeat.runner import RunState, StoredRun

    now = get_store().now()
    for number, hours in enumerate((1, 15, 17, 100)):
        at = now - timedelta(hours=hours)
        OffbeatRun.of(
            StoredRun(f"{number:032}", "balance", "", "1", "balance", at, at, RunState.DONE)
        ).save(using=alias)
    assert "2 runs are deleted" in manage("offbeat_prune")


@pytest.mark.parametrize("thread_count", [4])
def test_two_processes_run_each_row_once(alias: str, thread_count: int) -> None:
    """Cases 1 and 3: two runners of one store, a cycle of 5 s."""
    import threading
    from collections import Counter

    from django.db import close_old_connections, connections
    from offbeat import Schedule
    from offbeat.django import DjangoStore, get_client
    from offbeat.runner import Declaration, IdList, Runner, ThreadQueue

    cycle = timedelta(seconds=5)
    ids = list(range(40))
    declaration = Declaration("each", Schedule(cycle), IdList(ids))
    began: list[tuple[int, datetime]] = []
    stop = threading.Event()

    def job(row_id: int) -> None:
        began.append((row_id, datetime.now(timezone.utc)))
        connections.close_all()

    def process() -> None:
        store = DjangoStore(alias)
        queue = ThreadQueue(store, {declaration: job}, thread_count=thread_count)
        runner = Runner(
            [declaration], store, queue, client=get_client(), interval=timedelta(seconds=1)
        )
        while not stop.is_set():
            runner.run_once()
            stop.wait(1)
        queue.close()
        close_old_connections()
        connections.close_all()

    threads = [threading.Thread(target=process) for _ in range(2)]
    started = datetime.now(timezone.utc)
    for thread in threads:
        thread.start()
    stop.wait(11)
    stop.set()
    for thread in threads:
        thread.join()
    runs = [
        (row_id, get_client().assign_slot(declaration.schedule, row_id, from_time=at - cycle))
        for row_id, at in began
    ]
    assert Counter(Counter(row_id for row_id, _ in began).values()).keys() <= {2, 3}
    for (_, at), (_, assigned) in zip(began, runs):
        late = (at - assigned.next_run.start_time) % cycle
        assert late < timedelta(seconds=2), (at, assigned)
    times: dict[int, list[datetime]] = {}
    for row_id, at in sorted(began, key=lambda one: one[1]):
        if at > started + timedelta(seconds=3):  # runs of the first tick are late
            times.setdefault(row_id, []).append(at)
    gaps = [later - earlier for each in times.values() for earlier, later in zip(each, each[1:])]
    assert min(gaps) > cycle - timedelta(seconds=2)
