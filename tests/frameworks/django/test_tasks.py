"""Tasks of django.tasks: those of declarations, and those that wait for an ID's run."""

from __future__ import annotations

import importlib
import signal
import sys
import uuid
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import Any
from unittest import mock

import pytest

pytest.importorskip("django.tasks")

BY_SLOT = {"wraps": "default", "schedule": "bank", "kind": "balance"}


def setting(backend: str = "dummy.DummyBackend", **options: Any) -> dict[str, Any]:
    return {
        "default": {"BACKEND": f"django.tasks.backends.{backend}"},
        "by_slot": {
            "BACKEND": "offbeat.django.tasks.OffbeatBackend",
            "OPTIONS": {**BY_SLOT, **options},
        },
    }


@pytest.fixture
def later(databases: None) -> Iterator[Any]:
    """Return the module of the tasks, which no other test sees declared."""
    from django.test import override_settings
    from offbeat.django import jobs

    sys.modules.pop("crm.later", None)
    with mock.patch.dict(jobs._recurring, clear=True), override_settings(TASKS=setting()):
        yield importlib.import_module("crm.later")


@pytest.fixture
def account_id(later: Any, alias: str) -> Iterator[uuid.UUID]:
    """Return the ID of the only account; runs are in the database of ``alias``."""
    account_id = next(found for found in iter(uuid.uuid4, None) if not runs_soon(found))
    later.Account.objects.bulk_create([later.Account(pk=account_id)])
    yield account_id
    later.Account.objects.all().delete()


def runs_soon(row_id: uuid.UUID) -> bool:
    """Say whether the schedule itself has a run for an account while a test runs."""
    from offbeat.django import get_client, get_schedule

    soon = datetime.now(timezone.utc) + timedelta(minutes=10)
    next_runs = [
        get_client().assign_slot(get_schedule("bank"), row_id, kind=kind).next_run
        for kind in ("balance", "transactions")
    ]
    return min(run.start_time for run in next_runs) < soon


def enqueued() -> list[Any]:
    from django.tasks import default_task_backend

    return default_task_backend.results


def run_now(name: str, row_id: Any, delay: timedelta = timedelta(0)) -> Any:
    """Enqueue a task for a row that runs now, or after the delay."""
    from offbeat.django import DjangoStore, jobs

    store_now = DjangoStore.now
    with mock.patch.object(DjangoStore, "now", lambda store: store_now(store) + delay):
        jobs.run_now(name, row_id)
    tick()
    (result,) = enqueued()
    return result


def tick() -> None:
    from django.core.management import call_command

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    call_command("offbeat_run", seconds=0.1, verbosity=0)
    for number, handler in before.items():
        signal.signal(number, handler)


def work(result: Any, *context: Any) -> Any:
    """Work as a worker does, with the task's path, and its arguments from JSON."""
    from django.utils.module_loading import import_string

    task = import_string(result.task.module_path)
    return task.call(*context, *result.args, **result.kwargs)


def state() -> str:
    from django.conf import settings
    from offbeat.django.models import OffbeatRun

    return OffbeatRun.objects.using(settings.OFFBEAT["USING"]).get().state


def test_a_run_is_enqueued_and_done_once(later: Any, account_id: uuid.UUID, alias: str) -> None:
    result = run_now("later", account_id)
    assert state() == "published"
    assert work(result) == f"synced {account_id}"
    assert later.done == [account_id]
    assert state() == "done"
    assert work(result) is None  # as by a worker that was killed before it recorded the end
    assert later.done == [account_id]


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_the_run_of_a_killed_worker_is_enqueued_again(
    order: list[int], later: Any, account_id: uuid.UUID
) -> None:
    from offbeat.django import get_store

    result = run_now("later", account_id)
    message = result.kwargs["offbeat_run"]
    get_store().claim(message["run_id"], message["publication"], timedelta(0))
    assert state() == "claimed"
    tick()
    # The first of its messages does the job, and the other one does nothing.
    sooner, later_on = (enqueued()[at] for at in order)
    assert work(sooner) == f"synced {account_id}"
    assert work(later_on) is None
    assert (state(), later.done) == ("done", [account_id])


def test_a_task_with_a_context_gets_it_first(later: Any, account_id: uuid.UUID) -> None:
    result = run_now("in_context", account_id)
    assert result.task.priority == 7
    work(result, "context")
    assert later.done == [("context", account_id)]


def test_a_task_that_raises_has_failed(later: Any, account_id: uuid.UUID) -> None:
    later.failing.add(account_id)
    result = run_now("later", account_id)
    with pytest.raises(RuntimeError, match="the bank is closed"):
        work(result)
    assert state() == "failed"


