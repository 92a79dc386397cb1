"""Attempt deadlines: when they raise, and that they restore timers and handlers."""

from __future__ import annotations

import asyncio
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

import offbeat
from offbeat import AttemptDeadline, AttemptTimedOut, LaneRoute, RouteReason


def route(seconds: float | None, lane: str = "express") -> LaneRoute:
    timeout = None if seconds is None else timedelta(seconds=seconds)
    return LaneRoute(lane, 1, timeout, "slow", RouteReason.UNTRIED, False)


@pytest.fixture(autouse=True)
def _timer() -> Iterator[None]:
    before = signal.getsignal(signal.SIGALRM)
    yield
    left = signal.setitimer(signal.ITIMER_REAL, 0)
    after = signal.signal(signal.SIGALRM, before)
    assert (left, after) == ((0, 0), before), "the timer was not given back"


def test_a_job_is_interrupted_where_it_is():
    started = time.monotonic()
    with pytest.raises(AttemptTimedOut, match="'express'") as caught, AttemptDeadline(route(0.1)):
        time.sleep(20)
    assert 0.1 <= time.monotonic() - started < 5
    assert caught.value.route.next_lane_name == "slow"
    assert isinstance(caught.value, offbeat.OffbeatError)
    assert not isinstance(caught.value, OSError)


def test_a_job_that_computes_is_interrupted_too():
    def compute() -> None:
        while True:
            pass

    with pytest.raises(AttemptTimedOut), AttemptDeadline(route(0.1)):
        compute()


def test_a_job_that_is_done_in_time_is_left_alone():
    with AttemptDeadline(route(0.3)) as deadline:
        assert 0 < deadline.remaining <= 0.3
        deadline.check()
    time.sleep(0.35)
    assert deadline.expired
    assert deadline.remaining == 0
    with pytest.raises(AttemptTimedOut):
        deadline.check()


def test_a_job_that_has_begun_too_late_does_not_begin():
    deadline = AttemptDeadline(route(0.01))
    time.sleep(0.02)
    with pytest.raises(AttemptTimedOut), deadline:
        pytest.fail("it began")
    with ThreadPoolExecutor() as threads, pytest.raises(AttemptTimedOut):
        threads.submit(deadline.__enter__).result()


def test_a_job_whose_time_is_up_at_once_is_interrupted():
    # Some signals arrive just before the job begins to wait, and must be sent again.
    started = time.monotonic()
    for step in range(400):
        with pytest.raises(AttemptTimedOut), AttemptDeadline(route(1e-6 * (step % 100))):
            time.sleep(20)
    assert time.monotonic() - started < 15


def test_what_the_job_raises_is_raised():
    with pytest.raises(KeyError), AttemptDeadline(route(5)):
        raise KeyError


def test_no_timeout_is_no_deadline():
    with AttemptDeadline(route(None)) as deadline:
        assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
        assert (deadline.remaining, deadline.expired) == (None, False)
        deadline.check()


def test_a_job_that_swallows_the_interruption_still_finds_it():
    with AttemptDeadline(route(0.05)) as deadline:
        try:
            time.sleep(20)
        except AttemptTimedOut:
            time.sleep(0.05)  # interrupted once, as Celery does
        with pytest.raises(AttemptTimedOut):
            deadline.check()


@pytest.mark.parametrize(("outer", "inner", "raised"), [(9, 0.1, "inner"), (0.1, 9, "outer")])
def test_of_nested_deadlines_the_first_counts(outer, inner, raised):
    def job() -> None:
        with AttemptDeadline(route(outer, "outer")), AttemptDeadline(route(inner, "inner")):
            time.sleep(20)

    with pytest.raises(AttemptTimedOut) as caught:
        job()
    assert caught.value.route.lane_name == raised


def test_the_outer_deadline_outlives_the_inner_one():
    def job() -> None:
        with AttemptDeadline(route(2, "outer")):
            with AttemptDeadline(route(0.05, "inner")):
                pass
            with pytest.raises(AttemptTimedOut), AttemptDeadline(route(0.05, "inner")):
                time.sleep(20)
            assert signal.getitimer(signal.ITIMER_REAL)[0] > 0.1  # set again for the outer deadline
            time.sleep(20)

    with pytest.raises(AttemptTimedOut) as caught:
        job()
    assert caught.value.route.lane_name == "outer"


