"""Tasks in lanes, with real time limits."""

from __future__ import annotations

from harness import Bank
from support.waiting import wait_until


def jobs(bank: Bank, name: str) -> list[dict[str, object]]:
    return [line for line in bank.ledger() if line["job"] == name]


def send(bank: Bank, *tasks: str) -> None:
    calls = "; ".join(f"tasks.{task}.delay({task!r})" for task in tasks)
    bank.shell(f"import app; from bank import tasks; {calls}; print(1)")


def test_lanes(bank: Bank) -> None:
    for lane in ("express", "slow"):
        bank.worker("-c", "1", "-O", "fair", "-Q", lane)
    send(bank, "fast", "failing", "long", "deaf", "endless")
    call = 'tasks.long.apply_async(("with headers",), headers={"x": "1"})'
    bank.shell(f"import app; from bank import tasks; {call}; print(1)")
    wait_until(60, lambda: sum("limit" in line for line in jobs(bank, "endless")) == 2)
    wait_until(10, lambda: any("ended" in line for line in jobs(bank, "deaf")))

    assert [line["lane"] for line in jobs(bank, "fast")] == ["express"]

    # Celery retries a failed task in its lane.
    assert [(line["lane"], line["retries"]) for line in jobs(bank, "failing")] == [
        ("express", 0),
        ("express", 1),
    ]

    first, second, ended = jobs(bank, "long")
    assert (first["lane"], first["queue"]) == ("express", "express")
    assert (second["lane"], second["queue"]) == ("slow", "slow")
    assert first["task"] == second["task"]
    assert second["retries"] == 0
    assert ended["ended"]

    wait_until(10, lambda: any("ended" in line for line in jobs(bank, "with headers")))
    lanes = [line.get("lane") for line in jobs(bank, "with headers") if "lane" in line]
    assert lanes == ["express", "slow"]

    # The task ignores the soft limit, and its process is killed.
    lanes = [line.get("lane") for line in jobs(bank, "deaf") if "lane" in line]
    assert lanes == ["express", "slow"]

    # The last lane's timeout is the end.
    lanes = [line.get("lane") for line in jobs(bank, "endless") if "lane" in line]
    assert lanes == ["express", "slow"]
    wait_until(10, lambda: "LanesExhausted" in bank.logs())
    assert "the last" in bank.logs()
