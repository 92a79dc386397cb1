"""Named spreads: delivery, limits, restarts."""

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
from offbeat import AsyncClient, GroupState, Settlement, SpreadState, Verdict
from offbeat.named._handle import Handle

SECOND = timedelta(seconds=1)
_numbers = itertools.count()


@pytest.fixture(scope="module")
def client():
    with offbeat.Client() as client:
        yield client


@pytest.fixture
def spread(client):
    spread = client.named_spread(f"test-{next(_numbers)}", 3, lease=SECOND)
    yield spread
    spread.discard()


def drawing(spread, kind, ahead=16):
    """A consumer that has so many jobs ahead."""
    if kind == "stream":
        return spread.stream("one", window=ahead)
    return spread.consumer("one", batch_size=ahead, wait=1)


def test_a_spread_that_is_lost_as_soon_as_it_is_open_is_opened_again(client, spread, monkeypatch):
    """As by a service that restarts again at once."""
    opened, losses = Handle.open, itertools.count(1)

    def open_and_lose(handle):
        description = yield from opened(handle)
        if next(losses) in (1, 2, 5, 6):
            client.named_spread(handle.name, 3, lease=SECOND).discard()
        return description

    monkeypatch.setattr(Handle, "open", open_and_lose)
    assert spread.describe().state == SpreadState.OPEN
    spread.discard()
    assert next(losses) == 4
    assert spread.producer().submit("a", ["0"]).state == GroupState.RECEIVED


def test_jobs_come_spread_and_are_settled(spread):
    producer = spread.producer()
    for name in "abc":
        status = producer.submit(name, [f"{name}{number}" for number in range(2)])
        assert (status.state, status.job_count) == (GroupState.RECEIVED, 2)
    assert producer.unsettled == ["a", "b", "c"]
    with spread.consumer("one", wait=0) as consumer:
        jobs = []
        for job in consumer:
            jobs.append(job.job.decode())
            job.ack()
            if len(jobs) == 6:
                break
    assert jobs == ["a0", "b0", "c0", "a1", "b1", "c1"]
    settled = producer.wait(5)
    assert [status.state for status in settled.values()] == [GroupState.SETTLED] * 3
    assert (producer.unsettled, producer.wait()) == ([], {})
    described = spread.describe()
    assert described.settled_job_count == 6
    assert described.certificate.min_gap == 3
    assert described.spec.lease == SECOND


@pytest.mark.parametrize("kind", ["consumer", "stream"])
def test_a_consumer_ends_with_the_spread(client, kind):
    spread = client.named_spread(f"ending-{kind}", 2)
    producer = spread.producer()
    groups = {f"g{number}": [str(index) for index in range(50)] for number in range(20)}
    for name, jobs in groups.items():
        producer.submit(name, jobs)
    taken = []

    def consume(name):
        with getattr(spread, kind)(name) as consumer:
            for job in consumer:
                taken.append((job.group_id, job.index, int(job.job)))
                job.ack()
            assert consumer.stale_count == 0

    consumers = [threading.Thread(target=consume, args=(f"c{n}",)) for n in range(3)]
    for consumer in consumers:
        consumer.start()
    producer.wait(20)
    assert spread.close(wait=10).state is SpreadState.CLOSED
    for consumer in consumers:
        consumer.join(10)
        assert not consumer.is_alive()
    assert sorted(taken) == sorted(
        (name, index, index) for name, jobs in groups.items() for index in range(len(jobs))
    )


@pytest.mark.parametrize("kind", ["consumer", "stream"])
def test_verdicts(spread, kind):
    spread.producer().submit("g", ["ack", "nack", "release", "terminate", "extend"])
    consumer = drawing(spread, kind)
    jobs = dict(zip(["ack", "nack", "release", "terminate", "extend"], consumer))
    jobs["ack"].ack()
    jobs["nack"].nack(timedelta(milliseconds=300))
    jobs["release"].release()
    jobs["terminate"].terminate()
    came = {job.job.decode(): settlement for job, settlement in consumer.flush()}
    assert came == {
        "ack": Settlement.SETTLED,
        "nack": Settlement.RETURNED,
        "release": Settlement.RETURNED,
        "terminate": Settlement.DEAD_LETTERED,
    }
    time.sleep(0.5)
    assert jobs["extend"].extend() is True
    again = {job.job.decode(): job for job in itertools.islice(consumer, 2)}
    assert list(again) == ["release", "nack"]
    assert all(job.redelivered and job.attempt == 2 for job in again.values())
    for job in again.values():
        job.ack()
    assert [settlement for _, settlement in consumer.flush()] == [Settlement.SETTLED] * 2
    assert jobs["extend"].extend() is True
    time.sleep(0.6)
    assert not jobs["extend"].expired
    jobs["extend"].ack()
    assert [settlement for _, settlement in consumer.flush()] == [Settlement.SETTLED]
    letters = list(spread.dead_letters())
    assert [(letter.job, letter.cause) for letter in letters] == [
        (b"terminate", offbeat.DeadLetterCause.TERMINATED)
    ]
    assert spread.delete_dead_letters([letter.number for letter in letters]) == 1
    consumer.close()


