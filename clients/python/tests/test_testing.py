"""``offbeat.testing``: applications are tested without a sidecar."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap
from datetime import datetime, timedelta, timezone

import pytest
from conftest import free_port

import offbeat
from offbeat import Client, Schedule
from offbeat.testing import Clock, FakeAsyncClient, FakeClient

NEW_YEAR = datetime(2026, 1, 1, tzinfo=timezone.utc)
DAILY = Schedule(timedelta(days=1))


def test_every_question_takes_the_time_of_the_clock(client):
    fake = FakeClient(now=NEW_YEAR)
    for _ in range(3):
        now = fake.clock.now
        wanted = client.assign_slot(DAILY, 7, from_time=now)
        assert fake.assign_slot(DAILY, 7) == wanted
        rows = client.assign_slots(DAILY, range(50), from_time=now)
        assert fake.assign_slots(DAILY, range(50)) == rows
        (streamed,) = fake.stream_slot_assignments(DAILY, range(50))
        assert streamed.next_run_unix_millis == rows.next_run_unix_millis
        described = fake.describe_schedule(DAILY)
        assert described == client.describe_schedule(DAILY, at_time=now)
        assert fake.list_slots(DAILY) == client.list_slots(DAILY, start_time=now)
        watermark = now - timedelta(hours=2)
        due = fake.list_due_runs(DAILY, range(50), watermark=watermark)
        assert due == client.list_due_runs(DAILY, range(50), watermark=watermark, now_time=now)
        assert fake.list_due_runs(DAILY, [], watermark=watermark).next_watermark_time == now
        fake.clock.travel(timedelta(hours=5, milliseconds=1))


def test_time_passes_as_the_test_wants():
    fake = FakeClient(now=NEW_YEAR)
    run = fake.assign_slot(DAILY, "acme").next_run
    fake.clock.now = run.start_time
    assert fake.assign_slot(DAILY, "acme").next_run == run
    fake.clock.travel(timedelta(milliseconds=1))
    assert fake.assign_slot(DAILY, "acme").next_run.cycle_index == run.cycle_index + 1
    fake.clock.travel(-timedelta(days=1))
    assert fake.assign_slot(DAILY, "acme").next_run == run


def test_an_async_client_has_a_clock_too():
    async def ask():
        async with FakeAsyncClient(now=NEW_YEAR) as fake:
            fake.clock.travel(timedelta(days=1))
            rows = await fake.assign_slots(DAILY, ["acme"])
            return (await fake.assign_slot(DAILY, "acme")).next_run, rows[0].next_run

    one, of_batch = asyncio.run(ask())
    wanted = Client(mode="local").assign_slot(DAILY, "acme", from_time=NEW_YEAR + timedelta(days=1))
    assert one == of_batch == wanted.next_run


def test_what_needs_a_sidecar_says_so(monkeypatch):
    monkeypatch.setenv("OFFBEAT_ADDRESS", f"127.0.0.1:{free_port()}")
    monkeypatch.setenv("OFFBEAT_MODE", "remote")
    with pytest.raises(offbeat.NeedsSidecar):
        FakeClient().server_info()


@pytest.mark.parametrize("now", [datetime(2026, 1, 1), 5, "2026-01-01T00:00:00Z"])
def test_a_clock_shows_an_instant(now):
    clock = Clock()
    with pytest.raises(offbeat.InvalidArgument):
        clock.now = now
    with pytest.raises(offbeat.InvalidArgument):
        Clock(now or NEW_YEAR)
    with pytest.raises(offbeat.InvalidArgument):
        clock.travel(5)


def test_pytest_has_fixtures(tmp_path):
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["offbeat.testing.pytest_plugin"]\n')
    (tmp_path / "test_app.py").write_text(
        textwrap.dedent("""
        import asyncio
        from datetime import datetime, timedelta, timezone
        import offbeat

        DAILY = offbeat.Schedule(timedelta(days=1))

        def test_app(offbeat_client, offbeat_clock, offbeat_async_client):
            offbeat_clock.now = datetime(2026, 1, 1, tzinfo=timezone.utc)
            run = offbeat_client.assign_slot(DAILY, "acme").next_run
            assert run.start_time == datetime(2026, 1, 1, 7, 51, 1, tzinfo=timezone.utc)
            assert asyncio.run(offbeat_async_client.assign_slot(DAILY, "acme")).next_run == run
        """)
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


def test_no_test_framework_is_loaded_with_it():
    code = "import sys, offbeat.testing; print([m for m in ('pytest', 'grpc') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr


# Shards


@pytest.mark.parametrize("salt", ["", "tenants"])
@pytest.mark.parametrize("count", [1, 2, 7, 100, 1 << 20])
def test_a_shard_is_the_slot_of_so_many(client, count, salt):
    schedule = Schedule(timedelta(seconds=count), slot_count=count, salt=salt)
    ids = [f"tenant-{number}" for number in range(200)]
    slots = client.assign_slots(schedule, ids, columns=["slot_indexes"]).slot_indexes
    assert [offbeat.shard(name, count, salt=salt) for name in ids] == list(slots)


@pytest.mark.parametrize(
    ("arguments", "named", "field"),
    [
        (("a", 0), {}, "shard_count"),
        (("a", (1 << 20) + 1), {}, "shard_count"),
        (("a", 1.0), {}, "shard_count"),
        (("a", True), {}, "shard_count"),
        (("a", 4), {"salt": "é" * 129}, "salt"),
        (("a", 4), {"salt": 5}, "salt"),
        (("a" * 1_025, 4), {}, "id.text"),
        ((0.5, 4), {}, "id"),
        ((None, 4), {}, "id"),
        (("x", 4), {"id_type": offbeat.IdType.UUID}, "id.uuid"),
    ],
)
def test_a_shard_of_nothing_is_refused(arguments, named, field):
    with pytest.raises(offbeat.InvalidArgument) as caught:
        offbeat.shard(*arguments, **named)
    assert caught.value.field == field
    assert caught.value.allowed
