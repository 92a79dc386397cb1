"""The rows of a window or slot by SQL equal the client's decisions for each row."""

from __future__ import annotations

import time
from collections.abc import Iterable
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

START = datetime(2026, 1, 1, tzinfo=timezone.utc)
END = START + timedelta(hours=1)
WINDOW = {"kind": "balance", "start": START, "end": END}


def filled(name: str, alias: str, count: int = 300) -> Any:
    from crm import models

    model: Any = getattr(models, name)
    values: Iterable[dict[str, Any]] = ({} for _ in range(count))
    if name == "Account":
        values = ({"active": number % 2 == 0} for number in range(count))
    if name == "Customer":
        values = ({"code": f"Müller & 50 % {number}"} for number in range(count))
    rows = model.objects.using(alias)
    rows.bulk_create([model(**fields) for fields in values])
    return rows


def decided(ids: Iterable[Any], schedule: Any = "bank") -> set[Any]:
    """Return the IDs of the window, one by one."""
    from offbeat.django import get_client, get_schedule

    due = get_client().list_due_runs(
        get_schedule(schedule),
        list(ids),
        watermark=START,
        now_time=START,
        look_ahead=END - START,
        kind=WINDOW["kind"] if schedule == "bank" else "",
    )
    return {run.id for run in due}


def declaration(rows: Any, schedule: Any = "bank") -> Any:
    from offbeat.django import get_schedule
    from offbeat.runner import Declaration

    kind = "balance" if schedule == "bank" else ""
    return Declaration("job", get_schedule(schedule), rows, kind=kind)


def runner(rows: Any, schedule: Any = "bank") -> Any:
    from offbeat.django import get_client, get_store
    from offbeat.runner import Runner

    class Queue:
        def publish(self, runs: Any) -> None:
            pass

    return Runner([declaration(rows, schedule)], get_store(), Queue(), client=get_client())


def planned_in(rows: Any, schedule: Any = "bank") -> set[str]:
    """Plan an hour, and return whose runs that are."""
    from offbeat.django.models import OffbeatRun
    from offbeat.runner.planning import Planner

    chosen = runner(rows, schedule)
    chosen.store.now = lambda: START
    Planner(chosen.client, chosen.store, END - START).plan(declaration(rows, schedule))
    return set(OffbeatRun.objects.using(chosen.store.using).values_list("row_id", flat=True))


def has_column(alias: str, name: str) -> bool:
    """Say whether a database can select the rows of a model by their hash."""
    if alias == "default":
        return name == "Device"
    return alias == "postgresql" or name not in ("Ticket", "Bare")


MODELS = ("Account", "Ticket", "Customer", "Bare", "Device")


@pytest.mark.parametrize("name", MODELS)
def test_windows_and_slots_are_what_the_client_decides(alias: str, name: str) -> None:
    from django.core.exceptions import ImproperlyConfigured

    field = "code" if name == "Customer" else "pk"
    rows = filled(name, alias)
    ids = set(rows.values_list(field, flat=True))
    if not has_column(alias, name):
        with pytest.raises(ImproperlyConfigured, match="OffbeatIndex"):
            rows.due("bank", field=field, **WINDOW)
        return
    soon = decided(ids)
    assert 0 < len(soon) < len(ids)
    assert set(rows.due("bank", field=field, **WINDOW).values_list(field, flat=True)) == soon
    slots = [rows.in_slot("bank", index, kind="balance", field=field) for index in range(30)]
    assert sorted(pk for slot in slots for pk in slot.values_list(field, flat=True)) == sorted(ids)


@pytest.mark.parametrize("name", MODELS)
def test_a_plan_has_what_the_client_decides_with_a_column_and_without(
    alias: str, name: str
) -> None:
    from offbeat.django import QuerySetRows

    field = "code" if name == "Customer" else "pk"
    rows = filled(name, alias)
    source = QuerySetRows(lambda: rows.all(), field)
    assert (source.sql_target() is not None) == has_column(alias, name)
    soon = decided(rows.values_list(field, flat=True))
    assert planned_in(source) == {str(row_id) for row_id in soon}


@pytest.mark.parametrize("name", ["Account", "Device"])
def test_another_salt_than_that_of_the_column_selects_no_wrong_rows(alias: str, name: str) -> None:
    from django.core.exceptions import ImproperlyConfigured
    from offbeat import Schedule
    from offbeat.django import QuerySetRows

    schedule = Schedule(timedelta(hours=8), salt="another")
    rows = filled(name, alias)
    soon = decided(rows.values_list("pk", flat=True), schedule)
    assert planned_in(QuerySetRows(lambda: rows.all()), schedule) == set(map(str, soon))
    if alias == "postgresql":
        due = rows.due(schedule, start=START, end=END)
        assert set(due.values_list("pk", flat=True)) == soon
    else:
        with pytest.raises(ImproperlyConfigured, match=r"another salt|OffbeatHashField"):
            rows.due(schedule, start=START, end=END)


