"""RQ, Dramatiq and Huey with their real workers on Redis; triggers of APScheduler and Huey."""

from __future__ import annotations

import json
import os
import pickle
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from offbeat import CalendarCycle, CalendarUnit, NeedsSidecar, Schedule
from offbeat.apscheduler import OffbeatTrigger
from offbeat.huey import slot
from offbeat.runner.sqlalchemy import metadata
from offbeat.testing import FakeClient
from sqlalchemy import create_engine
from support.ledgers import whole_lines
from support.redis_server import RedisServer

APPS = Path(__file__).parent / "neighbours"
BIN = Path(sys.executable).parent
START = datetime(2026, 1, 1, tzinfo=timezone.utc)
SCHEDULE = Schedule(timedelta(hours=8), kinds=["import", "export"])

#: The processes of each, the cycle, and how many seconds late a run may be: by polling alone up to
#: two, and RQ forks for each job, beside other tests.
COMMANDS = {
    "rq": (
        [
            [sys.executable, "-c", "import rq_app; rq_app.tick()"],
            [sys.executable, "-c", "import rq_app; rq_app.tick()"],
            [BIN / "rq", "worker", "--with-scheduler", "--url", "{redis}"],
            [BIN / "rq", "worker", "--with-scheduler", "--url", "{redis}"],
        ],
        120,
        12,
    ),
    "dramatiq": ([[BIN / "dramatiq", "dramatiq_app", "-p", "2", "-t", "2"]], 20, 6),
    "huey": ([[BIN / "huey_consumer", "huey_app.huey", "-w", "2"]], 120, 10),
}


@pytest.fixture(scope="module")
def ledgers(folder: Path) -> Iterator[dict[str, Path]]:
    """Start all of them at once, and wait for some cycles."""
    redis = RedisServer(folder / "redis-of-neighbours")
    processes, ledgers = [], {}
    for index, (name, (commands, cycle, _)) in enumerate(COMMANDS.items()):
        url = f"redis://127.0.0.1:{redis.port}/{index}"
        database = f"sqlite:///{folder}/{name}.sqlite3"
        ledgers[name] = folder / f"{name}.ledger"
        metadata.create_all(create_engine(database))
        environment = {
            **os.environ,
            "CYCLE": str(cycle),
            "REDIS_URL": url,
            "STORE": database,
            "LEDGER": str(ledgers[name]),
            "PYTHONPATH": str(APPS),
        }
        for number, command in enumerate(commands):
            with (folder / f"{name}-{number}.log").open("wb") as log:
                process = subprocess.Popen(
                    [str(part).format(redis=url) for part in command],
                    env=environment,
                    cwd=APPS,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            processes.append(process)
    time.sleep(200)
    yield ledgers
    for process in processes:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    redis.kill()


@pytest.mark.parametrize("name", COMMANDS)
def test_each_row_runs_once_in_each_cycle(ledgers, folder, name):
    lines = [json.loads(line) for line in whole_lines(ledgers[name])]
    logs = "".join(log.read_text()[-2_000:] for log in folder.glob(f"{name}-*.log"))
    _, cycle, latest = COMMANDS[name]
    assert set(Counter(line["run"] for line in lines).values()) == {1}, logs
    rows = Counter((line["row"], line["kind"]) for line in lines)
    assert len(rows) == 60, logs
    # Without two cycles for the start, and the last one.
    least = 200 // cycle - 3 if cycle < 60 else 1
    assert min(rows.values()) >= least, (rows, logs)
    late = sorted(
        (
            datetime.fromisoformat(line["time"]) - datetime.fromisoformat(line["scheduled"])
        ).total_seconds()
        for line in lines
    )
    assert late[0] >= 0
    assert late[len(late) * 9 // 10] <= latest, late[-20:]


def test_the_trigger_has_one_next_run_whenever_it_is_asked():
    rng = random.Random(os.environ.get("OFFBEAT_SALT", "2026"))
    for row in range(50):
        trigger = pickle.loads(pickle.dumps(OffbeatTrigger(SCHEDULE, row, kind="export")))
        first = trigger.get_next_fire_time(None, START)
        second = trigger.get_next_fire_time(first, START)
        assert second - first == timedelta(hours=8)
        for _ in range(20):
            now = first + (second - first) * rng.random()
            assert trigger.get_next_fire_time(first, now) == second
            later = now + timedelta(milliseconds=1)
            assert trigger.get_next_fire_time(None, later) in (second, second + (second - first))
        assert trigger.get_next_fire_time(None, first) == first
        assert trigger.get_next_fire_time(None, second) == second


def test_the_application_on_apscheduler(monkeypatch):
    monkeypatch.syspath_prepend(str(APPS))
    import apscheduler_app as app

    app.scheduler.start(paused=True)
    now = datetime.now(timezone.utc)
    for job in app.scheduler.get_jobs():
        assigned = FakeClient(now=now).assign_slot(app.EVERY_8_HOURS, int(job.id))
        assert abs(job.next_run_time - assigned.next_run.start_time) < timedelta(milliseconds=1)
    app.scheduler.shutdown()


def test_the_trigger_refuses_what_needs_a_sidecar():
    daily = Schedule(calendar=CalendarCycle(CalendarUnit.DAY, "Europe/Berlin"))
    with pytest.raises(NeedsSidecar):
        OffbeatTrigger(daily, "acme")


def test_apscheduler_fires_at_the_runs_time():
    from apscheduler.schedulers.background import BackgroundScheduler

    schedule = Schedule(timedelta(seconds=2), slot_count=2, resolution=timedelta(milliseconds=1))
    fired: list[datetime] = []
    scheduler = BackgroundScheduler()
    scheduler.add_job(
        lambda: fired.append(datetime.now(timezone.utc)), OffbeatTrigger(schedule, "acme")
    )
    scheduler.start()
    time.sleep(7)
    scheduler.shutdown()
    assert len(fired) in (3, 4)
    gaps = [(later - earlier).total_seconds() for earlier, later in zip(fired, fired[1:])]
    assert all(1.5 < gap < 2.5 for gap in gaps)


def test_the_predicate_is_true_in_one_minute_of_a_cycle():
    for row in ("acme", "bolt"):
        runs_in = slot(SCHEDULE, row, kind="import")
        minutes = [START + timedelta(minutes=minute) for minute in range(16 * 60)]
        true = [at for at in minutes if runs_in(at.replace(tzinfo=None))]
        assert len(true) == 2
        assert true[1] - true[0] == timedelta(hours=8)
        assert runs_in(true[0] + timedelta(seconds=59))
