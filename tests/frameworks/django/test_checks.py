"""``manage.py check`` reports configurations that cannot work."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def declare(alias: str) -> Any:
    """Declare a job for a test."""
    from offbeat.django import jobs

    before = dict(jobs._recurring)

    def add(schedule: Any, **options: Any) -> None:
        jobs.recurring(schedule, name="tested", **options)(print)

    yield add
    jobs._recurring.clear()
    jobs._recurring.update(before)


def found(*databases: str) -> dict[str, str]:
    from django.core.checks import run_checks

    return {one.id: str(one) for one in run_checks(databases=databases) if "offbeat" in one.id}


def setting(**changes: Any) -> Any:
    from django.conf import settings
    from django.test import override_settings

    return override_settings(OFFBEAT={**settings.OFFBEAT, **changes})


def test_nothing_is_wrong(alias: str) -> None:
    assert found(alias) == {}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"MOOD": 1}, "'MOOD' is not known"),
        ({"MODE": "loca"}, "mode"),
        ({"INTERVAL": "soon"}, "INTERVAL is 'soon': it must be a timedelta, seconds, or text"),
        ({"USING": "other"}, "USING is 'other'"),
    ],
)
def test_settings(alias: str, changes: dict[str, Any], message: str) -> None:
    with setting(**changes):
        assert message in found()["offbeat.E002"]


def test_time_zones_are_needed(alias: str) -> None:
    from django.test import override_settings

    with override_settings(USE_TZ=False):
        assert "USE_TZ = True" in found()["offbeat.E001"]


@pytest.mark.parametrize(
    ("schedule", "kind", "message"),
    [
        ("shop", "", "there is no schedule 'shop' in SCHEDULES, which has bank"),
        ("bank", "fees", "kind"),
        ("bank", "", "must be a kind of the schedule: balance, transactions"),
    ],
)
def test_unknown_schedules_and_kinds(declare: Any, schedule: str, kind: str, message: str) -> None:
    from crm.models import Account

    declare(schedule, rows=Account, kind=kind)
    assert message in found()["offbeat.E003"]


def test_a_schedule_that_needs_a_sidecar(declare: Any) -> None:
    from crm.models import Account

    declare("shop/1", rows=Account)
    assert "tested: a schedule by name needs a sidecar" in found()["offbeat.E004"]
    with setting(MODE="auto"):
        assert "Set ADDRESS" in found()["offbeat.W001"]


def test_an_index_that_is_declared_and_not_made(alias: str) -> None:
    from crm.models import Account
    from django.db import connections

    if alias == "default":
        return
    (index,) = Account._meta.indexes
    with connections[alias].schema_editor() as editor:
        editor.remove_index(Account, index)
    try:
        assert "crm.Account has no index offbeat_hash_" in found(alias)["offbeat.E005"]
    finally:
        with connections[alias].schema_editor() as editor:
            editor.add_index(Account, index)
    assert found(alias) == {}


@pytest.mark.parametrize("name", ["Bare", "Ticket"])
def test_a_model_whose_ticks_read_all_rows(declare: Any, alias: str, name: str) -> None:
    from crm import models

    declare("bank", rows=getattr(models, name), kind="balance")
    warning = found(alias).get("offbeat.W002", "")
    if alias == "default" or (alias, name) == ("postgresql", "Ticket"):
        assert warning == ""
    elif name == "Bare":
        assert "Add an OffbeatIndex" in warning
    else:
        assert "counts the IDs itself" in warning


def test_a_hash_of_ids_that_the_database_counts(alias: str) -> None:
    from crm.models import Device, Ticket
    from offbeat.django import OffbeatHashField

    field = OffbeatHashField()
    field.model, field.name = Ticket, "offbeat_hash"
    assert "offbeat.E006" in {one.id for one in field.check()}
    assert not Device._meta.get_field("offbeat_hash").check()


def test_migrations_are_written(alias: str) -> None:
    from crm.models import Account, Device
    from django.core.management import call_command
    from django.db.migrations.writer import MigrationWriter

    call_command("makemigrations", "offbeat", check_changes=True, dry_run=True, verbosity=0)
    index, imports = MigrationWriter.serialize(Account._meta.indexes[0])
    assert index.startswith("offbeat.django.OffbeatIndex(")
    assert "import offbeat.django" in imports
    field, imports = MigrationWriter.serialize(Device._meta.get_field("offbeat_hash"))
    assert field == "offbeat.django.OffbeatHashField(of='pk', salt='')"
    assert "import offbeat.django" in imports
