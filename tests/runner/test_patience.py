"""A tick waits only once for a sidecar that accepts connections and never answers."""

from __future__ import annotations

import socket
from datetime import timedelta

import pytest
from offbeat import CircuitOpen, DeadlineExceeded, Schedule
from offbeat.runner import Declaration, IdList, MemoryStore, Runner


class Queue:
    def publish(self, runs) -> None:
        pass


def test_a_tick_waits_once_and_plans_what_needs_no_sidecar(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = IdList(range(100))
    asking = [Declaration(f"asking{n}", f"reports-{n}/1", rows) for n in range(5)]
    local = Declaration("local", Schedule(timedelta(seconds=10)), rows)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("OFFBEAT_ADDRESS", f"127.0.0.1:{silent.getsockname()[1]}")
        interval = timedelta(seconds=4)
        runner = Runner([*asking, local], MemoryStore(), Queue(), interval=interval)
        tick = runner.tick()
        assert runner.prune() == 0
    assert tick.planned > 0
    first, *others = (tick.errors[declaration.name] for declaration in asking)
    assert isinstance(first, DeadlineExceeded)
    assert {type(error) for error in others} == {CircuitOpen}
