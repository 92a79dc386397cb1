"""The pump moves jobs of a spread into another queue, a few at a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest

import offbeat
from offbeat import LeasedJob, LeaseToken, NamedSpread, Pump, SettleAction, SettleOutcome

SECOND = timedelta(seconds=1)


@pytest.fixture
def spread(client: offbeat.Client, request: pytest.FixtureRequest) -> Iterator[NamedSpread]:
    spread = client.named_spread(
        request.node.name, 2, lease_duration=SECOND, max_consumer_lease_count=4
    )
    yield spread
    spread.discard()


@contextmanager
def running(pump: Pump) -> Iterator[None]:
    stop = threading.Event()
    thread = threading.Thread(target=pump.run, args=(stop,))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(10)
    assert not thread.is_alive()


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def settle(spread: NamedSpread, text: str, action: SettleAction) -> SettleOutcome:
    (result,) = spread.settle([(LeaseToken.parse(text), action)])
    return result.outcome


def test_small_groups_pass_a_large_one_and_few_jobs_are_handed_over(spread):
    producer = spread.producer()
    producer.submit("large", [str(number) for number in range(400)])
    for tenant in range(5):
        producer.submit(f"small-{tenant}", [str(number) for number in range(4)])
    queue: list[tuple[str, str]] = []
    most, done = 0, []
    with running(spread.pump("pump", lambda job: queue.append((job.group_id, str(job.token))))):
        while len(done) < 420:
            wait_until(lambda: bool(queue))
            most = max(most, len(queue))
            group, token = queue.pop(0)
            # Another process would settle the job, with only the token.
            assert settle(spread, token, SettleAction.ACK) is SettleOutcome.ACKED
            done.append(group)
    assert most <= 4
    last_small = max(index for index, group in enumerate(done) if group != "large")
    assert done[: last_small + 1].count("large") < 200
    assert producer.wait(timeout=10).keys() == {"large", *(f"small-{n}" for n in range(5))}


def test_a_job_at_work_is_kept_longer_than_a_lease(spread):
    spread.producer().submit("g", ["slow"])
    queue: list[LeasedJob] = []
    with running(spread.pump("pump", queue.append)):
        wait_until(lambda: bool(queue))
        time.sleep(3.5)
        assert [job.attempt for job in queue] == [1]
        assert settle(spread, str(queue[0].token), SettleAction.ACK) is SettleOutcome.ACKED


def test_a_job_that_is_lost_comes_again(spread):
    spread.producer().submit("g", ["lost"])
    queue: list[LeasedJob] = []
    with running(spread.pump("pump", queue.append, hold_for=timedelta(seconds=1.5))):
        wait_until(lambda: len(queue) == 2)
        first, second = queue
        assert (first.sequence, first.attempt) == (second.sequence, second.attempt - 1)
        assert settle(spread, str(first.token), SettleAction.EXTEND_LEASE) is SettleOutcome.STALE
        assert settle(spread, str(second.token), SettleAction.ACK) is SettleOutcome.ACKED


def test_what_the_queue_refuses_goes_back_and_costs_no_attempt(client):
    spread = client.named_spread("refusing", 2, max_attempt_count=1)
    spread.producer().submit("g", [str(number) for number in range(4)])
    queue: list[LeasedJob] = []
    refusals = 0

    def hand_over(job: LeasedJob) -> None:
        nonlocal refusals
        if refusals < 3:
            refusals += 1
            raise ConnectionError("the broker is away")
        queue.append(job)

    with running(spread.pump("pump", hand_over)):
        wait_until(lambda: len(queue) == 4)
    assert sorted(job.payload for job in queue) == [b"0", b"1", b"2", b"3"]
    assert list(spread.dead_letters()) == []
    spread.discard()


def test_a_pump_ends_with_its_spread(client):
    spread = client.named_spread("ending-pump", 2)
    spread.producer().submit("g", ["0"])
    queue: list[LeasedJob] = []
    pump = spread.pump("pump", queue.append)
    assert pump.step()
    spread.close()
    assert pump.step(), "its last job is not settled"
    assert settle(spread, str(queue[0].token), SettleAction.ACK) is SettleOutcome.ACKED
    assert not pump.step()
    spread.discard()


def test_a_token_is_the_text_that_all_clients_read():
    token = LeaseToken(epoch=7, sequence=12345678901, attempt=3)
    assert str(token) == "7.12345678901.3"
    assert LeaseToken.parse("7.12345678901.3") == token


@pytest.mark.parametrize(
    "text", ["", "1.2", "1.2.x", "1.2.3.4", "-1.2.3", "1.2.3\n", f"{1 << 63}.2.3", f"1.2.{1 << 31}"]
)
def test_texts_that_are_no_tokens(text):
    with pytest.raises(offbeat.InvalidArgument, match="token"):
        LeaseToken.parse(text)


def test_hold_for_is_checked(spread):
    with pytest.raises(offbeat.InvalidArgument, match="hold_for"):
        spread.pump("pump", print, hold_for=timedelta(0))
