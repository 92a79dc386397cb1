"""The errors of a worker for configurations that cannot work."""

from __future__ import annotations

import doctest

from harness import Bank
from offbeat.celery import shards
from support.waiting import wait_until


def ended(bank: Bank, *arguments: str) -> tuple[int, str]:
    worker = bank.worker("-c", "1", *arguments)
    return worker.wait(60), bank.logs()


def test_a_visibility_timeout_shorter_than_the_look_ahead_is_refused(bank: Bank) -> None:
    bank.environment["VISIBILITY_TIMEOUT"] = "3"
    status, log = ended(bank)
    assert status == 78, log
    assert "visibility_timeout of 3 s must be more than the 4.5 s" in log


def test_a_cycle_that_cannot_be_is_refused(bank: Bank) -> None:
    bank.environment["CYCLE"] = "31s"
    status, log = ended(bank)
    assert status == 78, log
    assert "bank.tasks.balance: schedule.spec.slot_count: 30 is refused" in log


def test_ticks_that_are_further_apart_than_a_cycle_are_refused(bank: Bank) -> None:
    bank.environment["INTERVAL"] = "25s"
    status, log = ended(bank)
    assert status == 78, log
    assert "must be at most two thirds of the cycle, 20 s" in log


def test_a_worker_starts_without_its_sidecar(bank: Bank) -> None:
    # Nobody listens there.
    bank.environment |= {"MODE": "auto", "OFFBEAT_ADDRESS": "127.0.0.1:1", "REPORTS": "reports/1"}
    worker = bank.worker("-c", "1")
    wait_until(60, lambda: " ready." in bank.logs())
    assert "bank.tasks.report is not checked: " in bank.logs()
    bank.kill(worker)


def test_lanes_without_time_limits_are_warned_of(bank: Bank) -> None:
    worker = bank.worker("-P", "solo")
    wait_until(30, lambda: "lanes demote nothing: take prefork" in bank.logs())
    bank.kill(worker)


def test_checks_of_django(bank: Bank) -> None:
    assert "no issues" in bank.manage("check", "--database", "default")
    bank.shell(
        "from django.db import connection; "
        "name = [index for index in connection.introspection.get_constraints("
        "connection.cursor(), 'bank_account') if index.startswith('offbeat_hash_')][0]; "
        "connection.cursor().execute(f'DROP INDEX {name}'); print(1)"
    )
    said = bank.manage("check", "--database", "default", check=False)
    assert "offbeat.E005" in said
    assert "bank.Account has no index offbeat_hash_" in said
    bank.environment["CYCLE"] = "31s"
    said = bank.manage("check", check=False)
    assert "offbeat.E003" in said
    assert "slot_count" in said


def test_shards() -> None:
    assert doctest.testmod(shards).attempted == 1
    assert doctest.testmod(shards).failed == 0
    router = shards.ShardRouter(8, tasks=["export"], tenant=lambda args, kwargs: kwargs["tenant"])
    assert router("export", (), {"tenant": "acme"}, {}) == {"queue": "shard-2"}
    assert router("other", ("acme",), {}, {}) is None
    assert router.queue_names[7] == "shard-7"
