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
from offbeat import (
    AsyncClient,
    EmptyReason,
    GroupState,
    SettleAction,
    SettleOutcome,
    SettleResult,
    SpreadState,
)
from offbeat.named._handle import Handle

SECOND = timedelta(seconds=1)
_numbers = itertools.count()


@pytest.fixture(scope="module")
def client():
    with offbeat.Client() as client:
        yield client


@pytest.fixture
def spread(client):
    spread = client.named_spread(f"test-{next(_numbers)}", 3, lease_duration=SECOND)
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
            client.named_spread(handle.name, 3, lease_duration=SECOND).discard()
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
                taken.append((job.group_id, job.job_index, int(job.payload)))
                job.ack()
            assert consumer.stale_count == 0

    consumers = [threading.Thread(target=consume, args=(f"c{n}",)) for n in range(3)]
    for consumer in consumers:
        consumer.start()
    producer.wait(timeout=20)
    assert spread.close(wait=10).state is SpreadState.CLOSED
    for consumer in consumers:
        consumer.join(10)
        assert not consumer.is_alive()
    assert sorted(taken) == sorted(
        (name, index, index) for name, jobs in groups.items() for index in range(len(jobs))
    )


@pytest.mark.parametrize("kind", ["consumer", "stream"])
def test_settlements(spread, kind):
    spread.producer().submit("g", ["ack", "nack", "release", "dead", "extend"])
    consumer = drawing(spread, kind)
    jobs = dict(zip(["ack", "nack", "release", "dead", "extend"], consumer))
    jobs["ack"].ack()
    jobs["nack"].nack(delay=timedelta(milliseconds=300))
    jobs["release"].release()
    jobs["dead"].dead_letter()
    came = {job.payload.decode(): outcome for job, outcome in consumer.flush()}
    assert came == {
        "ack": SettleOutcome.ACKED,
        "nack": SettleOutcome.RETURNED,
        "release": SettleOutcome.RETURNED,
        "dead": SettleOutcome.DEAD_LETTERED,
    }
    time.sleep(0.5)
    ends = [jobs["extend"].lease_end_time, jobs["extend"].extend_lease()]
    assert ends[1] == jobs["extend"].lease_end_time
    assert timedelta(milliseconds=400) < ends[1] - ends[0] < SECOND
    again = {job.payload.decode(): job for job in itertools.islice(consumer, 2)}
    assert list(again) == ["release", "nack"]
    assert all(job.redelivered and job.attempt == 2 for job in again.values())
    for job in again.values():
        job.ack()
    assert [outcome for _, outcome in consumer.flush()] == [SettleOutcome.ACKED] * 2
    assert jobs["extend"].extend_lease() > ends[1]
    time.sleep(0.6)
    assert not jobs["extend"].expired
    jobs["extend"].ack()
    assert [outcome for _, outcome in consumer.flush()] == [SettleOutcome.ACKED]
    letters = list(spread.dead_letters())
    assert [(letter.payload, letter.cause) for letter in letters] == [
        (b"dead", offbeat.DeadLetterCause.CONSUMER)
    ]
    assert spread.delete_dead_letters([letter.number for letter in letters]) == 1
    consumer.close()


@pytest.mark.parametrize("kind", ["consumer", "stream"])
def test_a_late_settlement_is_stale(spread, kind):
    spread.producer().submit("g", ["job"])
    consumer = drawing(spread, kind, 1)
    late = next(consumer)
    time.sleep(1.1)
    assert late.expired
    assert late.extend_lease() is None
    (again,) = spread.pull("quick", 1, wait=2).jobs
    late.ack()
    assert [outcome for _, outcome in consumer.flush()] == [SettleOutcome.STALE]
    assert consumer.stale_count == 1
    assert spread.settle([(again, SettleAction.ACK)]) == [SettleResult(SettleOutcome.ACKED)]
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
    (job,) = spread.pull("one", 1, wait=5).jobs
    assert 0.5 < job.lease_ends_in <= 1


