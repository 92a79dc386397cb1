"""Consumers of named spreads: what they lease, settle and extend."""

from __future__ import annotations

import itertools
import threading
import time
from datetime import timedelta

import pytest

import offbeat
from offbeat import EmptyReason, SettleAction, SettleOutcome, SettleResult, SpreadState

SECOND = timedelta(seconds=1)


def drawing(spread, kind, ahead=16):
    """A consumer that prefetches this many jobs."""
    if kind == "stream":
        return spread.stream("one", window=ahead)
    return spread.consumer("one", batch_size=ahead, wait=1)


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
    assert spread.delete_dead_letters(letters) == 1
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
    time.sleep(1.1)  # two more jobs were prefetched with it
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
    spread = client.named_spread(f"slow-{kind}", 1, lease_duration=SECOND, max_attempt_count=2)
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
    spread = client.named_spread("empty", 1, max_consumer_lease_count=1)
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
    assert consumer.empty_reason is EmptyReason.SPREAD_CLOSED
    assert spread.pull("one", 1).empty_reason is EmptyReason.SPREAD_CLOSED
    spread.discard()
