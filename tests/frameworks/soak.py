"""Kills the parts of a Celery project at random, and holds the runs against what the jobs wrote.

``python tests/frameworks/soak.py --minutes 60``: two beats, two workers, Redis, PostgreSQL and a
sidecar. Workers, their processes and beats are killed; all except the database are stopped for
longer than a run may take; broker, database and sidecar restart. At the end no run is early, lost
or failed, and none ran twice except by the death or stop of a process.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

# A program does not have the path of pytest.ini.
sys.path.insert(0, str(Path(__file__).parents[1]))

from harness import Bank, rows_done
from runs import RUNS, START_TIMES, check_nothing_is_lost, settle
from support.databases import PostgreSql
from support.redis_server import RedisServer
from support.server import Server
from support.waiting import wait_until

ROWS = 100
CYCLE = timedelta(seconds=30)
#: Seconds for which a worker keeps its claim of a run.
RUN_TIME_LIMIT = 8.0
#: The most seconds between a claim and the line of its job, on a busy machine.
SLACK = 2.0
#: Seconds for which a worker, beat or sidecar is stopped: longer than a run may take.
STANDSTILL = (RUN_TIME_LIMIT + 1, 2.5 * RUN_TIME_LIMIT)
#: Seconds between two disturbances.
PAUSE = (2.0, 15.0)

ENVIRONMENT = {
    "INTERVAL": "5s",
    "CYCLE": "30s",
    "SLOT_COUNT": "30",
    "MODE": "auto",
    "REPORTS": "reports/1",
    "JOB_SECONDS": "0.1",
    "RUN_TIME_LIMIT": str(RUN_TIME_LIMIT),
    "REPUBLISH_AFTER": "10",
    "VISIBILITY_TIMEOUT": "60",
}
SCHEDULES = '[[schedule]]\nname = "reports"\nversion = 1\nperiod = "30s"\nslot_count = 30\n'

Process = subprocess.Popen[bytes]
#: Start and end of a stop, by the monotonic clock.
Standstill = tuple[float, float]


class Soak:
    """All parts of the project, and the disturbances so far."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.random = random.Random(seed)
        self.postgresql, self.redis = PostgreSql(folder / "pg"), RedisServer(folder / "redis")
        self.schedules = folder / "schedules.toml"
        self.schedules.write_text(SCHEDULES)
        self.sidecar = self.start_sidecar("127.0.0.1:0")
        self.postgresql.run("CREATE DATABASE bank")
        self.bank = Bank(folder, str(folder / "pg"), self.redis.url, **ENVIRONMENT)
        self.bank.environment["OFFBEAT_ADDRESS"] = self.sidecar.address
        self.bank.manage("migrate", "-v0")
        self.bank.shell(
            f"Account.objects.bulk_create([Account() for _ in range({ROWS})]); print(1)"
        )
        self.workers = [self.start_worker() for _ in range(2)]
        self.beats = [self.bank.beat() for _ in range(2)]
        self.disturbances: Counter[str] = Counter()
        self.deaths: dict[int, float] = {}
        self.standstills: dict[int, list[Standstill]] = defaultdict(list)
        self.outages: list[Standstill] = []
        self.began = time.monotonic()

    def start_sidecar(self, address: str) -> Server:
        return Server("--schedules", str(self.schedules), listen=address)

    def start_worker(self) -> Process:
        return self.bank.worker("-c", "2", ACKS_LATE=self.random.choice("01"))

    # Disturbances.

    def kill_a_worker(self) -> None:
        self.replace_worker(self.random.randrange(2))

    def replace_worker(self, place: int) -> None:
        killed = group(self.workers[place])
        self.bank.kill(self.workers[place])
        self.deaths.update(dict.fromkeys(killed, time.monotonic()))
        self.workers[place] = self.start_worker()

    def kill_a_process_of_a_worker(self) -> None:
        worker = self.random.choice(self.workers)
        children = sorted(set(group(worker)) - {worker.pid})
        if children:
            killed = self.random.choice(children)
            with suppress(ProcessLookupError):
                os.kill(killed, signal.SIGKILL)
            self.deaths[killed] = time.monotonic()

    def kill_a_beat(self) -> None:
        place = self.random.randrange(2)
        self.bank.kill(self.beats[place])
        self.wait(0, 10)
        self.beats[place] = self.bank.beat()

    def stop_a_worker_for_a_while(self) -> None:
        self.stand_still(self.random.choice(self.workers))

    def stop_a_beat_for_a_while(self) -> None:
        self.stand_still(self.random.choice(self.beats))

    def stand_still(self, process: Process) -> None:
        stopped, began = group(process), time.monotonic()
        os.killpg(process.pid, signal.SIGSTOP)
        self.wait(*STANDSTILL)
        os.killpg(process.pid, signal.SIGCONT)
        for pid in stopped:
            self.standstills[pid].append((began, time.monotonic()))

    def stop_the_sidecar_for_a_while(self) -> None:
        self.sidecar.process.send_signal(signal.SIGSTOP)
        self.wait(*STANDSTILL)
        self.sidecar.process.send_signal(signal.SIGCONT)

    def restart_the_sidecar(self) -> None:
        self.sidecar.kill()
        self.wait(0, 10)
        self.sidecar = self.start_sidecar(self.sidecar.address)

    def restart_the_broker(self) -> None:
        self.redis.kill()
        self.wait(0, 3)
        self.redis.start()
        # Celery does not always recover by itself: a supervisor restarts it.
        self.wait(0, 5)
        for place in range(2):
            self.replace_worker(place)

    def crash_the_database(self) -> None:
        began = time.monotonic()
        self.postgresql.crash()
        self.wait(0, 5)
        self.postgresql.start()
        self.outages.append((began, time.monotonic()))

    def wait(self, least: float, most: float) -> None:
        time.sleep(self.random.uniform(least, most))

    def supervise(self) -> None:
        """Restart processes that have ended by themselves."""
        for place, worker in enumerate(self.workers):
            if worker.poll() is not None:
                self.say("a worker ended by itself")
                self.replace_worker(place)
        for place, beat in enumerate(self.beats):
            if beat.poll() is not None:
                self.say("a beat ended by itself")
                self.bank.kill(beat)
                self.beats[place] = self.bank.beat()

    def say(self, text: str) -> None:
        self.disturbances[text] += 1
        print(f"{time.monotonic() - self.began:7.1f} s: {text}", flush=True)

    def run(self, minutes: float) -> list[str]:
        """Disturb for some minutes, wait until all is done, and return the violations."""
        wait_until(120, lambda: rows_done(self.bank) == 3 * ROWS)
        ways = [
            *(self.kill_a_worker, self.kill_a_process_of_a_worker, self.kill_a_beat),
            *(self.stop_a_worker_for_a_while, self.stop_a_beat_for_a_while),
            *(self.stop_the_sidecar_for_a_while, self.restart_the_sidecar),
            *(self.restart_the_broker, self.crash_the_database),
        ]
        end = self.began + 60 * minutes
        while time.monotonic() < end:
            self.wait(*PAUSE)
            way = self.random.choice(ways)
            self.say(way.__name__.replace("_", " "))
            way()
            self.supervise()
        calm = datetime.now(timezone.utc)
        wait_until(300, lambda: rows_done(self.bank, calm + CYCLE) == 3 * ROWS)
        settle(self.postgresql, calm + CYCLE, 900)  # repeatedly lost runs wait for minutes
        return self.judge(calm + CYCLE)

    # The outcome of the runs.

    def judge(self, before: datetime) -> list[str]:
        ends = ("done", "superseded", "dropped")
        wrong = []
        repeated = 0
        try:
            repeated = check_nothing_is_lost(self.bank, self.postgresql, before, CYCLE, ends)
        except AssertionError as error:
            wrong.append(f"lost: {error}")
        lines = self.bank.ledger()
        with self.postgresql.connect("bank") as connection:
            start_times = dict(connection.execute(START_TIMES).fetchall())
            states = Counter(state for *_, state, _ in connection.execute(RUNS))
        executions = defaultdict(list)
        for line in lines:
            executions[line["run"]].append(line)
            if datetime.fromisoformat(line["time"]) < start_times[line["run"]]:
                wrong.append(f"early: {line}")
        for times in executions.values():
            times.sort(key=lambda line: line["monotonic"])
            for one, other in zip(times, times[1:]):
                if not self.may_be_repeated(one, other):
                    wrong.append(f"twice: {one} and {other}")
        print(f"disturbances: {sum(self.disturbances.values())}, {dict(self.disturbances)}")
        print(f"runs: {dict(states)}; executions: {len(lines)}, of these {repeated} once more")
        return wrong

    def may_be_repeated(self, one: dict[str, Any], other: dict[str, Any]) -> bool:
        """Say whether docs/frameworks/celery.md allows two executions of a run."""
        first, second = one["monotonic"], other["monotonic"]
        if first <= self.deaths.get(one["pid"], 0) <= second:
            return True
        if any(
            began - RUN_TIME_LIMIT <= line["monotonic"] <= ended + RUN_TIME_LIMIT
            for line in (one, other)
            for began, ended in self.standstills[line["pid"]]
        ):
            return True
        # The end of the job could not be recorded.
        return second - first >= RUN_TIME_LIMIT - SLACK and any(
            began - SLACK <= first <= ended + SLACK for began, ended in self.outages
        )

    def stop(self) -> None:
        self.bank.stop()
        self.sidecar.stop()
        self.redis.kill()
        self.postgresql.stop()


def group(process: Process) -> list[int]:
    """Return the IDs of a process and its children."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if int(path.read_text().rpartition(")")[2].split()[2]) == process.pid:
                found.append(int(path.parent.name))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}", flush=True)
    # PostgreSQL must not run as root, and its user must be able to enter the folder.
    folder = Path(tempfile.mkdtemp(prefix="offbeat-"))
    folder.chmod(0o755)
    soak = Soak(folder, arguments.seed)
    wrong = ["it did not end"]
    try:
        wrong = soak.run(arguments.minutes)
    finally:
        soak.stop()
        if wrong:
            print(f"logs and ledger are in {folder}")
        else:
            shutil.rmtree(folder)
    print("\n".join(wrong) or "no run was early, lost, failed or done twice without a cause")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