@pytest.mark.parametrize("kind", ["consumer", "stream"])
def test_what_was_not_handed_out_is_given_back(spread, kind):
    spread.producer().submit("g", [str(number) for number in range(9)])
    with drawing(spread, kind) as consumer:
        next(consumer).ack()
    described = spread.describe()
    counts = described.counts
    assert (counts.leased_job_count, counts.settled_job_count) == (0, 1)
    assert counts.returned_job_count + counts.ready_job_count == 8


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
        producer.wait(timeout=0.5)  # hears that the first is settled

    os.kill(sidecar.process.pid, signal.SIGKILL)
    sidecar.process.communicate()
    restarted = time.monotonic()
    sidecar = Sidecar(f"127.0.0.1:{port}")
    assert producer.submit("new", ["new"]).state is GroupState.RECEIVED
    described = spread.describe()
    # Of the new one, an attempt may have been lost with the connection: then it waits, too.
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


def test_a_closed_spread_is_opened_anew_by_producers_alone(client):
    spread = client.named_spread("over", 2)
    spread.producer().submit("g", ["job"])
    spread.settle([(job, SettleAction.ACK) for job in spread.pull("one", 1).jobs])
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
    spread = client.named_spread(f"slow-{kind}", 1, lease_duration=SECOND, max_attempts=2)
    spread.producer().submit("g", ["slow", *map(str, range(15))])
    handed_out = []
    with drawing(spread, kind) as consumer:
        for job in consumer:
            handed_out.append(job.payload)
            if job.payload == b"slow":
                time.sleep(1.2)
            job.ack()
            if handed_out[-1] == b"14":
                break
    assert handed_out[:2] == [b"slow", b"slow"]
    assert sorted(handed_out[2:]) == sorted(b"%d" % number for number in range(15))
    assert [letter.payload for letter in spread.dead_letters()] == [b"slow"]
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
            second.nack(delay=delay)
        with pytest.raises(offbeat.InvalidArgument, match="delay"):
            second.release(delay=delay)
    first.ack()
    second.nack(delay=timedelta(microseconds=1_300))
    came = [outcome for _, outcome in consumer.flush()]
    assert came == [SettleOutcome.ACKED, SettleOutcome.RETURNED]
    assert spread.delete_dead_letters([]) == spread.redrive_dead_letters([]) == 0


@pytest.mark.parametrize("kind", ["consumer", "stream"])
def test_a_released_job_may_wait(spread, kind):
    spread.producer().submit("g", ["0"])
    consumer = drawing(spread, kind, 1)
    started = time.monotonic()
    next(consumer).release(delay=timedelta(milliseconds=400))
    consumer.flush()
    again = next(consumer)
    assert time.monotonic() - started > 0.35
    assert again.attempt == 2
    consumer.close()


def test_one_delay_is_that_of_all_that_may_have_one(spread):
    spread.producer().submit("g", ["ack", "nack", "release"])
    jobs = spread.pull("one", 3).jobs
    actions = [SettleAction.ACK, SettleAction.NACK, SettleAction.RELEASE]
    results = spread.settle(zip(jobs, actions), delay=timedelta(hours=1))
    returned = SettleResult(SettleOutcome.RETURNED)
    assert results == [SettleResult(SettleOutcome.ACKED), returned, returned]
    assert spread.pull("one", 3).jobs == ()
    with pytest.raises(offbeat.InvalidArgument, match="action"):
        spread.settle([(jobs[0], "ack")])


def test_an_extension_says_when_the_lease_ends(spread):
    spread.producer().submit("g", ["job"])
    (job,) = spread.pull("one", 1).jobs
    time.sleep(0.2)
    (result,) = spread.settle([(job, SettleAction.EXTEND_LEASE)])
    assert result.outcome is SettleOutcome.EXTENDED
    assert timedelta(milliseconds=100) < result.lease_end_time - job.lease_end_time < SECOND
    assert job.lease_duration == SECOND


def test_a_pull_says_why_it_is_empty(client):
    spread = client.named_spread("empty", 1, max_consumer_leases=1)
    assert spread.pull("one", 1).empty_reason is EmptyReason.NO_READY_JOB
    spread.producer().submit("g", ["0", "1"])
    pulled = spread.pull("one", 2)
    assert (len(pulled.jobs), pulled.empty_reason) == (1, None)
    full = spread.pull("one", 1)
    assert (full.jobs, full.empty_reason) == ((), EmptyReason.CONSUMER_AT_LIMIT)
    consumer = spread.consumer("two", wait=0)
    assert consumer.empty_reason is None
    next(consumer).ack()
    assert consumer.empty_reason is None
    spread.settle([(job, SettleAction.ACK) for job in pulled.jobs])
    threading.Timer(0.2, spread.close).start()
    assert list(consumer) == []
    assert consumer.empty_reason is EmptyReason.ENDED
    assert spread.pull("one", 1).empty_reason is EmptyReason.ENDED
    spread.discard()


