"""Calls wait for the successor of a sidecar that restarts, within their deadline."""

from __future__ import annotations

import asyncio
import threading
import time
from datetime import timedelta

import pytest
from conftest import Sidecar, free_port

import offbeat
from offbeat import AsyncClient, Client, Schedule

EIGHT_HOURS = Schedule(timedelta(hours=8))


def ask_until(stop: threading.Event, address: str, id_count: int) -> list[offbeat.OffbeatError]:
    failures = []
    with Client(address) as client:
        while not stop.is_set():
            try:
                client.assign_slots(EIGHT_HOURS, range(id_count))
            except offbeat.OffbeatError as error:
                failures.append(error)
    return failures


def await_until(stop: threading.Event, address: str, id_count: int) -> list[offbeat.OffbeatError]:
    async def ask() -> list[offbeat.OffbeatError]:
        failures = []
        async with AsyncClient(address) as client:
            while not stop.is_set():
                try:
                    await client.assign_slots(EIGHT_HOURS, range(id_count))
                except offbeat.OffbeatError as error:
                    failures.append(error)
        return failures

    return asyncio.run(ask())


@pytest.mark.parametrize("asking", [ask_until, await_until])
@pytest.mark.parametrize(
    ("down_seconds", "id_count", "over_unix"),
    [(0, 1, False), (0, 1, True), (0, 60_000, False), (2, 1, False), (2, 60_000, True)],
)
def test_a_restart_is_not_noticed(tmp_path, asking, down_seconds, id_count, over_unix):
    address = f"unix:{tmp_path}/sock" if over_unix else f"127.0.0.1:{free_port()}"
    before = Sidecar(address)
    stop, failures = threading.Event(), []
    thread = threading.Thread(
        target=lambda: failures.extend(asking(stop, address, id_count)), daemon=True
    )
    thread.start()
    time.sleep(0.3)
    assert before.stop() == 0
    time.sleep(down_seconds)
    after = Sidecar(address)
    time.sleep(0.3)
    stop.set()
    thread.join(20)
    assert after.stop() == 0
    assert failures == []


@pytest.mark.parametrize(("timeout", "at_most"), [(0.45, 2), (2, 3.5), (10, 8)])
def test_patience_ends_with_the_deadline(timeout, at_most):
    client = Client(f"127.0.0.1:{free_port()}", timeout=timeout)
    started = time.monotonic()
    with pytest.raises((offbeat.Unavailable, offbeat.DeadlineExceeded)) as caught:
        client.describe_schedule(EIGHT_HOURS)
    assert time.monotonic() - started < at_most
    if timeout >= 2:
        assert isinstance(caught.value, offbeat.Unavailable)


def test_a_named_spread_is_found_though_it_was_asked_for_too_early():
    """Calls fail at once while no server runs; grpc must then try to connect again."""
    address = f"127.0.0.1:{free_port()}"
    with Client(address) as client:
        spread = client.named_spread("early", 3)
        for _ in range(3):
            with pytest.raises(offbeat.Unavailable):
                spread.describe()
        sidecar = Sidecar(address)
        deadline = time.monotonic() + 10
        while True:
            try:
                described = spread.describe()
                break
            except offbeat.Unavailable:
                assert time.monotonic() < deadline, "it never connects"
                time.sleep(0.1)
        assert described.state == offbeat.SpreadState.OPEN
        spread.producer().submit("a", [b"job"])
        stream = spread.stream("one")
        next(stream).ack()
        stream.close()
    assert sidecar.stop() == 0
