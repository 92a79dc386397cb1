"""Named spreads: groups, limits, restarts."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import threading
import time
from datetime import timedelta

import pytest
from conftest import Sidecar, free_port

import offbeat
from offbeat import (
    AsyncClient,
    EmptyReason,
    GroupState,
    SettleAction,
    SettleOutcome,
    SpreadState,
)
from offbeat.named._handle import Handle

SECOND = timedelta(seconds=1)


def test_a_spread_that_is_lost_as_soon_as_it_is_open_is_opened_again(client, spread, monkeypatch):
    """As when the service restarts twice in a row."""
    opened, losses = Handle.open, itertools.count(1)

    def open_and_lose(handle, **options):
        description = yield from opened(handle, **options)
        if next(losses) in (1, 2, 5, 6):
            client.named_spread(handle.name, 3, lease_duration=SECOND).discard()
        return description

    monkeypatch.setattr(Handle, "open", open_and_lose)
    assert spread.describe().state == SpreadState.OPEN
    spread.discard()
    assert next(losses) == 4
    assert spread.producer().submit("a", ["0"]).state == GroupState.RECEIVED


@pytest.mark.parametrize("way", ["consumer", "stream"])
def test_who_is_late_to_open_a_spread_leaves_it_closed(client, spread, monkeypatch, way):
    """After a restart a consumer finds the spread unknown; then a producer opens and closes it."""
    opened = Handle.open

    def others_first(handle, **options):
        monkeypatch.setattr(Handle, "open", opened)
        assert spread.close().state == SpreadState.CLOSED
        return (yield from opened(handle, **options))

    monkeypatch.setattr(Handle, "open", others_first)
    late = client.named_spread(spread.name, 3, lease_duration=SECOND)
    consumer = getattr(late, way)("late", patience=5)
    ended = threading.Thread(target=lambda: list(consumer), daemon=True)
    ended.start()
    ended.join(5)
    assert Handle.open is opened
    assert (ended.is_alive(), spread.describe().state) == (False, SpreadState.CLOSED)


def test_jobs_come_spread_and_are_settled(spread):
    producer = spread.producer()
    for name in "abc":
        status = producer.submit(name, [f"{name}{number}" for number in range(2)])
        assert (status.state, status.job_count) == (GroupState.RECEIVED, 2)
    assert producer.unsettled == ["a", "b", "c"]
    with spread.consumer("one", wait=0) as consumer:
        jobs = []
        for job in consumer:
            jobs.append(job.payload.decode())
            job.ack()
            if len(jobs) == 6:
                break
    assert jobs == ["a0", "b0", "c0", "a1", "b1", "c1"]
    settled = producer.wait(timeout=5)
    assert [status.state for status in settled.values()] == [GroupState.SETTLED] * 3
    assert (producer.unsettled, producer.wait()) == ([], {})
    described = spread.describe()
    assert described.counts.settled_job_count == 6
    assert described.certificate.min_gap_turns == 3
    assert described.spec.lease_duration == SECOND


def test_large_groups_go_in_parts(client):
    spread = client.named_spread("large", 1, lease_duration=SECOND)
    producer = spread.producer()
    jobs = [bytes([number % 251]) * 50_000 for number in range(100)]
    assert producer.submit("g", jobs).job_count == 100
    with spread.consumer("one", batch_size=100, wait=1) as consumer:
        for job in itertools.islice(consumer, 100):
            assert job.payload == jobs[job.job_index]
            job.ack()
    assert producer.wait(timeout=5)["g"].settled_job_count == 100
    spread.discard()


def test_refusals(client, spread):
    producer = spread.producer()
    producer.submit("g", ["a"])
    producer.submit("g", ["a"])
    with pytest.raises(offbeat.FailedPrecondition, match="content with which it was submitted"):
        producer.submit("g", ["b"])
    with pytest.raises(offbeat.InvalidArgument, match="not a single one"):
        producer.submit("h", "abc")
    with pytest.raises(offbeat.FailedPrecondition) as differs:
        spread.producer().submit("g", ["b"])
    assert differs.value.reason == "ERROR_REASON_GROUP_DIFFERS"
    assert spread.producer().unsettled == []
    with pytest.raises(offbeat.InvalidArgument, match="job_count"):
        producer.submit("empty", [])
    with pytest.raises(offbeat.InvalidArgument, match=r"jobs\[1\]"):
        producer.submit("odd", ["a", 7])
    assert producer.unsettled == ["g"]
    with pytest.raises(offbeat.FailedPrecondition, match="feeder_count: 4 is refused: must be 3"):
        client.named_spread(spread.name, 4, lease_duration=SECOND).open()
    with pytest.raises(offbeat.DeadlineExceeded):
        producer.wait(timeout=0.3)
    for wait in (21, "1"):
        with pytest.raises(offbeat.InvalidArgument) as caught:
            spread.pull("one", 1, wait=wait)
        assert caught.value.field == "max_wait_duration"
    for count in (0, None):
        with pytest.raises(offbeat.InvalidArgument) as caught:
            spread.pull("one", count)
        assert caught.value.field == "max_pulled_job_count"
    with pytest.raises(offbeat.InvalidArgument, match="window"):
        spread.stream("one", window=0)
    assert spread.name in [described.spread_name for described in client.list_spreads()]


def test_at_a_limit_a_producer_waits(client):
    spread = client.named_spread("full", 1, max_job_count=2)
    impatient = spread.producer(patience=0.2)
    impatient.submit("a", ["a0", "a1"])
    with pytest.raises(offbeat.ResourceExhausted):
        impatient.submit("b", ["b0"])
    jobs = spread.pull("one", 2).jobs
    threading.Timer(0.3, lambda: spread.settle([(job, SettleAction.ACK) for job in jobs])).start()
    spread.producer().submit("c", ["c0"])
    assert spread.describe().counts.group_count == 1
    spread.discard()


def test_a_restart_loses_nothing_and_leases_nothing_twice():
    port = free_port()
    sidecar = Sidecar(f"127.0.0.1:{port}")
    client = offbeat.Client(f"127.0.0.1:{port}")
    spread = client.named_spread("restarted", 2, lease_duration=SECOND)
    producer = spread.producer()
    for number in range(4):
        producer.submit(f"g{number}", [f"{number}-{index}" for index in range(5)])
    consumer = spread.consumer("one", batch_size=4, wait=1)
    held = [next(consumer) for _ in range(3)]
    held[0].ack()
    consumer.flush()
    with pytest.raises(offbeat.DeadlineExceeded):
        producer.wait(timeout=0.5)  # learns that the first job is settled

    os.kill(sidecar.process.pid, signal.SIGKILL)
    sidecar.process.communicate()
    restarted = time.monotonic()
    sidecar = Sidecar(f"127.0.0.1:{port}")
    assert producer.submit("new", ["new"]).state is GroupState.RECEIVED
    described = spread.describe()
    # An attempt to submit "new" may have been lost with the connection; then it is quarantined too.
    assert described.counts.quarantined_group_count in (4, 5)
    assert described.counts.group_count == 5
    held[1].ack()
    assert [outcome for _, outcome in consumer.flush()] == [SettleOutcome.STALE]
    seen = {}
    for job in itertools.islice(consumer, 21):
        if job.epoch == described.epoch:
            assert job.redelivered or job.group_id == "new"
            assert not job.redelivered or time.monotonic() - restarted > 0.9
            seen[job.payload] = seen.get(job.payload, 0) + 1
        job.ack()
    rest = threading.Thread(target=lambda: [job.ack() or consumer.flush() for job in consumer])
    rest.start()
    settled = producer.wait(timeout=20)
    spread.close(wait=5)
    rest.join(10)
    assert set(settled) == {"g0", "g1", "g2", "g3", "new"}
    assert held[0].payload not in seen, "the producer knew that it was settled"
    assert set(seen.values()) == {1}
    client.close()
    assert sidecar.stop() == 0


def test_asyncio():
    async def talk():
        async with AsyncClient() as client:
            spread = client.named_spread("async", 2, lease_duration=SECOND)
            producer = spread.producer()
            for name in "ab":
                await producer.submit(name, [name + "0", name + "1"])
            jobs = []

            async def consume():
                async with spread.consumer("one", wait=1) as consumer:
                    async for job in consumer:
                        assert await job.extend_lease() == job.lease_end_time
                        jobs.append(job.payload)
                        job.ack()

            consuming = asyncio.ensure_future(consume())
            await producer.wait(timeout=10)
            assert (await spread.close(wait=5)).state is SpreadState.CLOSED
            await asyncio.wait_for(consuming, 10)
            assert jobs == [b"a0", b"b0", b"a1", b"b1"]
            assert [one async for one in client.list_spreads() if one.spread_name == "async"]
            assert [letter async for letter in spread.dead_letters()] == []
            await spread.discard()

    asyncio.run(talk())


def test_limits_of_an_open_spread_change(client, spread):
    producer = spread.producer(patience=0.2)
    producer.submit("a", ["a0", "a1"])
    before = spread.describe().spec
    described = spread.update(max_job_count=2, max_attempt_count=1)
    limits = described.spec.limits
    assert (limits.max_job_count, limits.max_attempt_count) == (2, 1)
    assert limits.max_group_count == before.limits.max_group_count
    assert described == spread.describe()
    with pytest.raises(offbeat.ResourceExhausted):
        producer.submit("b", ["b0"])
    # A client with the old limits can still open the spread, and does not change the limits.
    old = client.named_spread(spread.name, 3, lease_duration=SECOND).open()
    assert old.spec.limits == limits
    spread.update(max_job_count=3)
    assert spread.producer().submit("b", ["b0"]).job_count == 1
    with pytest.raises(offbeat.InvalidArgument) as caught:
        spread.update(max_attempt_count=0)
    assert caught.value.field == "limits.max_attempt_count"
    with pytest.raises(offbeat.InvalidArgument) as caught:
        client.named_spread("other", 3, max_byte_count="much").open()
    assert caught.value.field == "spec.limits.max_byte_count"
    assert spread.describe().spec.limits.max_attempt_count == 1


def test_spreads_are_listed_page_by_page(client):
    names = [f"listed-{number:03}" for number in range(105)]
    spreads = [client.named_spread(name, 1) for name in names]
    for spread in spreads:
        spread.open()
    listed = [described.spread_name for described in client.list_spreads()]
    assert [name for name in listed if name in names] == names

    async def ask():
        async with AsyncClient() as other:
            return [described.spread_name async for described in other.list_spreads()]

    assert asyncio.run(ask()) == listed
    for spread in spreads:
        spread.discard()


def test_asyncio_has_the_other_calls_too(client):
    async def talk():
        async with AsyncClient() as other:
            spread = other.named_spread("async-calls", 1, max_attempt_count=1)
            await spread.producer().submit("g", [str(number) for number in range(120)])
            assert (await spread.update(max_job_count=500)).spec.limits.max_job_count == 500
            pulled = await spread.pull("one", 120)
            pairs = [(job, SettleAction.DEAD_LETTER) for job in pulled.jobs]
            assert {result.outcome for result in await spread.settle(pairs)} == {
                SettleOutcome.DEAD_LETTERED
            }
            letters = [letter async for letter in spread.dead_letters()]
            assert len(letters) == 120
            assert await spread.redrive_dead_letters(letters[:2]) == 2
            assert await spread.delete_dead_letters(spread.dead_letters()) == 118
            async with spread.consumer("two", wait=0) as consumer:
                async for job in consumer:
                    job.release(delay=timedelta(hours=1))
                    if job.payload == b"1":
                        break
                assert consumer.empty_reason is None
            assert (await spread.pull("two", 1)).empty_reason is EmptyReason.NO_READY_JOB
            await spread.discard()

    asyncio.run(talk())
