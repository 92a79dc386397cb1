"""The information that the server gives about itself."""

from __future__ import annotations

import asyncio
import subprocess
from datetime import timedelta

import pytest
from conftest import BINARY

import offbeat


def test_the_server_says_what_it_is():
    with offbeat.Client() as client:
        info = client.server_info()
        calendar = offbeat.CalendarCycle(offbeat.CalendarUnit.DAY, "Europe/Berlin")
        described = client.describe_schedule(offbeat.Schedule(calendar=calendar, slot_count=24))
        with pytest.raises(offbeat.InvalidArgument, match="timeout"):
            client.server_info(timeout=0)
    version = subprocess.run([BINARY, "--version"], check=True, capture_output=True, text=True)
    assert info.version in version.stdout.split()
    assert info.time_zone_database == described.time_zone_database
    # The limits are those of the table that `offbeat limits` prints.
    printed = subprocess.run([BINARY, "limits"], check=True, capture_output=True, text=True)
    rows = [line.strip("|").split("|") for line in printed.stdout.splitlines()]
    table = [[cell.strip() for cell in row] for row in rows if row != [""]][2:]
    assert [[limit.id, limit.name] for limit in info.limits] == [row[:2] for row in table]
    (batch,) = [limit for limit in info.limits if limit.id == "batch_ids"]
    assert (batch.name, batch.unit) == ("IDs in a batch", "IDs")
    assert (batch.min_value, batch.max_value) == (1, 65_536)
    assert batch.note

    async def ask():
        async with offbeat.AsyncClient() as client:
            return await client.server_info(timeout=timedelta(seconds=5))

    assert asyncio.run(ask()) == info
