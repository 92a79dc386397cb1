"""Alerts, dashboard and runbook use metrics that a server exposes, and match one another."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml
from exposition import Exposed, names
from settings import settings
from support.server import ROOT

ALERTS = ROOT / "deploy" / "monitoring" / "alerts.yaml"
DASHBOARD = json.loads((ROOT / "deploy" / "monitoring" / "dashboard.json").read_text())
RUNBOOK = (ROOT / "docs" / "runbook.md").read_text()
OPERATIONS = (ROOT / "docs" / "operations.md").read_text()
#: The source with the server's names of gRPC codes.
CODES = (ROOT / "server" / "service" / "src" / "metrics" / "mod.rs").read_text()
RULES: list[dict[str, Any]] = [
    rule for group in yaml.safe_load(ALERTS.read_text())["groups"] for rule in group["rules"]
]
#: Patterns of labels in the templates of Prometheus and of Grafana.
OF_ALERTS, OF_GRAFANA = re.compile(r"\$labels\.(\w+)"), re.compile(r"\{\{\s*(\w+)\s*\}\}")


def by_alert(rule: dict[str, Any]) -> str:
    return rule["alert"]


def test_alerts_say_what_they_must():
    alerts = [rule["alert"] for rule in RULES]
    assert len(alerts) == len(set(alerts)) > 15
    for rule in RULES:
        assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}, rule
        assert rule["labels"]["severity"] in {"page", "ticket"}
        assert set(rule["annotations"]) == {"summary", "runbook_url"}


@pytest.mark.parametrize("rule", RULES, ids=by_alert)
def test_alerts_ask_for_what_there_is(exposed: Exposed, rule: dict[str, Any]) -> None:
    assert exposed.wrongs(rule["expr"]) == []
    known = exposed.labels(rule["expr"]) | {"job", "instance"}
    assert set(OF_ALERTS.findall(rule["annotations"]["summary"])) <= known


def test_the_codes_of_alerts_are_those_of_grpc():
    conditions = [code for rule in RULES for code in re.findall(r'code=~?"([^"]*)"', rule["expr"])]
    codes = {code for condition in conditions for code in condition.split("|")}
    assert codes
    assert all(f'=> "{code}"' in CODES for code in codes)


def test_the_runbook_names_the_alerts_that_page():
    begin = RUNBOOK.split("\n## ")[0]
    pages = {rule["alert"] for rule in RULES if rule["labels"]["severity"] == "page"}
    assert set(re.findall(r"`(Offbeat\w+)`", begin)) == pages


def test_each_alert_has_a_section_of_the_runbook_and_each_section_an_alert():
    sections = re.findall(r"^## (\w+)$", RUNBOOK, re.MULTILINE)
    assert sections == [rule["alert"] for rule in RULES]
    for rule in RULES:
        url = rule["annotations"]["runbook_url"]
        assert url.endswith(f"/docs/runbook.md#{rule['alert'].lower()}"), url
    for section in RUNBOOK.split("\n## ")[1:]:
        assert "\n- **Look at**:" in section, section
        assert "\n- **Do**:" in section, section


def test_the_links_of_the_runbook_lead_somewhere():
    known = {rule["alert"].lower() for rule in RULES}
    found = re.findall(r"\]\(#([\w-]+)\)", RUNBOOK)
    assert found
    assert set(found) <= known
    for path, anchor in re.findall(r"\]\((\w[\w/]*\.md)#([\w-]+)\)", RUNBOOK):
        headings = re.findall(r"^##+ (.*)$", (ROOT / "docs" / path).read_text(), re.MULTILINE)
        anchors = {
            re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings
        }
        assert anchor in anchors, (path, anchor)


def test_the_runbook_names_metrics_and_settings_that_exist(exposed: Exposed) -> None:
    asked = re.findall(r"`((?:offbeat|process)_\w+(?:\{[^}]*\})?)`", RUNBOOK)
    assert len(asked) > 20
    for metric in asked:
        is_histogram = exposed.metrics.get(metric, ("",))[0] == "histogram"  # named as a whole
        assert is_histogram or exposed.wrongs(metric) == [], metric
    known = {name for flag, variable, _ in settings() for name in (flag, variable)}
    known |= {"--check-config", "--against", "--population"}  # of commands that it shows
    others = {"--unit", "--unix-socket"}  # of other programs
    assert (
        set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+|OFFBEAT_[A-Z0-9_]+", RUNBOOK))
        <= known | others
    )


def test_operations_holds_no_rules_of_its_own():
    assert "deploy/monitoring/alerts.yaml" in OPERATIONS
    assert not re.search(r"^\s*-? ?(alert|expr):", OPERATIONS, re.MULTILINE)


def targets() -> list[tuple[str, str, str]]:
    """Title, expression and legend of each query of the dashboard."""
    return [
        (panel["title"], target["expr"], target.get("legendFormat", ""))
        for panel in DASHBOARD["panels"]
        for target in panel.get("targets", [])
    ] + [
        (mark["name"], mark["expr"], mark["titleFormat"])
        for mark in DASHBOARD["annotations"]["list"]
    ]


@pytest.mark.parametrize(("title", "expression", "legend"), targets())
def test_the_dashboard_asks_for_what_there_is(
    exposed: Exposed, title: str, expression: str, legend: str
) -> None:
    assert exposed.wrongs(expression) == [], title
    known = exposed.labels(expression) | {"job", "instance", "le"}
    assert set(OF_GRAFANA.findall(legend)) <= known, title


def test_the_dashboard_shows_every_metric(exposed: Exposed) -> None:
    asked = {name for _, expression, _ in targets() for name in names(expression)}
    asked = {re.sub(r"_bucket$", "", name) for name in asked}
    shown_elsewhere = {"offbeat_schedules", "offbeat_spreads"}  # through their members
    assert set(exposed.metrics) - asked <= shown_elsewhere


def test_the_variables_of_the_dashboard(exposed: Exposed) -> None:
    for variable in DASHBOARD["templating"]["list"]:
        if variable["type"] == "query":
            found = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["definition"])
            assert found, variable["definition"]
            assert exposed.wrongs(found[1]) == []
            assert found[2] in {"job", "instance"}


def test_panels_have_places_and_words():
    ids = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(ids) == len(set(ids))
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        taken |= cells
        assert panel["type"] == "row" or panel["description"], panel["title"]


def test_what_is_not_there_would_be_noticed(exposed: Exposed) -> None:
    for expression, wrong in [
        ("offbeat_conections > 1", "no metric offbeat_conections"),
        ('offbeat_limit{limit="conections"}', "offbeat_limit has no limit conections"),
        ('offbeat_ready{wat="x"}', "offbeat_ready has no label wat"),
        ("sum by (spred) (offbeat_spread_groups)", "no label spred"),
    ]:
        assert exposed.wrongs(expression) == [wrong]
