"""The first run of a new row is planned when it is saved, and never prevents the save."""

from __future__ import annotations

import logging
import socket
import uuid
from datetime import timedelta
from typing import Any
from unittest import mock

import pytest


def soon() -> uuid.UUID:
    """Return an ID whose run is in this minute."""
    from offbeat.django import get_client, get_schedule, get_store

    start = get_store().now() + timedelta(seconds=5)
    while True:
        for run in get_client().list_due_runs(
            get_schedule("bank"),
            [uuid.uuid4() for _ in range(2_000)],
            watermark=start,
            now_time=start,
            look_ahead=timedelta(seconds=60),
            kind="balance",
        ):
            return run.id


def planned(alias: str) -> list[Any]:
    from offbeat.django.models import OffbeatRun

    return [(run.declaration, run.row_id) for run in OffbeatRun.objects.using(alias).all()]


@pytest.mark.parametrize("name", ["Account", "OldAccount", "Savings"])
def test_models_and_forms_of_ids(alias: str, name: str) -> None:
    from crm import models

    model: Any = getattr(models, name)
    row_id = soon()
    model.objects.using(alias).create(id=row_id.hex)
    assert planned(alias) == [("balance", str(row_id))]


def test_a_row_outside_the_scope_has_no_run(alias: str) -> None:
    from crm.models import Account

    Account.objects.using(alias).create(id=soon(), active=False)
    assert planned(alias) == []


def test_the_run_is_part_of_the_transaction(alias: str) -> None:
    from crm.models import Account
    from django.db import transaction

    with transaction.atomic(using=alias):
        Account.objects.using(alias).create(id=soon())
        assert len(planned(alias)) == 1
        transaction.set_rollback(True, using=alias)
    assert planned(alias) == []


def test_the_tick_plans_the_same_run_once(alias: str) -> None:
    from crm.models import Account
    from offbeat.django import QuerySetRows, get_client, get_schedule, get_store, jobs
    from offbeat.runner import Declaration, Runner

    Account.objects.using(alias).create(id=soon())
    before = planned(alias)
    rows = QuerySetRows(lambda: Account.objects.using(alias))
    declaration = Declaration("balance", get_schedule("bank"), rows, kind="balance")
    runner = Runner([declaration], get_store(), jobs.NoPublisher(), client=get_client())
    assert runner.plan(declaration) == 1
    assert planned(alias) == before


def test_a_table_that_is_away_keeps_no_row_from_being_saved(
    alias: str, caplog: pytest.LogCaptureFixture
) -> None:
    from crm.models import Account
    from django.db import connections, transaction

    row_id = soon()
    with connections[alias].cursor() as cursor:
        cursor.execute("ALTER TABLE offbeat_run RENAME TO offbeat_away")
    try:
        with caplog.at_level(logging.ERROR), transaction.atomic(using=alias):
            Account.objects.using(alias).create(id=row_id)
    finally:
        with connections[alias].cursor() as cursor:
            cursor.execute("ALTER TABLE offbeat_away RENAME TO offbeat_run")
    assert Account.objects.using(alias).filter(pk=row_id).exists()
    assert "is not planned" in caplog.text


@pytest.mark.parametrize("mode", ["auto", "remote"])
def test_a_save_asks_no_sidecar(alias: str, mode: str) -> None:
    from crm.models import Account
    from django.conf import settings
    from django.test import override_settings
    from offbeat import CalendarCycle, CalendarUnit, Schedule
    from offbeat.django import jobs
    from offbeat.django.signals import _jobs_by_model

    monthly = Schedule(calendar=CalendarCycle(CalendarUnit.MONTH, "Europe/Berlin"))
    row_id = soon()
    with socket.create_server(("127.0.0.1", 0)) as frozen:
        frozen.settimeout(0.1)
        address = f"127.0.0.1:{frozen.getsockname()[1]}"
        offbeat = {**settings.OFFBEAT, "MODE": mode, "ADDRESS": address}
        with override_settings(OFFBEAT=offbeat), mock.patch.dict(jobs._recurring):
            jobs.recurring(monthly, rows=Account, name="monthly")(print)
            _jobs_by_model.cache_clear()
            Account.objects.using(alias).create(id=row_id)
        with pytest.raises(TimeoutError):
            frozen.accept()
    _jobs_by_model.cache_clear()
    assert planned(alias) == [("balance", str(row_id))]
