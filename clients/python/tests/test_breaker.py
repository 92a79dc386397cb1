"""Web processes: no call waits longer than its timeout of 0.3 s, and few wait at all."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import threading
import time
from contextlib import contextmanager
from datetime import timedelta

import pytest
from conftest import Sidecar, free_port

import offbeat
from offbeat import AsyncClient, Breaker, Client, Schedule
from offbeat.breaker import Circuit

EIGHT_HOURS = Schedule(timedelta(hours=8))

#: Seconds within which a call of the web (0.3 s) ends on a busy machine; other calls take 10.
WEB_SECONDS = 2
#: Seconds of a call that waited for the sidecar, which is a little less than 0.3 s.
WAITED = 0.25


class Timed:
    """Calls, how long each took, and how it ended."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.outcomes: list[type] = []

    @contextmanager
    def call(self):
        started, outcome = time.monotonic(), offbeat.Assignment
        try:
            yield
        except offbeat.OffbeatError as error:
            outcome = type(error)
        self.seconds.append(time.monotonic() - started)
        self.outcomes.append(outcome)

    def count(self, outcome: type) -> int:
        return self.outcomes.count(outcome)

    def slow(self) -> int:
        return sum(seconds > WAITED for seconds in self.seconds)


def calls(client, count, pause=0.0):
    timed = Timed()
    for _ in range(count):
        with timed.call():
            client.assign_slot(EIGHT_HOURS, "acme")
        time.sleep(pause)
    return timed


@pytest.fixture
def own_sidecar():
    """Return a sidecar that a test may freeze and kill."""
    sidecar = Sidecar(f"127.0.0.1:{free_port()}")
    yield sidecar
    if sidecar.process.poll() is None:
        sidecar.process.send_signal(signal.SIGCONT)
        sidecar.process.kill()
    sidecar.process.communicate()


@pytest.mark.parametrize("was_asked_before", [True, False])
def test_a_frozen_sidecar_holds_no_web_request(own_sidecar, was_asked_before):
    client = Client(own_sidecar.address, timeout="web")
    if was_asked_before:
        assert calls(client, 3).outcomes == [offbeat.Assignment] * 3
    own_sidecar.freeze()
    frozen = calls(client, 300, pause=0.01)
    assert max(frozen.seconds) < WEB_SECONDS
    assert frozen.count(offbeat.Assignment) == 0
    assert all(issubclass(outcome, offbeat.NoAnswer) for outcome in frozen.outcomes)
    # Five open the circuit; after that, only an occasional probe is slow.
    assert 5 <= frozen.slow() <= 20
    assert frozen.count(offbeat.CircuitOpen) >= 290
    own_sidecar.process.send_signal(signal.SIGCONT)
    deadline = time.monotonic() + 10
    while calls(client, 1).outcomes != [offbeat.Assignment]:
        assert time.monotonic() < deadline, "the circuit stays open"
        time.sleep(0.05)
    answered = calls(client, 50)
    assert answered.count(offbeat.CircuitOpen) == 0
    assert answered.count(offbeat.Assignment) >= 45  # some are late on a busy machine


def test_with_a_frozen_sidecar_auto_answers_at_once(own_sidecar):
    client = Client(own_sidecar.address, mode="auto", timeout="web")
    assert client.server_info().version
    own_sidecar.freeze()
    frozen = calls(client, 300)
    assert frozen.outcomes == [offbeat.Assignment] * 300
    assert frozen.slow() <= 3  # the machine is shared


def test_a_killed_sidecar_holds_no_web_request_and_its_successor_is_found(own_sidecar):
    client = Client(own_sidecar.address, timeout="web")
    calls(client, 1)
    own_sidecar.process.kill()
    own_sidecar.process.wait()
    killed = calls(client, 300, pause=0.005)
    assert max(killed.seconds) < WEB_SECONDS
    assert killed.count(offbeat.Assignment) == 0
    assert killed.slow() <= 10
    successor = Sidecar(own_sidecar.address)
    try:
        deadline = time.monotonic() + 10
        while calls(client, 1).outcomes != [offbeat.Assignment]:
            assert time.monotonic() < deadline, "the circuit stays open"
            time.sleep(0.05)
    finally:
        assert successor.stop() == 0


