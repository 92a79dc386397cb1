"""Stores do what the store in memory does: with the same calls, the same answers."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import django
import pytest
from django.conf import settings
from histories import AFTER, FOREVER, START, History
from offbeat.runner import Counts, MemoryStore, Pass, PlannedPage, RunState, StoredRun

sys.path.insert(0, str(Path(__file__).parents[1] / "databases"))

from servers import MariaDb, PostgreSql

#: Of the histories; that of the day, so that a failure can be repeated.
SALT = os.environ.get("OFFBEAT_SALT") or f"{datetime.now():%Y-%m-%d}"
ALIASES = ("default", "postgresql", "mariadb")


@pytest.fixture(scope="session")
def databases() -> Iterator[None]:
    # Not in pytest's own folder, which only its user may enter; and short, for the sockets.
    folder = Path(tempfile.mkdtemp(prefix="offbeat-"))
    folder.chmod(0o755)
    postgresql, mariadb = PostgreSql(folder / "pg"), MariaDb(folder / "maria")
    postgresql.run("CREATE DATABASE runs")
    mariadb.run("CREATE DATABASE runs CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")
    import pymysql

    pymysql.install_as_MySQLdb()
    pymysql.version_info = (2, 2, 4, "final", 0)  # which Django asks for
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

    for alias in ALIASES:
        call_command("migrate", database=alias, verbosity=0)
    yield
    from django.db import connections

    connections.close_all()
    postgresql.stop()
    mariadb.stop()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=ALIASES)
def alias(request: pytest.FixtureRequest, databases: None) -> str:
    from offbeat.django.models import OffbeatProgress, OffbeatRun

    for model in (OffbeatRun, OffbeatProgress):
        model.objects.using(request.param).all().delete()
    return request.param


def timed_store(alias: str, clock: list[datetime]):
    """Return a store whose database has another clock."""
    from offbeat.django import DjangoStore

    class TimedStore(DjangoStore):
        def now(self) -> datetime:
            return clock[0]

    return TimedStore(alias)


@pytest.mark.parametrize("number", range(6))
def test_random_histories(alias, number):
    seed = f"{SALT}/{number}"
    print("seed:", seed)
    clock = [START]
    stores = [timed_store(alias, clock) for _ in range(2)]
    History(seed, stores, clock).run(250)


def test_the_clock_is_that_of_the_database(alias):
    from offbeat.django import DjangoStore

    store = DjangoStore(alias)
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


def in_threads(alias, count, job) -> list:
    from django.db import connections

    results, errors = [], []

    def run() -> None:
        try:
            results.append(job())
        except Exception as error:
            errors.append(error)
        finally:
            connections[alias].close()

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    return results


def test_four_publishers_share_what_is_due(alias):
    from offbeat.django import DjangoStore

    planned(DjangoStore(alias), 2_000)

    def publish() -> list[StoredRun]:
        store, mine = DjangoStore(alias), []
        while runs := store.publish(store.now(), AFTER, 50):
            mine += runs
        return mine

    published = [run for runs in in_threads(alias, 4, publish) for run in runs]
    counts = Counter((run.run_id, run.publication) for run in published)
    assert set(counts.values()) == {1}
    rest = DjangoStore(alias).publish(START + timedelta(days=9_999), AFTER, 5_000)
    # What another had locked was passed over, and is published by the next tick.
    assert len(published) + len(rest) == 2_000


def test_one_of_two_plans_a_page(alias):
    from offbeat.django import DjangoStore

    store = DjangoStore(alias)
    store.begin("import", "bank/1")
    (progress,) = store.progress()
    opened = Pass(progress.watermark_time, progress.watermark_time + timedelta(minutes=1))
    outcomes = in_threads(alias, 4, lambda: DjangoStore(alias).open_pass(progress, opened))
    assert sorted(outcomes) == [False, False, False, True]
    page = PlannedPage((), "row:1", Counts(planned=5))
    outcomes = in_threads(alias, 4, lambda: DjangoStore(alias).plan("import", opened, page))
    assert sorted(outcomes) == [False, False, False, True]
    assert store.progress()[0].counts.planned == 5


def test_one_of_four_claims_a_run(alias):
    from offbeat.django import DjangoStore

    store = DjangoStore(alias)
    planned(store, 1)
    (run,) = store.publish(store.now(), AFTER, 10)
    claims = in_threads(
        alias, 4, lambda: DjangoStore(alias).claim(run.run_id, 1, timedelta(minutes=1))
    )
    assert sorted(claim.outcome.value for claim in claims) == ["granted", "held", "held", "held"]


def test_a_transaction_that_is_rolled_back_adds_nothing(alias):
    from django.db import transaction
    from offbeat.django import DjangoStore

    store = DjangoStore(alias)
    run = StoredRun("0" * 32, "import", "bank/1", "1", "import", START, START)

    with transaction.atomic(using=alias):
        assert store.add([run]) == 1
        transaction.set_rollback(True, using=alias)
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
    assert outcome(1) == "obsolete"
    assert not store.finish(run.run_id, 1, RunState.DONE)
    assert outcome(2) == "granted"
    assert store.finish(run.run_id, 2, RunState.DONE)
    assert outcome(2) == "obsolete"
    clock[0] += timedelta(days=9)
    assert not store.publish(clock[0], AFTER, 1)
