"""All stores give the same answers to the same calls as the store in memory."""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import django
import pytest
from django.conf import settings
from histories import AFTER, FOREVER, START, History
from offbeat.runner import Counts, MemoryStore, Pass, PlannedPage, RunState, StoredRun
from support.databases import MariaDb, PostgreSql
from support.redis_server import RedisServer

try:
    import sqlalchemy
    from offbeat.runner import sqlalchemy as alchemy
except ImportError:  # beside the oldest Django
    sqlalchemy = None

try:
    import redis  # noqa: F401 (the client of the server)
    from offbeat.runner.redis import RedisStore
except ImportError:
    RedisStore = None

#: The seed of the histories: the day, so that a failure can be repeated.
SALT = os.environ.get("OFFBEAT_SALT") or f"{datetime.now():%Y-%m-%d}"
ALIASES = ("default", "postgresql", "mariadb")
ENGINES: dict[str, Any] = {}
REDIS: list[Any] = []


@pytest.fixture(scope="session")
def databases() -> Iterator[None]:
    # Not in pytest's folder, which only its user may enter; and socket paths must be short.
    folder = Path(tempfile.mkdtemp(prefix="offbeat-"))
    folder.chmod(0o755)
    postgresql, mariadb = PostgreSql(folder / "pg"), MariaDb(folder / "maria")
    postgresql.run("CREATE DATABASE runs")
    mariadb.run("CREATE DATABASE runs CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")
    import pymysql

    pymysql.install_as_MySQLdb()
    pymysql.version_info = (2, 2, 4, "final", 0)  # the version that Django requires
    options = {"OPTIONS": {"timeout": 30}}
    mysql = {"ENGINE": "django.db.backends.mysql", "HOST": mariadb.socket, "USER": "root"}
    pg = {"ENGINE": "django.db.backends.postgresql", "HOST": str(folder / "pg"), "USER": "postgres"}
    file = folder / "runs.sqlite3"
    settings.configure(
        USE_TZ=True,
        INSTALLED_APPS=["offbeat.django"],
        DATABASES={
            "default": {"ENGINE": "django.db.backends.sqlite3", "NAME": file, **options},
            "postgresql": {**pg, "NAME": "runs"},
            "mariadb": {**mysql, "NAME": "runs"},
        },
    )
    django.setup()
    from django.core.management import call_command
    from django.db import connections

    for alias in ALIASES:
        call_command("migrate", database=alias, verbosity=0)
    postgresql.run("CREATE DATABASE alchemy")
    mariadb.run("CREATE DATABASE alchemy CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")
    urls = {
        "default": f"sqlite:///{folder}/alchemy.sqlite3",
        "postgresql": f"postgresql+psycopg://postgres@/alchemy?host={folder}/pg",
        "mariadb": f"mysql+pymysql://root@localhost/alchemy?unix_socket={mariadb.socket}",
    }
    for alias, url in urls.items() if sqlalchemy else ():
        more = {"connect_args": {"timeout": 30}} if alias == "default" else {"pool_size": 10}
        ENGINES[alias] = sqlalchemy.create_engine(url, **more)
        alchemy.metadata.create_all(ENGINES[alias])
    if RedisStore:
        REDIS.append(RedisServer(folder / "redis"))
    yield
    connections.close_all()
    for engine in ENGINES.values():
        engine.dispose()
    for server in REDIS:
        server.kill()
    postgresql.stop()
    mariadb.stop()
    shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True)