@pytest.mark.parametrize("kind", ["consumer", "stream"])
def test_a_late_verdict_is_stale(spread, kind):
    spread.producer().submit("g", ["job"])
    consumer = drawing(spread, kind, 1)
    late = next(consumer)
    time.sleep(1.1)
    assert late.expired
    assert late.extend() is False
    (again,), _ = spread.pull("quick", 1, wait=2)
    late.ack()
    assert [settlement for _, settlement in consumer.flush()] == [Settlement.STALE]
    assert consumer.stale_count == 1
    assert spread.settle([(again, Verdict.ACK)]) == [Settlement.SETTLED]
    consumer.close()


@pytest.mark.parametrize("kind", ["consumer", "stream"])
def test_jobs_that_waited_too_long_are_not_handed_out(spread, kind):
    spread.producer().submit("g", [str(number) for number in range(3)])
    consumer = drawing(spread, kind)
    next(consumer)
    time.sleep(1.1)  # two more have come with it
    assert next(consumer).attempt == 2, "those of the first batch have expired"
    consumer.close()


def test_a_lease_is_counted_from_when_it_was_given(spread):
    spread.open()
    threading.Timer(1.5, lambda: spread.producer().submit("g", ["job"])).start()
    (job,), _ = spread.pull("one", 1, wait=5)
    assert 0.5 < job.lease_ends_in <= 1


@pytest.mark.parametrize("kind", ["consumer", "stream"])
def test_what_was_not_handed_out_is_given_back(spread, kind):
    spread.producer().submit("g", [str(number) for number in range(9)])
    with drawing(spread, kind) as consumer:
        next(consumer).ack()
    described = spread.describe()
    assert (described.leased_job_count, described.settled_job_count) == (0, 1)
    assert described.returned_job_count + described.ready_job_count == 8


def test_large_groups_go_in_parts(client):
    spread = client.named_spread("large", 1, lease=SECOND)
    producer = spread.producer()
    jobs = [bytes([number % 251]) * 50_000 for number in range(100)]
    assert producer.submit("g", jobs).job_count == 100
    with spread.consumer("one", batch_size=100, wait=1) as consumer:
        for job in itertools.islice(consumer, 100):
            assert job.job == jobs[job.index]
            job.ack()
    assert producer.wait(5)["g"].settled_count == 100
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
        client.named_spread(spread.name, 4, lease=SECOND).open()
    with pytest.raises(offbeat.DeadlineExceeded):
        producer.wait(0.3)
    with pytest.raises(offbeat.InvalidArgument, match="wait"):
        spread.pull("one", 1, wait=21)
    with pytest.raises(offbeat.InvalidArgument, match="window"):
        spread.stream("one", window=0)
    assert spread.name in [described.spread for described in client.list_spreads()]


def test_at_a_limit_a_producer_waits(client):
    spread = client.named_spread("full", 1, max_jobs=2)
    impatient = spread.producer(patience=0.2)
    impatient.submit("a", ["a0", "a1"])
    with pytest.raises(offbeat.ResourceExhausted):
        impatient.submit("b", ["b0"])
    jobs, _ = spread.pull("one", 2)
    threading.Timer(0.3, lambda: spread.settle([(job, Verdict.ACK) for job in jobs])).start()
    spread.producer().submit("c", ["c0"])
    assert spread.describe().group_count == 1
    spread.discard()