def test_a_row_that_left_the_scope_ends_its_run(later: Any, account_id: uuid.UUID) -> None:
    result = run_now("later", account_id)
    later.Account.objects.update(active=False)
    assert work(result) is None
    assert later.done == []
    assert state() == "skipped"


def test_a_message_before_its_time_comes_again(later: Any, account_id: uuid.UUID) -> None:
    """The run starts on time, even if the worker's clock is wrong."""
    started = datetime.now(timezone.utc)
    result = run_now("later", account_id, delay=timedelta(seconds=20))
    assert result.task.run_after - started > timedelta(seconds=19)
    assert work(result) is None
    assert (state(), later.done) == ("published", [])
    first, again = enqueued()
    assert again.kwargs == first.kwargs
    assert abs(again.task.run_after - first.task.run_after) < timedelta(seconds=2)


def test_a_recurring_task_may_be_called_by_hand(later: Any) -> None:
    assert later.sync.call("x") == "synced x"
    later.sync.enqueue("y")
    assert enqueued()[0].args == ["y"]
    assert later.done == ["x"]


def test_a_function_that_is_no_task_is_refused(later: Any) -> None:
    from offbeat.django.tasks import recurring

    with pytest.raises(TypeError, match="put @recurring above @task"):
        recurring("bank", kind="balance", rows=later.Account)(lambda row_id: None)


def test_a_backend_that_cannot_defer_is_warned_of(later: Any) -> None:
    from django.core import checks
    from django.test import override_settings

    def warnings() -> list[str]:
        found = checks.run_checks()
        return sorted(one.msg for one in found if one.id == "offbeat.W003")

    assert warnings() == []
    with override_settings(TASKS=setting("immediate.ImmediateBackend")):
        assert [message.split(":")[0] for message in warnings()] == [
            "TASKS['by_slot']",
            "in_context",
            "later",
        ]


@pytest.mark.parametrize("row_id", [uuid.UUID(int=7), 7, "seven"])
def test_a_task_waits_for_the_next_run_of_its_id(later: Any, row_id: Any) -> None:
    from asgiref.sync import async_to_sync
    from offbeat.django import get_client, get_schedule

    remind = later.remind.using(backend="by_slot", queue_name="default")
    in_context = later.remind_in_context.using(backend="by_slot", priority=3)
    remind.enqueue(row_id, text="pay")
    remind.enqueue(text="pay", account_id=row_id)
    in_context.enqueue(account_id=row_id)
    async_to_sync(remind.aenqueue)(row_id)
    assignment = get_client().assign_slot(get_schedule("bank"), row_id, kind="balance")
    given = row_id if isinstance(row_id, (int, str)) else str(row_id)
    results = enqueued()
    assert {one.task.run_after for one in results} == {assignment.next_run.start_time}
    assert {one.backend for one in results} == {"default"}
    assert [(one.args, one.kwargs) for one in results] == [
        ([given], {"text": "pay"}),
        ([], {"account_id": given, "text": "pay"}),
        ([], {"account_id": given}),
        ([given], {}),
    ]
    assert results[2].task.priority == 3


def test_a_task_without_an_id_does_not_wait(later: Any) -> None:
    later.clean_up.using(backend="by_slot").enqueue()
    for first in (None, True, 1.5, [7]):
        later.remind.using(backend="by_slot").enqueue(first)
    assert [one.task.run_after for one in enqueued()] == [None] * 5


def test_a_time_that_is_given_holds(later: Any) -> None:
    at = datetime(2100, 1, 1, tzinfo=timezone.utc)
    later.remind.using(backend="by_slot", run_after=at).enqueue(7)
    assert [one.task.run_after for one in enqueued()] == [at]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"schedule": "sank"}, "there is no schedule 'sank' in SCHEDULES, which has bank"),
        ({"kind": "mail"}, "must be a kind of the schedule: balance, transactions"),
    ],
)
def test_a_wrong_schedule_is_found_by_the_check(
    later: Any, options: dict[str, str], message: str
) -> None:
    from django.core import checks
    from django.test import override_settings

    assert [one for one in checks.run_checks() if one.id == "offbeat.E006"] == []
    with override_settings(TASKS=setting(**options)):
        (error,) = [one for one in checks.run_checks() if one.id == "offbeat.E006"]
    assert message in error.msg
    assert "by_slot" in error.msg


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"wraps": "by_slot"}, "the alias of another backend"),
        ({"wraps": "nowhere"}, "nowhere"),
        ({"every": "8h"}, "may have 'kind', and has .*'every'"),
    ],
)
def test_wrong_options_are_refused(later: Any, options: dict[str, str], message: str) -> None:
    from django.tasks import task_backends
    from django.tasks.exceptions import InvalidTaskBackend
    from django.test import override_settings

    with (
        override_settings(TASKS=setting(**options)),
        pytest.raises(InvalidTaskBackend, match=message),
    ):
        task_backends["by_slot"]
