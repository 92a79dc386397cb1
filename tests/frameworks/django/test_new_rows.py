"""The first run of a new row is planned when it is saved, and nothing keeps it from being saved."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

import pytest


def soon(alias: str) -> uuid.UUID:
    """Return an ID whose run is in this minute."""
    from offbeat.django import get_client, get_schedule, get_store

    now = get_store().now()
    while True:
        ids = [uuid.uuid4() for _ in range(2_000)]
        for run in get_client().list_due_runs(
            get_schedule("bank"),
            ids,
            watermark=now + timedelta(seconds=5),
            kind="balance",
            now_time=now + timedelta(seconds=5),
            look_ahead=timedelta(seconds=60),
        ):
            return run.id


def planned(alias: str) -> list[Any]:
    from offbeat.django.models import OffbeatRun

    return [(run.declaration, run.row_id) for run in OffbeatRun.objects.using(alias).all()]


@pytest.mark.parametrize("name", ["Account", "OldAccount", "Savings"])
def test_models_and_forms_of_ids(alias: str, name: str) -> None:
    from crm import models

    model: Any = getattr(models, name)
    row_id = soon(alias)
    model.objects.using(alias).create(id=row_id.hex)
    assert planned(alias) == [("balance", str(row_id))]