def test_rows_without_a_hash_are_planned(alias: str) -> None:
    from offbeat.django import QuerySetRows

    rows = filled("Device", alias)
    rows.update(offbeat_hash=None)  # as the migration that adds the field leaves them
    source = QuerySetRows(lambda: rows.all())
    soon = {str(row_id) for row_id in decided(rows.values_list("pk", flat=True))}
    assert planned_in(source) == soon
    for row in rows.all():
        row.save(update_fields=["offbeat_hash"])
    assert not rows.filter(offbeat_hash=None).exists()
    assert source.sql_target() is not None


def test_conditions_compose_with_the_scope_and_in_subqueries(alias: str) -> None:
    from crm.models import Account, Transfer
    from django.db.models import Exists, OuterRef, Q

    if alias == "default":
        return
    rows = filled("Account", alias)
    Transfer.objects.using(alias).bulk_create([Transfer(account=row) for row in rows.all()])
    due = rows.due("bank", **WINDOW)
    soon = decided(rows.values_list("pk", flat=True))
    active = set(rows.filter(active=True).values_list("pk", flat=True))

    def ids(found: Any) -> set[Any]:
        return set(found.values_list("pk", flat=True))

    assert (
        ids(due.filter(active=True))
        == ids(
            rows.filter(active=True) & due.all()  # which Django 4.2 changes
        )
        == soon & active
    )
    assert ids(due | rows.filter(active=True)) == soon | active
    assert ids(rows.exclude(pk__in=due)) == ids(rows.all()) - soon
    assert ids(rows.filter(Exists(due.filter(pk=OuterRef("pk"))))) == soon
    assert ids(rows.filter(~Q(Exists(due.filter(pk=OuterRef("pk")))))) == ids(rows.all()) - soon
    transfers = Transfer.objects.using(alias).filter(account__in=due)
    assert set(transfers.values_list("account", flat=True)) == soon
    assert ids(Account.objects.using(alias).filter(pk__in=transfers.values("account"))) == soon
    assert due.count() == len(soon)
    assert due.update(active=False) == len(soon)


FILL = {
    "postgresql": "INSERT INTO crm_account SELECT gen_random_uuid(), true "
    "FROM generate_series(1, 200000)",
    "mariadb": "INSERT INTO crm_account (id, active) "
    "SELECT REPLACE(UUID(), '-', ''), 1 FROM seq_1_to_200000",
}


def test_a_steady_tick_reads_only_what_is_due_of_200_000_rows(alias: str) -> None:
    from crm.models import Account
    from django.db import connections
    from django.test.utils import CaptureQueriesContext
    from offbeat.django import QuerySetRows

    if alias == "default":
        return
    connection = connections[alias]
    with connection.cursor() as cursor:
        cursor.execute(FILL[alias])
        cursor.execute("ANALYZE TABLE crm_account" if alias == "mariadb" else "ANALYZE crm_account")
    rows = Account.objects.using(alias)
    chosen = runner(QuerySetRows(lambda: rows.filter(active=True)))
    clock = [START]
    chosen.store.now = lambda: clock[0]
    chosen.tick()
    for _ in range(3):
        clock[0] += timedelta(minutes=1)
        started = time.monotonic()
        with CaptureQueriesContext(connection) as queries:
            tick = chosen.tick()
        assert time.monotonic() - started < 1
        assert 250 < tick.planned < 600  # a minute of 8 hours
        selects = [one["sql"] for one in queries if "crm_account" in one["sql"]]
        assert selects
        assert len(queries) < 30
    with connection.cursor() as cursor:
        for select in set(selects):
            cursor.execute(f"EXPLAIN {select}")
            plan = " ".join(map(str, cursor.fetchall()))
            assert "offbeat_hash_" in plan, plan
            if alias == "mariadb":
                assert "range" in plan, plan
            else:
                assert "Index" in plan, plan
    rows.all()._raw_delete(alias)


def test_the_hash_of_sqlite_is_read_by_its_index(alias: str) -> None:
    from django.db import connections

    if alias != "default":
        return
    rows = filled("Device", alias)
    minute = {**WINDOW, "end": START + timedelta(minutes=1)}
    plan = rows.due("bank", **minute).explain()
    assert "USING INDEX crm_device_offbeat_hash" in plan, plan
    assert connections[alias].vendor == "sqlite"
