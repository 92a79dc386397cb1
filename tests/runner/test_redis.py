"""Behaviour that only the Redis store has."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from histories import AFTER, FOREVER, START
from offbeat import InvalidArgument
from offbeat.runner import ClaimOutcome, Pass, PlannedPage, RunState, StoredRun
from offbeat.runner.redis import RedisStore
from redis import Redis
from support.redis_server import RedisServer


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    server = RedisServer(tmp_path_factory.mktemp("redis") / "data")
    yield server
    server.kill()


@pytest.fixture
def client(server: RedisServer) -> Redis:
    client = server.client()
    client.flushall()
    return client


def run(number: int, **fields) -> StoredRun:
    return StoredRun(f"{number:032x}", "import", "bank/1", "7", "import", START, START, **fields)


def test_a_server_of_its_own_is_accepted(client):
    RedisStore(client).check()


@pytest.mark.parametrize("policy", ["allkeys-lru", "volatile-ttl"])
def test_a_server_that_evicts_keys_is_refused(client, policy):
    client.config_set("maxmemory-policy", policy)
    try:
        with pytest.raises(InvalidArgument, match=r"maxmemory-policy.*noeviction"):
            RedisStore(client).check()
    finally:
        client.config_set("maxmemory-policy", "noeviction")


def test_a_cluster_is_refused(tmp_path):
    server = RedisServer(tmp_path / "data", "--cluster-enabled", "yes")
    try:
        with pytest.raises(InvalidArgument, match="cluster_enabled"):
            RedisStore(server.client()).check()
    finally:
        server.kill()


def test_stores_of_two_prefixes_are_two_stores(client):
    one, other = RedisStore(client, "one:"), RedisStore(client, "other:")
    assert one.add([run(1)]) == 1
    assert other.add([run(1), run(2)]) == 2
    assert len(one.runs("import", *FOREVER)) == 1
    assert all(key.startswith((b"one:", b"other:")) for key in client.scan_iter())


def test_a_client_that_decodes_replies_serves_as_well(server, client):
    decoding = RedisStore(Redis(port=server.port, decode_responses=True))
    decoding.begin("import", "bank/1")
    decoding.add([run(1)])
    plain = RedisStore(client)
    assert decoding.progress() == plain.progress()
    assert decoding.runs("import", *FOREVER) == plain.runs("import", *FOREVER)


def test_scripts_are_loaded_again_when_the_server_has_forgotten_them(client):
    store = RedisStore(client)
    store.add([run(1)])
    client.script_flush()
    assert store.add([run(1)]) == 0


def test_microseconds_are_kept(client):
    store = RedisStore(client)
    at = START + timedelta(microseconds=123_457)
    store.add([StoredRun("a" * 32, "import", "bank/1", "7", "import", at, at)])
    (published,) = store.publish(at + timedelta(microseconds=1), AFTER, 1)
    assert published.start_time == at
    claim = store.claim("a" * 32, 1, timedelta(microseconds=1))
    assert claim.outcome is ClaimOutcome.GRANTED
    assert (claim.run.start_time, claim.run.scheduled_time) == (at, at)


def test_last_starts_are_those_of_the_row_alone(client):
    store = RedisStore(client)
    rows = ["7", "77", "7/7", "7:7"]
    runs = [
        StoredRun(
            f"{n:032x}", "import", "bank/1", row, "import", START, START + n * AFTER["import"]
        )
        for n, row in enumerate(rows)
    ]
    store.add(runs)
    starts = store.last_starts("import", ["7", "7/7", "9"], START + timedelta(days=1))
    assert starts == {"7": runs[0].start_time, "7/7": runs[2].start_time}


def test_a_page_of_4096_runs_is_one_script_and_pruned_it_leaves_no_key(client):
    store = RedisStore(client)
    progress = store.begin("import", "bank/1")
    opened = Pass(progress.watermark_time, progress.watermark_time + timedelta(minutes=1))
    assert store.open_pass(progress, opened)
    client.config_resetstat()
    assert store.plan(
        "import", opened, PlannedPage(tuple(map(run, range(4_096))), None, progress.counts)
    )
    calls = client.info("commandstats")
    assert (
        sum(calls.get(f"cmdstat_{name}", {"calls": 0})["calls"] for name in ("eval", "evalsha"))
        <= 2
    )
    for one in store.runs("import", *FOREVER):
        assert store.replan(one, RunState.DROPPED, one.start_time)
    assert store.prune("import", store.now() + timedelta(seconds=1), 5_000) == 4_096
    assert set(client.scan_iter()) == {b"offbeat:declarations", b"offbeat:progress:import"}