def test_a_server_that_is_silent_holds_no_web_request():
    with socket.create_server(("127.0.0.1", 0), backlog=512) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        timed = calls(Client(address, timeout="web"), 100)
    assert max(timed.seconds) < WEB_SECONDS
    assert timed.slow() <= 6


def test_concurrent_calls_of_asyncio_wait_together(own_sidecar):
    async def ask(client, timed):
        with timed.call():
            await client.assign_slot(EIGHT_HOURS, "acme")

    async def main():
        async with AsyncClient(own_sidecar.address, timeout="web") as client:
            await client.assign_slot(EIGHT_HOURS, "acme")
            own_sidecar.freeze()
            first, behind = Timed(), Timed()
            await asyncio.gather(*(ask(client, first) for _ in range(100)))
            await asyncio.gather(*(ask(client, behind) for _ in range(200)))
            return first, behind

    first, behind = asyncio.run(main())
    assert max(first.seconds) < WEB_SECONDS  # a hundred timeouts end at once
    assert behind.outcomes == [offbeat.CircuitOpen] * 200
    assert sorted(behind.seconds)[190] < WAITED


def test_threads_of_a_client_share_its_circuit(own_sidecar):
    client = Client(own_sidecar.address, timeout="web")
    calls(client, 1)
    own_sidecar.freeze()
    timed: list[Timed] = []
    threads = [
        threading.Thread(target=lambda: timed.append(calls(client, 40, pause=0.02)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(max(one.seconds) for one in timed) < WEB_SECONDS
    assert sum(one.slow() for one in timed) <= 8 + 5 + 12


def test_workers_wait_and_have_no_breaker(own_sidecar):
    client = Client(own_sidecar.address, timeout=0.1)
    own_sidecar.freeze()
    timed = calls(client, 12)
    assert timed.count(offbeat.CircuitOpen) == 0
    with_breaker = calls(Client(own_sidecar.address, timeout=0.1, breaker=True), 12)
    assert with_breaker.count(offbeat.CircuitOpen) == 7
    assert calls(Client(own_sidecar.address, timeout="web", breaker=False), 7).slow() == 7


def test_an_open_circuit_ends_patience():
    client = Client(f"127.0.0.1:{free_port()}", breaker=True)
    assert calls(client, 1).outcomes[0] in (offbeat.Unavailable, offbeat.CircuitOpen)
    at_once = calls(client, 20)
    assert at_once.outcomes == [offbeat.CircuitOpen] * 20
    assert at_once.slow() <= 1  # other processes compete for the processors


def test_words_stand_for_timeouts(monkeypatch):
    assert (Client(timeout="web").timeout, Client(timeout="worker").timeout) == (0.3, 10.0)
    monkeypatch.setenv("OFFBEAT_TIMEOUT", "web")
    assert AsyncClient().timeout == 0.3
    monkeypatch.setenv("OFFBEAT_TIMEOUT", "1.5")
    assert Client().timeout == 1.5
    for make in (Client, AsyncClient):
        with pytest.raises(offbeat.InvalidArgument, match="'web'"):
            make(timeout="fast")
        monkeypatch.setenv("OFFBEAT_TIMEOUT", "fast")
        with pytest.raises(offbeat.InvalidArgument) as caught:
            make()
        assert caught.value.field == "OFFBEAT_TIMEOUT"


@pytest.mark.parametrize(
    "make",
    [
        lambda: Breaker(failure_count=0),
        lambda: Breaker(failure_count=1.5),
        lambda: Breaker(open_duration=timedelta(0)),
        lambda: Breaker(open_duration=1),
        lambda: Breaker(open_duration=timedelta(minutes=1)),  # longer than the maximum
        lambda: Breaker(max_open_duration=timedelta(days=2)),
        lambda: Client(breaker=5),
    ],
)
def test_a_breaker_that_cannot_be_is_refused(make):
    with pytest.raises(offbeat.InvalidArgument) as caught:
        make()
    assert caught.value.field.startswith("breaker")


# The circuit alone


class Seconds:
    """A clock that stands still."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Seconds()
    monkeypatch.setattr("offbeat.breaker.time", clock)
    return clock


def call(circuit, error=None):
    """Make a call that fails with the error, if any; return whether it was made."""
    try:
        with circuit.call():
            if error is not None:
                raise error
    except offbeat.CircuitOpen:
        return False
    except (offbeat.OffbeatError, KeyboardInterrupt):
        pass
    return True


LATE, AWAY = offbeat.DeadlineExceeded("late"), offbeat.Unavailable("away")


@pytest.mark.parametrize("error", [LATE, AWAY])
def test_calls_in_a_row_open_it_and_it_stays_open_twice_as_long_each_time(clock, error):
    circuit = Circuit(Breaker(failure_count=3), "address")
    call(circuit, error)
    call(circuit, error)
    call(circuit)  # an answer resets the count of failures
    assert all(call(circuit, error) for _ in range(3))
    for seconds in [1, 2, 4, 8, 16, 30, 30]:
        assert not call(circuit)
        clock.now += seconds - 0.01
        assert not call(circuit)
        clock.now += 0.02
        assert call(circuit, error), "one call finds out"
    clock.now += 31
    assert call(circuit)
    assert all(call(circuit) for _ in range(3))
    assert all(call(circuit, error) for _ in range(3))
    clock.now += 1.01
    assert call(circuit), "it opens for a second again"


@pytest.mark.parametrize(
    "error",
    [
        offbeat.InvalidArgument("no"),
        offbeat.ResourceExhausted("full"),
        offbeat.Unavailable("it shuts down", reason="ERROR_REASON_SHUTTING_DOWN"),
    ],
)
def test_a_refusal_is_an_answer(clock, error):
    circuit = Circuit(Breaker(failure_count=2), "address")
    for _ in range(5):
        assert call(circuit, error)
        assert call(circuit, AWAY)


def test_one_call_finds_out_and_others_fail_meanwhile(clock):
    circuit = Circuit(Breaker(failure_count=1), "address")
    call(circuit, AWAY)
    clock.now += 1.01
    with circuit.call():
        assert not call(circuit)
        clock.now += 5
        assert not call(circuit)
    assert call(circuit)


def test_a_call_that_is_interrupted_leaves_the_next_one_to_find_out(clock):
    circuit = Circuit(Breaker(failure_count=1), "address")
    call(circuit, AWAY)
    clock.now += 1.01
    assert call(circuit, KeyboardInterrupt())
    assert call(circuit), "nobody would ever find out"


def test_a_late_failure_is_not_that_of_the_call_that_finds_out(clock):
    circuit = Circuit(Breaker(failure_count=1), "address")
    old = circuit.call()
    old.__enter__()
    call(circuit, AWAY)
    clock.now += 1.01
    with circuit.call():
        assert not old.__exit__(offbeat.Unavailable, AWAY, None)
        clock.now += 2.5
        assert not call(circuit), "two find out at once"
    assert call(circuit)


def test_what_is_refused_says_when_to_try_again(clock):
    circuit = Circuit(Breaker(failure_count=1), "127.0.0.1:5")
    call(circuit, AWAY)
    with pytest.raises(offbeat.CircuitOpen, match=r"127.0.0.1:5.*1\.0 s") as caught, circuit.call():
        pass
    assert isinstance(caught.value, offbeat.Unavailable)
    assert caught.value.retry_delay == timedelta(seconds=1)


def test_a_forked_child_begins_anew(clock):
    circuit = Circuit(Breaker(failure_count=1), "address")
    call(circuit, AWAY)
    clock.now += 1.01
    with circuit.call(), circuit._lock:  # as if held by another thread
        pid = os.fork()
        if pid == 0:
            signal.alarm(5)  # ends a child that would wait for the lock forever
            os._exit(0 if call(circuit) and call(circuit) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
