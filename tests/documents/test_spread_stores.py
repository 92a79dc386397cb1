"""The page on stores of named spreads: the rights of its Redis user, and how spreads are moved."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import offbeat
import pytest
from calls import called
from support.server import BINARY, ENVIRONMENT, ROOT, Server
from support.waiting import within

PAGE = (ROOT / "docs" / "spread-stores.md").read_text()
(USER,) = re.findall(r"^user offbeat on .*$", PAGE, re.MULTILINE)
MANIFEST = ROOT / "deploy" / "kubernetes" / "named-spreads-redis" / "redis.yaml"
SERVICE = "offbeat.v1.NamedSpreadService"


class Redis:
    """A Redis that writes each change to disk; its default user may do everything."""

    def __init__(self, folder: Path, user: str = "") -> None:
        folder.mkdir()
        self.socket = folder / "redis.sock"
        flags = [f"port 0\nunixsocket {self.socket}\ndir {folder}\nsave ''", "appendonly yes"]
        flags += ["appendfsync always", "user default on nopass ~* &* +@all", user, ""]
        (folder / "redis.conf").write_text("\n".join(flags))
        command = ["redis-server", folder / "redis.conf"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        self.store = f"redis+unix://{self.socket}"
        assert within(10, lambda: self.cli("ping") == "PONG\n")

    def cli(self, *words: str) -> str:
        command = ["redis-cli", "-s", self.socket, *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=10).stdout

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[Redis]:
    redis = Redis(tmp_path / "redis", USER.replace("PASSWORD", "secret"))
    yield redis
    redis.end()


def commands_of(user: str) -> set[str]:
    return set(re.findall(r"(?<= \+)\S+", user))


def test_the_user_may_do_what_the_servers_need_and_nothing_else(redis):
    store = f"{redis.store}?user=offbeat&pass=secret"
    with Server("--spread-store", store) as server, offbeat.Client(server.address) as client:
        spread = client.named_spread("errands", feeder_count=2, max_attempt_count=1)
        producer = spread.producer()
        # More than a mebibyte, so that a snapshot is taken.
        jobs = [f"{index}".rjust(50_000) for index in range(60)]
        producer.submit("a", jobs)
        producer.submit("b", ["fails"])
        snapshot = lambda: redis.cli("hget", "offbeat:spread:errands:state", "snapshot").strip()  # noqa: E731
        done = 0
        with spread.consumer("one", batch_size=1, wait=1) as consumer:
            for job in consumer:
                done += 1
                job.nack() if job.payload == b"fails" else job.ack()
                if done == 61:
                    consumer.flush()
                    break
        assert producer.wait(timeout=10).keys() == {"a", "b"}
        assert within(5, lambda: snapshot() != ""), "there is no snapshot"
        # Another server reads the snapshot, and is notified of changes.
        with Server("--spread-store", store) as second, offbeat.Client(second.address) as other:
            same = other.named_spread("errands", feeder_count=2, max_attempt_count=1)
            (letter,) = same.dead_letters()
            assert same.redrive_dead_letters([letter]) == 1
            same.update(max_attempt_count=2)
            with same.stream("two", window=1) as stream:
                next(stream).ack()
                stream.flush()
            assert same.close(wait=10).state is offbeat.SpreadState.CLOSED
            spread.open()  # replaces the spread that has ended
            assert len(called(second, f"{SERVICE}/ListSpreads", {})["spreads"]) == 1
            same.discard()
        log = [server.text()]
    assert "NOPERM" not in "".join(log)
    refused = redis.cli("--json", "acl", "log")
    without = {"client|setinfo", "waitaof"}  # the page says that these are optional
    assert set(re.findall(r'"object":"([^"]*)"', refused)) <= without, refused
    # All granted commands are used; these are for replicas.
    used = set(re.findall(r"^cmdstat_([^:]+):", redis.cli("info", "commandstats"), re.MULTILINE))
    assert commands_of(USER) - {"eval", "wait"} <= used


def test_the_user_of_the_manifests_is_that_of_the_page():
    (user,) = re.findall(r"^ *(user offbeat on .*)$", MANIFEST.read_text(), re.MULTILINE)
    assert commands_of(user) == commands_of(USER) | {"select"}
    without = [re.sub(r" \+\S+", "", line).split()[4:] for line in (user, USER)]
    assert without[0] == without[1]


def test_the_user_may_not_empty_the_redis_or_read_what_is_of_others(redis):
    redis.cli("set", "sidekiq:queue", "1")
    as_user = ["--user", "offbeat", "--pass", "secret", "--no-auth-warning"]
    for words in (["flushall"], ["get", "sidekiq:queue"], ["publish", "other", "1"], ["keys", "*"]):
        assert "NOPERM" in redis.cli(*as_user, *words)


def offbeat_spread(server: Server, *words: str, given: str = "") -> subprocess.Popen:
    command = [BINARY, "spread", *words[:2], "--address", server.address, *words[2:]]
    started = subprocess.Popen(
        command, env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert started.stdin is not None
    started.stdin.write(given)
    started.stdin.close()
    started.stdin = None
    return started


def submit(server: Server, run: str, count: int) -> None:
    lines = "".join(f"{run}-{job % 4}\t{run}-job-{job}\n" for job in range(count))
    words = ["submit", "errands", "--feeders", "4", "--lease-duration", "2s"]
    assert offbeat_spread(server, *words, given=lines).wait(30) == 0


def held(server: Server) -> int:
    """The number of groups and dead letters, counted as on the page."""
    described = called(server, f"{SERVICE}/DescribeSpread", {"spread_name": "errands"})
    counts = described["description"]["counts"]
    names = ("groupCount", "partialGroupCount", "deadLetterCount")
    assert all(name in PAGE and name in counts for name in names)
    return sum(int(counts[name]) for name in names)


@pytest.mark.parametrize("way", ["into Redis", "into memory"])
def test_a_drained_spread_moves_while_its_consumers_wait(redis, way):
    stores = [["--spread-store", f"{redis.store}?user=offbeat&pass=secret"], []]
    first, second = stores if way == "into memory" else reversed(stores)
    old = Server(*first)
    words = ["work", "errands", "--batch", "10", "--", "echo", "{}"]
    submit(old, "first", 40)
    worker = offbeat_spread(old, *words)
    try:
        assert within(20, lambda: held(old) == 0)
        address = old.address
        old.stop()
        with Server(*second, listen=address) as new:
            submit(new, "second", 40)
            assert within(20, lambda: held(new) == 0)
            called(new, f"{SERVICE}/CloseSpread", {"spread_name": "errands"})
            done = worker.communicate(timeout=30)[0].split()
            assert worker.returncode == 0
            runs = [f"{run}-job-{job}" for run in ("first", "second") for job in range(40)]
            assert sorted(done) == sorted(runs)
    finally:
        worker.kill()
        old.stop()


def test_a_closed_spread_ends_consumers_and_refuses_producers():
    with Server() as server, offbeat.Client(server.address) as client:
        spread = client.named_spread("errands", feeder_count=2)
        spread.producer().submit("a", ["1"])
        spread.close()
        with pytest.raises(offbeat.FailedPrecondition):
            spread.producer().submit("b", ["1"])
        with spread.consumer("one", wait=1) as consumer:
            for job in consumer:
                job.ack()


def test_servers_leave_a_spread_of_another_layout_alone(redis):
    with Server("--spread-store", redis.store) as server, offbeat.Client(server.address) as client:
        spread = client.named_spread("errands", feeder_count=2)
        spread.open()
        redis.cli("hset", "offbeat:spread:errands:state", "layout", "1000")
        with pytest.raises(offbeat.Unavailable, match="layout"):
            spread.pull("one", 1)
        other = client.named_spread("others", feeder_count=2)
        assert other.open().state is offbeat.SpreadState.OPEN


def test_a_spread_moves_to_another_redis_with_leases_and_dead_letters(redis, tmp_path):
    other = Redis(tmp_path / "other")
    port = 20_000 + time.monotonic_ns() % 10_000
    redis.cli("config", "set", "port", str(port), "repl-diskless-sync-delay", "0")
    with Server("--spread-store", redis.store) as server, offbeat.Client(server.address) as client:
        lease = timedelta(seconds=2)
        spread = client.named_spread("errands", feeder_count=2, lease_duration=lease)
        producer = spread.producer()
        producer.submit("a", ["dead"])
        (dead,) = spread.pull("one", 1).jobs
        spread.settle([(dead, offbeat.SettleAction.DEAD_LETTER)])
        producer.submit("b", ["1", "2"])
        (leased,) = spread.pull("one", 1).jobs
    for words in ("replicaof 127.0.0.1 " + str(port), "replicaof no one"):
        assert "redis-cli -h NEW " + words.split()[0] in PAGE
        assert other.cli(*words.split()) == "OK\n"
        up = lambda: "master_link_status:up" in other.cli("info", "replication")  # noqa: E731
        assert "no one" in words or within(20, up)
    redis.end()
    with Server("--spread-store", other.store) as server, offbeat.Client(server.address) as client:
        spread = client.named_spread("errands", feeder_count=2, lease_duration=lease)
        begun = time.monotonic()
        assert [letter.payload for letter in spread.dead_letters()] == [b"dead"]
        (late,) = spread.settle([(leased, offbeat.SettleAction.ACK)])
        assert late.outcome is offbeat.SettleOutcome.STALE
        assert not spread.pull("two", 2).jobs
        with spread.consumer("two", wait=1) as consumer:
            payloads = []
            for job in consumer:
                payloads.append(job.payload)
                job.ack()
                if len(payloads) == 2:
                    break
        assert sorted(payloads) == [b"1", b"2"]
        assert time.monotonic() - begun > 1
    other.end()