def test_limits_of_an_open_spread_change(client, spread):
    producer = spread.producer(patience=0.2)
    producer.submit("a", ["a0", "a1"])
    before = spread.describe().spec
    described = spread.update(max_job_count=2, max_attempts=1)
    limits = described.spec.limits
    assert (limits.max_job_count, limits.max_attempts) == (2, 1)
    assert limits.max_group_count == before.limits.max_group_count
    assert described == spread.describe()
    with pytest.raises(offbeat.ResourceExhausted):
        producer.submit("b", ["b0"])
    # One with the old limits may still open it, and changes none of them.
    old = client.named_spread(spread.name, 3, lease_duration=SECOND).open()
    assert old.spec.limits == limits
    spread.update(max_job_count=3)
    assert spread.producer().submit("b", ["b0"]).job_count == 1
    with pytest.raises(offbeat.InvalidArgument) as caught:
        spread.update(max_attempts=0)
    assert caught.value.field == "limits.max_attempts"
    with pytest.raises(offbeat.InvalidArgument) as caught:
        client.named_spread("other", 3, max_byte_count="much").open()
    assert caught.value.field == "spec.limits.max_byte_count"
    assert spread.describe().spec.limits.max_attempts == 1


def test_dead_letters_are_put_back(client):
    spread = client.named_spread("redriven", 1, max_attempts=1)
    producer = spread.producer()
    producer.submit("g", [str(number) for number in range(250)])  # three pages
    for job in spread.pull("one", 250).jobs:
        spread.settle([(job, SettleAction.NACK)])
    letters = list(spread.dead_letters())
    assert [letter.job_index for letter in letters] == list(range(250))
    assert {letter.cause for letter in letters} == {offbeat.DeadLetterCause.ATTEMPTS_EXHAUSTED}
    assert producer.wait(timeout=5)["g"].dead_letter_count == 250
    numbers = [letter.number for letter in letters[:3]]
    assert spread.redrive_dead_letters(iter([*numbers, 10**9])) == 3
    assert spread.redrive_dead_letters(numbers) == 0
    jobs = spread.pull("one", 9).jobs
    assert [(job.payload, job.attempt) for job in jobs] == [(b"0", 1), (b"1", 1), (b"2", 1)]
    spread.settle([(job, SettleAction.ACK) for job in jobs])
    assert spread.describe().counts.dead_letter_count == 247
    with pytest.raises(offbeat.InvalidArgument) as caught:
        spread.redrive_dead_letters([1, -1])
    assert caught.value.field == "numbers[1]"
    with pytest.raises(offbeat.InvalidArgument) as caught:
        spread.redrive_dead_letters(["1"])
    assert caught.value.field == "numbers[0]"
    spread.discard()


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
            spread = other.named_spread("async-calls", 1, max_attempts=1)
            await spread.producer().submit("g", [str(number) for number in range(120)])
            assert (await spread.update(max_job_count=500)).spec.limits.max_job_count == 500
            pulled = await spread.pull("one", 120)
            pairs = [(job, SettleAction.DEAD_LETTER) for job in pulled.jobs]
            assert {result.outcome for result in await spread.settle(pairs)} == {
                SettleOutcome.DEAD_LETTERED
            }
            numbers = [letter.number async for letter in spread.dead_letters()]
            assert len(numbers) == 120
            assert await spread.redrive_dead_letters(numbers[:2]) == 2
            assert await spread.delete_dead_letters(numbers) == 118
            async with spread.consumer("two", wait=0) as consumer:
                async for job in consumer:
                    job.release(delay=timedelta(hours=1))
                    if job.payload == b"1":
                        break
                assert consumer.empty_reason is None
            assert (await spread.pull("two", 1)).empty_reason is EmptyReason.NO_READY_JOB
            await spread.discard()

    asyncio.run(talk())