def test_a_restart_loses_nothing_and_lends_nothing_twice():
    port = free_port()
    sidecar = Sidecar(f"127.0.0.1:{port}")
    client = offbeat.Client(f"127.0.0.1:{port}")
    spread = client.named_spread("restarted", 2, lease=SECOND)
    producer = spread.producer()
    for number in range(4):
        producer.submit(f"g{number}", [f"{number}-{index}" for index in range(5)])
    consumer = spread.consumer("one", batch_size=4, wait=1)
    held = [next(consumer) for _ in range(3)]
    held[0].ack()
    consumer.flush()
    with pytest.raises(offbeat.DeadlineExceeded):
        producer.wait(0.5)  # hears that the first is settled

    os.kill(sidecar.process.pid, signal.SIGKILL)
    sidecar.process.communicate()
    restarted = time.monotonic()
    sidecar = Sidecar(f"127.0.0.1:{port}")
    assert producer.submit("new", ["new"]).state is GroupState.RECEIVED
    described = spread.describe()
    # Of the new one, an attempt may have been lost with the connection: then it waits, too.
    assert described.quarantined_group_count in (4, 5)
    assert described.group_count == 5
    held[1].ack()
    assert [settlement for _, settlement in consumer.flush()] == [Settlement.STALE]
    seen = {}
    for job in itertools.islice(consumer, 21):
        if job.epoch == described.epoch:
            assert job.redelivered or job.group_id == "new"
            assert not job.redelivered or time.monotonic() - restarted > 0.9
            seen[job.job] = seen.get(job.job, 0) + 1
        job.ack()
    rest = threading.Thread(target=lambda: [job.ack() or consumer.flush() for job in consumer])
    rest.start()
    settled = producer.wait(20)
    spread.close(wait=5)
    rest.join(10)
    assert set(settled) == {"g0", "g1", "g2", "g3", "new"}
    assert held[0].job not in seen, "the producer knew that it was settled"
    assert set(seen.values()) == {1}
    client.close()
    assert sidecar.stop() == 0


def test_asyncio():
    async def talk():
        async with AsyncClient() as client:
            spread = client.named_spread("async", 2, lease=SECOND)
            producer = spread.producer()
            for name in "ab":
                await producer.submit(name, [name + "0", name + "1"])
            jobs = []

            async def consume():
                async with spread.consumer("one", wait=1) as consumer:
                    async for job in consumer:
                        assert await job.extend()
                        jobs.append(job.job)
                        job.ack()

            consuming = asyncio.ensure_future(consume())
            await producer.wait(10)
            assert (await spread.close(wait=5)).state is SpreadState.CLOSED
            await asyncio.wait_for(consuming, 10)
            assert jobs == [b"a0", b"b0", b"a1", b"b1"]
            assert [one.spread async for one in client.list_spreads() if one.spread == "async"]
            assert [letter async for letter in spread.dead_letters()] == []
            await spread.discard()

    asyncio.run(talk())


def test_a_closed_spread_is_opened_anew_by_producers_alone(client):
    spread = client.named_spread("over", 2)
    spread.producer().submit("g", ["job"])
    spread.settle([(job, Verdict.ACK) for job in spread.pull("one", 1)[0]])
    assert spread.close().state is SpreadState.CLOSED
    for kind in ("consumer", "stream"):
        late = client.named_spread("over", 2)
        assert list(drawing(late, kind)) == []
        assert late.describe().state is SpreadState.CLOSED
    with pytest.raises(offbeat.FailedPrecondition) as closing:
        spread.producer().submit("h", ["job"])
    assert closing.value.reason == "ERROR_REASON_SPREAD_CLOSING"
    assert client.named_spread("over", 2).producer().submit("h", ["job"]).job_count == 1
    spread.discard()


@pytest.mark.parametrize("kind", ["consumer", "stream"])
def test_a_slow_job_costs_those_that_wait_behind_it_no_attempt(client, kind):
    spread = client.named_spread(f"slow-{kind}", 1, lease=SECOND, max_attempts=2)
    spread.producer().submit("g", ["slow", *map(str, range(15))])
    handed_out = []
    with drawing(spread, kind) as consumer:
        for job in consumer:
            handed_out.append(job.job)
            if job.job == b"slow":
                time.sleep(1.2)
            job.ack()
            if handed_out[-1] == b"14":
                break
    assert handed_out[:2] == [b"slow", b"slow"]
    assert sorted(handed_out[2:]) == sorted(b"%d" % number for number in range(15))
    assert [letter.job for letter in spread.dead_letters()] == [b"slow"]
    assert consumer.stale_count == 2
    with pytest.raises(RuntimeError, match="closed"):
        job.ack()
    spread.discard()


def test_a_delay_that_the_service_would_refuse_is_refused_at_once(spread):
    spread.producer().submit("g", ["0", "1"])
    consumer = drawing(spread, "consumer")
    first, second = itertools.islice(consumer, 2)
    for delay in (timedelta(days=1, milliseconds=1), timedelta(-1), 5):
        with pytest.raises(offbeat.InvalidArgument, match="delay"):
            second.nack(delay)
    first.ack()
    second.nack(timedelta(microseconds=1_300))
    came = [settlement for _, settlement in consumer.flush()]
    assert came == [Settlement.SETTLED, Settlement.RETURNED]
    assert spread.delete_dead_letters([]) == 0
