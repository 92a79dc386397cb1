"""The alert rules, checked and tested by promtool."""

from __future__ import annotations

import pytest
from containers import ROOT, checked, run

ALERTS = ROOT / "deploy" / "monitoring" / "alerts.yaml"
CASES = ROOT / "tests" / "deploy" / "alerts_test.yaml"
PROMTOOL = ROOT / "target" / "promtool" / "usr" / "bin" / "promtool"


@pytest.fixture(autouse=True)
def _promtool() -> None:
    if not PROMTOOL.exists():
        pytest.fail("the rules cannot be tried: ./tests/run.sh production fetches promtool")


def test_prometheus_takes_them():
    assert "SUCCESS" in checked(PROMTOOL, "check", "rules", ALERTS)


def test_they_alert_when_they_should():
    checked(PROMTOOL, "test", "rules", CASES)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        # An earlier version: the alert resolved while the file was still invalid.
        ("expr: offbeat_reload_stale == 1", "expr: increase(offbeat_reload_stale[15m]) > 0"),
        # An earlier version: any busy spread hid a stuck one.
        ("unless ignoring (state)", "unless on (job, instance)"),
    ],
)
def test_worse_ones_would_be_noticed(tmp_path, right, wrong):
    text = ALERTS.read_text()
    assert right in text
    (tmp_path / "alerts.yaml").write_text(text.replace(right, wrong))
    cases = CASES.read_text().replace("../../deploy/monitoring/alerts.yaml", "alerts.yaml")
    (tmp_path / "alerts_test.yaml").write_text(cases)
    assert run(PROMTOOL, "test", "rules", tmp_path / "alerts_test.yaml").returncode != 0
