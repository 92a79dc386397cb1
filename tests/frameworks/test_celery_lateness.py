"""The lateness of task runs, in the metrics of the sidecar and of prometheus_client."""

from __future__ import annotations

import signal

import pytest
from harness import Bank
from prometheus_client import CollectorRegistry
from prometheus_client.multiprocess import MultiProcessCollector
from support.server import Server
from support.waiting import wait_until
from test_celery_messages import SEND, states

METRIC = "offbeat_run_lateness_seconds"
LABELS = {"schedule": "bank.tasks.transactions", "kind": "transactions"}


@pytest.mark.parametrize("interval", ["0.2", "3600"])
def test_a_late_run_is_recorded(bank: Bank, interval: str) -> None:
    registry, metrics = CollectorRegistry(), bank.folder / "metrics"
    metrics.mkdir()
    with Server() as sidecar:
        bank.environment |= {
            "OFFBEAT_ADDRESS": sidecar.address,
            "LATENESS_INTERVAL": interval,
            "PROMETHEUS_MULTIPROC_DIR": str(metrics),
        }
        worker = bank.worker("-c", "1")
        bank.shell(SEND.format(delays=[-100], then="send(published[0], count=3)"))
        wait_until(60, lambda: states(bank)[0][1] == "done")
        if interval == "3600":  # unsent values are sent when the process ends
            worker.send_signal(signal.SIGTERM)
            worker.wait(60)
        wait_until(60, lambda: sidecar.metric(f"{METRIC}_count", **LABELS) == 1)
        assert 100 <= sidecar.metric(f"{METRIC}_sum", **LABELS) < 200
    MultiProcessCollector(registry, path=str(metrics))
    assert registry.get_sample_value(f"{METRIC}_count", LABELS) == 1
    assert 100 <= (registry.get_sample_value(f"{METRIC}_sum", LABELS) or 0) < 200