class Stores:
    """Stores of a library on a database."""

    library: str
    alias: str

    def store(self) -> Any:
        """Return a store, with the database's clock."""
        if self.library == "sqlalchemy":
            return alchemy.SqlAlchemyStore(ENGINES[self.alias])
        if self.library == "redis":
            return RedisStore(REDIS[0].client())
        from offbeat.django import DjangoStore

        return DjangoStore(self.alias)

    def timed(self, clock: list[datetime]) -> Any:
        """Return a store that uses `clock` instead of the database's clock."""
        if self.library == "redis":
            return RedisStore(REDIS[0].client(), clock=lambda: clock[0])
        store = self.store()
        store.now = lambda: clock[0]
        return store

    def empty(self) -> None:
        """Delete all that is kept."""
        if self.library == "redis":
            REDIS[0].client().flushall()
            return
        from offbeat.django.models import OffbeatProgress, OffbeatRun

        if self.library == "sqlalchemy":
            with ENGINES[self.alias].begin() as connection:
                connection.execute(alchemy.runs_table.delete())
                connection.execute(alchemy.progress_table.delete())
        else:
            for model in (OffbeatRun, OffbeatProgress):
                model.objects.using(self.alias).all().delete()

    def in_threads(self, count: int, job: Callable[[], Any]) -> list[Any]:
        """Do a job in several threads at once."""
        from django.db import connections

        results, errors = [], []

        def run() -> None:
            try:
                results.append(job())
            except Exception as error:
                errors.append(error)
            finally:
                if self.alias in ALIASES:
                    connections[self.alias].close()

        threads = [threading.Thread(target=run) for _ in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not errors
        return results


LIBRARIES = ("django", "sqlalchemy") if sqlalchemy else ("django",)


PLACES = [f"{library}-{alias}" for library in LIBRARIES for alias in ALIASES]
if RedisStore:
    PLACES.append("redis-server")


@pytest.fixture(params=PLACES)
def stores(request: pytest.FixtureRequest, databases: None) -> Stores:
    stores = Stores(*request.param.split("-"))
    stores.empty()
    return stores


@pytest.mark.parametrize("number", range(6))
def test_random_histories(stores, number):
    seed = f"{SALT}/{number}"
    print("seed:", seed)
    clock = [START]
    History(seed, [stores.timed(clock) for _ in range(2)], clock).run(250)


def test_the_clock_is_that_of_the_database(stores):
    store = stores.store()
    assert abs(store.now() - datetime.now(store.now().tzinfo)) < timedelta(seconds=5)


def planned(store, count: int) -> None:
    store.begin("import", "bank/1")
    (progress,) = store.progress()
    opened = Pass(progress.watermark_time, progress.watermark_time + timedelta(minutes=1))
    assert store.open_pass(progress, opened)
    runs = tuple(
        StoredRun(f"{n:032x}", "import", "bank/1", str(n), "import", START, START)
        for n in range(count)
    )
    assert store.plan("import", opened, PlannedPage(runs, None, Counts(planned=count)))


def test_four_publishers_share_what_is_due(stores):
    planned(stores.store(), 2_000)

    def publish() -> list[StoredRun]:
        store, mine = stores.store(), []
        while runs := store.publish(store.now(), AFTER, 50):
            mine += runs
        return mine

    published = [run for runs in stores.in_threads(4, publish) for run in runs]
    counts = Counter((run.run_id, run.publication) for run in published)
    assert set(counts.values()) == {1}
    rest = stores.store().publish(START + timedelta(days=9_999), AFTER, 5_000)
    # Runs that another thread had locked were skipped, and the next tick publishes them.
    assert len(published) + len(rest) == 2_000


def test_planners_publishers_and_workers_at_once_lose_nothing(stores):
    stores.store().begin("import", "bank/1")
    pages, size = 6, 50
    numbers = itertools.count()
    published, ended = [], []

    def plan() -> None:
        store = stores.store()
        while True:
            (progress,) = store.progress()
            done = progress.counts.planned // size
            if done == pages:
                return
            opened = progress.open_pass
            if opened is None:
                opened = Pass(progress.watermark_time, progress.watermark_time + AFTER["import"])
                store.open_pass(progress, opened)
                continue
            runs = tuple(
                StoredRun(
                    f"{n * 7919 % 1009:032x}", "import", "bank/1", str(n), "import", START, START
                )
                for n in range(done * size, (done + 1) * size)
            )
            store.plan("import", opened, PlannedPage(runs, f"row:{done}", Counts(planned=size)))

    def work() -> None:
        store = stores.store()
        deadline = time.monotonic() + 30
        while len(ended) < pages * size and time.monotonic() < deadline:
            for run in store.publish(store.now(), AFTER, 20):
                published.append((run.run_id, run.publication))
                claim = store.claim(run.run_id, run.publication, timedelta(minutes=5))
                assert claim.outcome.value == "granted"
                assert store.finish(run.run_id, run.publication, RunState.DONE)
                ended.append(run.run_id)

    jobs = [plan, plan, work, work]
    stores.in_threads(4, lambda: jobs[next(numbers)]())
    assert len(set(published)) == len(published) == pages * size
    assert len(set(ended)) == pages * size
    assert {run.state for run in stores.store().runs("import", *FOREVER)} == {RunState.DONE}
    assert stores.store().progress()[0].counts.planned == pages * size


def test_one_of_two_plans_a_page(stores):
    store = stores.store()
    store.begin("import", "bank/1")
    (progress,) = store.progress()
    opened = Pass(progress.watermark_time, progress.watermark_time + timedelta(minutes=1))
    outcomes = stores.in_threads(4, lambda: stores.store().open_pass(progress, opened))
    assert sorted(outcomes) == [False, False, False, True]
    page = PlannedPage((), "row:1", Counts(planned=5))
    outcomes = stores.in_threads(4, lambda: stores.store().plan("import", opened, page))
    assert sorted(outcomes) == [False, False, False, True]
    assert store.progress()[0].counts.planned == 5


def test_one_of_four_claims_a_run(stores):
    store = stores.store()
    planned(store, 1)
    (run,) = store.publish(store.now(), AFTER, 10)
    claims = stores.in_threads(4, lambda: stores.store().claim(run.run_id, 1, timedelta(minutes=1)))
    assert sorted(claim.outcome.value for claim in claims) == ["granted", "held", "held", "held"]


def test_a_transaction_that_is_rolled_back_adds_nothing(stores):
    if stores.library == "redis":
        pytest.skip("Redis has no transaction of the caller")
    store = stores.store()
    run = StoredRun("0" * 32, "import", "bank/1", "1", "import", START, START)
    if stores.library == "sqlalchemy":
        with ENGINES[stores.alias].connect() as connection:
            assert store.within(connection).add([run]) == 1
            connection.rollback()
    else:
        from django.db import transaction

        with transaction.atomic(using=stores.alias):
            assert store.add([run]) == 1
            transaction.set_rollback(True, using=stores.alias)
    assert not store.runs("import", *FOREVER)


def test_the_model_keeps_the_table_of_claims():
    clock = [START]
    store = MemoryStore(lambda: clock[0])
    run = StoredRun(
        "0" * 32, "import", "bank/1", "1", "import", START, START + timedelta(minutes=1)
    )
    store.add([run])
    limit = timedelta(minutes=7)

    def outcome(publication: int) -> str:
        return store.claim(run.run_id, publication, limit).outcome.value

    assert outcome(0) == "obsolete"  # planned
    (published,) = store.publish(START + timedelta(minutes=2), AFTER, 1)
    assert published.publication == 1
    assert outcome(1) == "early"
    clock[0] += timedelta(minutes=1)
    assert outcome(2) == "obsolete"
    assert outcome(1) == "granted"
    assert outcome(1) == "held"
    assert not store.publish(clock[0], AFTER, 1)
    clock[0] += limit
    assert [run.publication for run in store.publish(clock[0], AFTER, 1)] == [2]
    assert not store.finish(run.run_id, 1, RunState.DONE)
    assert outcome(2) == "granted"
    assert outcome(1) == "obsolete"
    clock[0] += limit
    assert outcome(1) == "obsolete"  # the sweep comes first
    assert [run.publication for run in store.publish(clock[0], AFTER, 1)] == [3]
    # No worker holds the run: an older message claims it, and newer ones are obsolete.
    assert outcome(2) == "granted"
    assert outcome(3) == "obsolete"
    assert outcome(2) == "held"
    assert not store.finish(run.run_id, 3, RunState.DONE)
    # While the run waits for its retry, other messages do not claim it.
    assert store.release(run.run_id, 2, clock[0] + limit)
    assert outcome(3) == "obsolete"
    assert outcome(2) == "granted"
    assert store.finish(run.run_id, 2, RunState.DONE)
    assert {outcome(publication) for publication in (1, 2, 3)} == {"obsolete"}
    clock[0] += timedelta(days=9)
    assert not store.publish(clock[0], AFTER, 1)
