"""The asyncio client gives the same answers, and makes calls concurrently."""

from __future__ import annotations

import asyncio
import inspect
import os
import signal
import socket
import time
from datetime import datetime, timedelta, timezone

import pytest
from conftest import Sidecar, free_port

import offbeat
from offbeat import AsyncClient, Client, Placement, Schedule

EIGHT_HOURS = Schedule(timedelta(hours=8))
NOON = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
COLUMN = offbeat.SqlTarget(
    offbeat.SqlDialect.SQLITE, "account", "hash", offbeat.SqlColumnType.HASH_DIGITS
)


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, 30))


def surface(client: type) -> dict[str, list[str]]:
    return {
        name: list(inspect.signature(method).parameters)
        for name, method in inspect.getmembers(client, inspect.isfunction)
        if not name.startswith("_")
    }


def test_both_clients_have_the_same_methods_and_parameters():
    assert surface(AsyncClient) == surface(Client)


def test_both_clients_have_the_same_answers():
    calls = [
        lambda client: client.describe_schedule(EIGHT_HOURS, at_time=NOON, population=1_000),
        lambda client: client.list_slots(EIGHT_HOURS, start_time=NOON, sql_target=COLUMN),
        lambda client: client.window_predicate(
            EIGHT_HOURS, COLUMN, start_time=NOON, end_time=NOON + timedelta(minutes=1)
        ),
        lambda client: client.assign_slot(EIGHT_HOURS, "acme", from_time=NOON, next_run_count=3),
        lambda client: client.assign_slots(EIGHT_HOURS, range(70_000), from_time=NOON),
        lambda client: client.reciprocal_slots(EIGHT_HOURS, kind_count=3),
    ]

    async def answers():
        async with AsyncClient() as client:
            return await asyncio.gather(*[call(client) for call in calls])

    with Client() as client:
        assert run(answers()) == [call(client) for call in calls]


def test_streams_of_both_sorts_of_iterables():
    async def later(ids):
        for value in ids:
            if value % 5_000 == 0:
                await asyncio.sleep(0)
            yield value

    async def rows(ids):
        async with AsyncClient() as client:
            stream = client.stream_slot_assignments(EIGHT_HOURS, ids, from_time=NOON)
            return [
                (answer.first_id_index, list(answer.cycle_offset_ticks)) async for answer in stream
            ]

    with Client() as client:
        expected = [
            (answer.first_id_index, list(answer.cycle_offset_ticks))
            for answer in client.stream_slot_assignments(EIGHT_HOURS, range(20_000), from_time=NOON)
        ]
    assert len(expected) == 3
    assert run(rows(range(20_000))) == expected
    assert run(rows(later(range(20_000)))) == expected


def test_batches_of_asynchronous_iterables():
    async def ids():
        for value in range(10):
            yield value

    async def batch():
        async with AsyncClient() as client:
            return await client.assign_slots(EIGHT_HOURS, ids(), from_time=NOON)

    assert run(batch()).ids == list(range(10))


def test_a_stream_left_early_is_cancelled():
    async def endless():
        number = 0
        while True:
            yield number
            number += 1

    async def first():
        async with AsyncClient() as client:
            async for answer in client.stream_slot_assignments(EIGHT_HOURS, endless()):
                return len(answer)

    assert run(first()) == 8_192


def test_what_the_ids_raise_reaches_the_caller():
    async def broken():
        yield 1
        raise KeyError("mine")

    async def stream():
        async with AsyncClient() as client:
            return [
                answer async for answer in client.stream_slot_assignments(EIGHT_HOURS, broken())
            ]

    with pytest.raises(KeyError, match="mine"):
        run(stream())


def test_refusals():
    async def refused():
        async with AsyncClient() as client:
            with pytest.raises(offbeat.InvalidArgument) as caught:
                await client.describe_schedule(Schedule(timedelta(hours=8), slot_count=7))
            assert caught.value.field == "schedule.spec.slot_count"
            with pytest.raises(offbeat.InvalidArgument) as caught:
                await client.window_predicate(
                    Schedule(timedelta(hours=8), placement=Placement.TWISTER),
                    COLUMN,
                    end_time=NOON,
                )
            assert caught.value.field == "sql_target.column_type"
            with pytest.raises(offbeat.BadIds) as bad:
                await client.assign_slots(EIGHT_HOURS, ["a", "b" * 2_000])
            assert bad.value.answer.errors[0].id_index == 1

    run(refused())


def test_one_client_on_one_loop_after_another():
    client = AsyncClient()
    first = run(client.assign_slot(EIGHT_HOURS, "acme", from_time=NOON))
    assert run(client.assign_slot(EIGHT_HOURS, "acme", from_time=NOON)) == first


def test_deadlines_and_cancelled_tasks():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"

        async def too_late():
            async with AsyncClient(address, timeout=0.3) as client:
                with pytest.raises(offbeat.DeadlineExceeded):
                    await client.describe_schedule(EIGHT_HOURS)

        async def cancelled():
            async with AsyncClient(address) as client:
                task = asyncio.create_task(client.describe_schedule(EIGHT_HOURS))
                await asyncio.sleep(0.1)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task

        started = time.monotonic()
        run(too_late())
        run(cancelled())
        assert time.monotonic() - started < 5


def test_a_killed_server_is_named_and_its_successor_found():
    address = f"127.0.0.1:{free_port()}"
    sidecar = Sidecar(address)

    async def kill_and_recover():
        async with AsyncClient(address) as client:
            before = await client.assign_slot(EIGHT_HOURS, "acme", from_time=NOON)
            os.kill(sidecar.process.pid, signal.SIGKILL)
            sidecar.process.communicate()
            with pytest.raises(offbeat.Unavailable, match="offbeat serve"):
                await client.assign_slot(EIGHT_HOURS, "acme", from_time=NOON)
            successor = Sidecar(address)
            try:
                deadline = time.monotonic() + 10
                while True:
                    try:
                        after = await client.assign_slot(EIGHT_HOURS, "acme", from_time=NOON)
                        break
                    except offbeat.Unavailable:
                        assert time.monotonic() < deadline
                assert after == before
            finally:
                assert successor.stop() == 0

    run(kill_and_recover())