def test_a_timer_of_others_goes_on_behind():
    rung = []
    signal.signal(signal.SIGALRM, lambda *_: rung.append(time.monotonic()))
    started = time.monotonic()
    signal.setitimer(signal.ITIMER_REAL, 0.8, 5)
    with pytest.raises(AttemptTimedOut), AttemptDeadline(route(0.1)):
        time.sleep(20)
    assert rung == []
    time.sleep(0.8)  # the handler interrupts it, and it then sleeps to its end
    assert [0.8 <= at - started < 5 for at in rung] == [True]
    assert signal.setitimer(signal.ITIMER_REAL, 0)[1] == pytest.approx(5)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)


def test_a_timer_of_others_goes_off_meanwhile():
    rung = []  # how long until the timer goes off again
    signal.signal(signal.SIGALRM, lambda *_: rung.append(signal.getitimer(signal.ITIMER_REAL)[0]))
    signal.setitimer(signal.ITIMER_REAL, 0.4, 0.4)
    with pytest.raises(AttemptTimedOut), AttemptDeadline(route(2.2)):
        time.sleep(20)
    meanwhile = len(rung)
    assert 2 <= meanwhile <= 5
    assert all(left > 0.06 for left in rung[:2])
    time.sleep(0.6)
    assert len(rung) > meanwhile
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)


def test_what_another_handler_raises_ends_the_job():
    def ring(*_):
        raise InterruptedError

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    with pytest.raises(InterruptedError), AttemptDeadline(route(9)):
        time.sleep(20)
    assert signal.signal(signal.SIGALRM, signal.SIG_DFL) is ring


def test_an_alarm_without_a_handler_still_ends_the_process():
    program = """
        import signal, time
        from datetime import timedelta
        from offbeat import AttemptDeadline, LaneRoute, RouteReason
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        route = LaneRoute("express", 1, timedelta(seconds=9), None, RouteReason.UNTRIED, False)
        with AttemptDeadline(route):
            time.sleep(20)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], timeout=15)
    assert done.returncode == -signal.SIGALRM


def test_other_threads_check():
    def work() -> None:
        try:
            with AttemptDeadline(route(0.05)) as deadline:
                armed.append(signal.getitimer(signal.ITIMER_REAL))
                while True:
                    time.sleep(0.01)
                    deadline.check()
        except AttemptTimedOut as error:
            raised.append(error)

    armed: list[tuple[float, float]] = []
    raised: list[AttemptTimedOut] = []
    thread = threading.Thread(target=work)
    thread.start()
    thread.join(10)
    assert armed == [(0, 0)]
    assert len(raised) == 1


def test_platforms_without_a_timer_check(monkeypatch):
    with monkeypatch.context() as patched:
        patched.delattr(signal, "setitimer")
        with AttemptDeadline(route(0.05)) as deadline:
            time.sleep(0.1)
            assert deadline.expired


def test_asyncio_waits_for_what_remains():
    async def job() -> None:
        await asyncio.wait_for(asyncio.sleep(20), AttemptDeadline(route(0.05)).remaining)

    with pytest.raises(asyncio.TimeoutError):
        asyncio.run(job())


def test_the_timer_is_given_back_whenever_the_time_is_up():
    # The time runs out at every point of entering and leaving, many times.
    for step in range(4_000):
        try:
            with AttemptDeadline(route(1e-6 * (step % 400 + 1))):
                pass
        except AttemptTimedOut:
            pass
        assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_it_crosses_processes():
    error = pickle.loads(pickle.dumps(AttemptTimedOut(route(0.6))))
    assert (error.route, error.args) == (route(0.6), AttemptTimedOut(route(0.6)).args)


def test_limits_for_celery():
    assert route(0.6).celery_options() == {"soft_time_limit": 0.6, "time_limit": 10.6}
    short = route(90).celery_options(grace=timedelta(seconds=1))
    assert short == {"soft_time_limit": 90.0, "time_limit": 91.0}
    assert route(None).celery_options() == {}
    for grace in (timedelta(0), 5):
        with pytest.raises(offbeat.InvalidArgument, match="grace"):
            route(90).celery_options(grace=grace)
