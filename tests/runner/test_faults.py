"""Servers that are restarted or killed, and runners that are killed: nothing is lost."""

from __future__ import annotations

import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, Callable

import pytest
import sqlalchemy
from histories import FOREVER
from hourly import ROWS, declared, store_of
from offbeat.runner import (
    ClaimOutcome,
    Counts,
    Pass,
    PlannedPage,
    RunMessage,
    RunState,
    StoredRun,
)
from offbeat.runner import sqlalchemy as alchemy
from offbeat.runner.redis import RedisStore
from simulation import MINUTE, Simulation
from support.databases import PostgreSql
from support.redis_server import RedisServer

PROGRAM = Path(__file__).parent / "programs" / "stopping_runner.py"


@pytest.fixture
def folder() -> Iterator[Path]:
    # Not in pytest's folder, which only its user may enter; and socket paths must be short.
    folder = Path(tempfile.mkdtemp(prefix="offbeat-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


class Traffic:
    """A planner, a runner and three workers, whose calls may fail at any time."""

    pages, page_size = 20, 25
    moment = timedelta(seconds=1)

    def __init__(self, store: Callable[[], Any]) -> None:
        self.store = store
        self.queue: queue.Queue[RunMessage] = queue.Queue()
        #: Runs that the store has acknowledged, which must not be lost.
        self.planned: set[str] = set()
        self.ended: Counter[str] = Counter()
        self.failures: list[Exception] = []
        self.all_planned = threading.Event()
        self._stop = threading.Event()
        jobs = [self._plan, self._publish, *[self._work] * 3]
        self._threads = [threading.Thread(target=self._repeat, args=[job]) for job in jobs]

    def start(self) -> None:
        """Begin."""
        self.store().begin("sync", "s/1")
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Stop all threads after their current work."""
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _repeat(self, job: Callable[[Any], None]) -> None:
        store = self.store()
        while not self._stop.is_set():
            try:
                job(store)
            except Exception as error:  # the server is away
                self.failures.append(error)
                time.sleep(0.05)

    def _plan(self, store: Any) -> None:
        (progress,) = store.progress()
        done = progress.counts.planned // self.page_size
        if done == self.pages:
            self.all_planned.set()
            time.sleep(0.1)
            return
        opened = progress.open_pass
        if opened is None:
            end = progress.watermark_time + timedelta(seconds=1)
            opened = Pass(progress.watermark_time, end)
            if not store.open_pass(progress, opened):
                return
        time.sleep(0.05)
        at = progress.watermark_time
        runs = tuple(
            StoredRun(f"{n:032x}", "sync", "s/1", str(n), "sync", at, at)
            for n in range(done * self.page_size, (done + 1) * self.page_size)
        )
        page = PlannedPage(runs, f"row:{done}", Counts(planned=len(runs)))
        if store.plan("sync", opened, page):
            self.planned.update(run.run_id for run in runs)

    def _publish(self, store: Any) -> None:
        for run in store.publish(store.now() + self.moment, {"sync": self.moment}, 10):
            self.queue.put(RunMessage.of(run))
        time.sleep(0.02)

    def _work(self, store: Any) -> None:
        try:
            message = self.queue.get(timeout=0.1)
        except queue.Empty:
            return
        # A message is not redelivered if its worker fails.
        claim = store.claim(message.run_id, message.publication, self.moment)
        if claim.outcome is ClaimOutcome.GRANTED and store.finish(
            message.run_id, message.publication, RunState.DONE
        ):
            self.ended[message.run_id] += 1

    def check(self) -> None:
        """Wait until all runs are done, and compare."""
        count = self.pages * self.page_size
        assert self.all_planned.wait(60)
        deadline = time.monotonic() + 60
        while Counter(self._states())[RunState.DONE] < count:
            assert time.monotonic() < deadline, Counter(self._states())
            time.sleep(0.2)
        self.stop()
        states = self._states()
        assert len(states) == count >= len(self.planned)
        assert max(self.ended.values()) == 1
        assert self.store().progress()[0].counts.planned == count

    def acknowledged(self) -> tuple[set[str], set[str]]:
        """Return the runs acknowledged as planned, and those acknowledged as done."""
        return set(self.planned), set(self.ended)

    def check_kept(self, acknowledged: tuple[set[str], set[str]]) -> None:
        """Compare the runs acknowledged before a restart with those in the store."""
        planned, ended = acknowledged
        runs = {run.run_id: run.state for run in self.store().runs("sync", *FOREVER)}
        assert planned <= set(runs)
        assert all(runs[run_id] is RunState.DONE for run_id in ended)

    def _states(self) -> list[RunState]:
        return [run.state for run in self.store().runs("sync", *FOREVER)]


def restart_twice(traffic: Traffic, restart: Callable[[], None]) -> None:
    traffic.start()
    try:
        for _ in range(2):
            time.sleep(0.4)
            before = traffic.acknowledged()
            assert before[1], "nothing has been done yet"
            failures = len(traffic.failures)
            restart()
            traffic.check_kept(before)
            assert len(traffic.failures) > failures, "nobody noticed"
        traffic.check()
    finally:
        traffic.stop()


def test_postgresql_is_restarted(folder):
    server = PostgreSql(folder / "pg")
    try:
        server.run("CREATE DATABASE runs")
        url = f"postgresql+psycopg://postgres@/runs?host={folder}/pg"
        engine = sqlalchemy.create_engine(url, pool_pre_ping=True)
        alchemy.metadata.create_all(engine)
        restart_twice(Traffic(lambda: alchemy.SqlAlchemyStore(engine)), server.restart)
        engine.dispose()
    finally:
        server.stop()


def test_redis_that_writes_always_is_killed(folder):
    server = RedisServer(folder / "redis", "--appendonly", "yes", "--appendfsync", "always")

    def restart() -> None:
        server.kill()
        time.sleep(0.1)
        server.start()

    try:
        restart_twice(Traffic(lambda: RedisStore(server.client())), restart)
    finally:
        server.kill()


@pytest.fixture(params=["sqlite", "redis"])
def url(request: pytest.FixtureRequest, folder: Path) -> Iterator[str]:
    if request.param == "sqlite":
        url = f"sqlite:///{folder}/runs.sqlite3"
        alchemy.metadata.create_all(sqlalchemy.create_engine(url))
        yield url
    else:
        server = RedisServer(folder / "redis")
        yield f"redis://127.0.0.1:{server.port}/0"
        server.kill()


def executions_of(simulation: Simulation) -> Counter[tuple[int, Any]]:
    return Counter((one.row_id, one.scheduled_time) for one in simulation.executions)


def killed_at(url: str, simulation: Simulation, point: str) -> None:
    """Tick in a process that is killed."""
    process = subprocess.Popen(
        [sys.executable, str(PROGRAM), url, simulation.now.isoformat(), point],
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"here\n"
    process.kill()
    process.communicate()


@pytest.mark.parametrize("point", ["page", "send"])
def test_a_runner_that_is_killed_loses_no_run_and_doubles_none(url, point):
    undisturbed, simulation = Simulation(declared()), Simulation(declared())
    simulation.store = store_of(url, lambda: simulation.now)
    simulation.runners = [simulation.runner(declared()) for _ in range(2)]
    for one in (undisturbed, simulation):
        one.run(MINUTE)
        one.run(70 * MINUTE, ticks=False)
    killed_at(url, simulation, point)
    (progress,) = simulation.store.progress()
    if point == "page":
        assert progress.open_pass is not None
        assert progress.open_pass.cursor == "row:999"
    else:
        assert simulation.states()[RunState.PUBLISHED] > 0
    for one in (undisturbed, simulation):
        one.run(25 * MINUTE)
    expected, actual = executions_of(undisturbed), executions_of(simulation)
    assert set(actual.values()) == {1}
    assert actual == expected
    assert {row for row, _ in actual} == set(range(ROWS))
