"""The page on operations: its settings, metrics and alerts are those of the binary."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
BINARY = Path(os.environ.get("OFFBEAT_BIN", ROOT / "target" / "release" / "offbeat"))
PAGE = (ROOT / "docs" / "operations.md").read_text()
#: Variables of whoever runs the tests would stand in the help.
ENVIRONMENT = {name: value for name, value in os.environ.items() if "OFFBEAT" not in name}
TOKEN = "a-token-of-the-tests-0123456789"
SLOTS = "offbeat.v1.SlotService/AssignSlot"
LATENESS = "offbeat.v1beta1.LatenessService/RecordLateness"
LATE = b'{"scheduleName": "bank-sync", "latenessMillis": ["1500"]}'
ASKED = b'{"schedule": {"spec": {"period": "28800s"}}, "id": {"text": "acme"}}'
#: What Prometheus itself says of a target.
OF_PROMETHEUS = {"up": {"job"}}
#: What a sample is called beyond its metric, by type.
SUFFIXES = {"histogram": ("_bucket", "_sum", "_count"), "counter": ("",), "gauge": ("",)}
WORDS_OF_PROMQL = {"and", "or", "unless", "by", "on", "without", "offset", "ignoring"}


def rows(heading: str) -> list[list[str]]:
    """The cells of the first table below a heading."""
    section = PAGE.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in section.split("\n") if line.startswith("|")]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:]]


def plain(cell: str) -> str:
    """A cell without its quotes."""
    return cell.strip("`")


def helped() -> list[tuple[str, str, str]]:
    """Every flag of the help, with its variable and its default."""
    command = [BINARY, "serve", "--help"]
    text = subprocess.run(
        command,
        env=ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    found = []
    for part in re.split(r"\n +(?:-\w, )?(?=--)", text)[1:]:
        words = " ".join(part.split())
        flag = words.split()[0]
        variable = re.search(r"\[env: (\w+)=\]", words)
        default = re.search(r"\[default: (.*?)\]", words)
        if flag != "--help":
            assert variable, f"{flag} has no variable"
            found.append((flag, variable[1], default[1] if default else "none"))
    return found


def test_every_setting_with_its_default():
    settings = [tuple(map(plain, row[:3])) for row in rows("Settings")]
    assert len(settings) > 20
    assert settings == helped()


def test_no_other_setting_is_named():
    known = {name for flag, variable, _ in helped() for name in (flag, variable)}
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+|OFFBEAT_[A-Z0-9_]+", PAGE))
    # Of other commands.
    others = {"--release", "--timeout", "--from-sequence", "--signal"}
    others |= {"--address", "--admin-address", "--tls-ca"}
    assert named - others <= known | {"OFFBEAT_"}


@pytest.fixture(scope="module")
def metrics(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """What the admin port says, once each kind of event has been."""
    folder = tmp_path_factory.mktemp("operations")
    (folder / "token").write_text(TOKEN)
    log = folder / "log"
    command = [BINARY, "serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"]
    flags = ["--log-format", "json", "--token-file", folder / "token"]
    with log.open("w") as errors:
        server = subprocess.Popen(
            [*command, *flags], env=ENVIRONMENT, stdin=subprocess.DEVNULL, stderr=errors
        )

    def lines() -> list[dict]:
        return [json.loads(line) for line in log.read_text().split("\n")[:-1]]

    def until(seen: str, count: int) -> list[dict]:
        limit = time.monotonic() + 10
        while len(found := [line for line in lines() if seen in line]) < count:
            assert time.monotonic() < limit, lines()
            time.sleep(0.02)
        return found

    try:
        address, admin = (line["address"] for line in until("address", 2))
        headers = {"content-type": "application/json", "authorization": f"Bearer {TOKEN}"}
        request = urllib.request.Request(f"http://{address}/{SLOTS}", ASKED, headers)
        with urllib.request.urlopen(request, timeout=10) as answer:
            assert json.load(answer)["pieces"][0]["slotIndex"] >= 0
        request = urllib.request.Request(f"http://{address}/{LATENESS}", LATE, headers)
        with urllib.request.urlopen(request, timeout=10) as answer:
            assert json.load(answer) == {"hasOwnSeries": True}
        for content in (f"{TOKEN}-of-tomorrow", "not a token"):
            (folder / "token").write_text(content)
            seen = len([line for line in lines() if "what" in line])
            server.send_signal(signal.SIGHUP)
            until("what", seen + 1)
        with urllib.request.urlopen(f"http://{admin}/metrics", timeout=10) as answer:
            yield answer.read().decode()
    finally:
        server.terminate()
        assert server.wait(timeout=20) == 0


def families(text: str) -> dict[str, tuple[str, dict[str, set[str]]]]:
    """Metrics as they are asked for: their types, and the values of their labels."""
    types = dict(re.findall(r"^# TYPE (\w+) (\w+)$", text, re.MULTILINE))
    found: dict[str, tuple[str, dict[str, set[str]]]] = {}
    for sample in re.findall(r"^(\w+(?:\{.*\})?) \S+$", text, re.MULTILINE):
        name, _, labels = sample.partition("{")
        family = next(
            family
            for family in (name, re.sub(r"_(total|info|bucket|sum|count)$", "", name))
            if family in types
        )
        shown = family if types[family] == "histogram" else name
        values = found.setdefault(shown, (types[family], {}))[1]
        for label, value in re.findall(r'(\w+)="([^"]*)"', labels):
            values.setdefault(label, set()).add(value)
    return found


def test_every_metric_and_no_other(metrics):
    known = {
        name: (kind, set(labels) - {"le"}) for name, (kind, labels) in families(metrics).items()
    }
    named = {
        plain(name): (kind, set(re.findall(r"`(\w+)`", labels)))
        for name, kind, labels, _ in rows("Metrics")
    }
    assert len(named) > 15
    assert named == known
    # Words of the help, in the text of the page.
    assert set(re.findall(r"\b(?:offbeat|process)_\w+", PAGE)) <= samples(metrics)


def samples(text: str) -> set[str]:
    """The names that an expression may ask for."""
    return {
        name + suffix
        for name, (kind, _) in families(text).items()
        for suffix in SUFFIXES.get(kind, ("",))
    } | set(families(text))


def blocks() -> list[dict]:
    """The YAML of the page."""
    return [yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)]


def rules() -> list[dict]:
    """The alerts."""
    (found,) = [block["groups"] for block in blocks() if "groups" in block]
    return [rule for group in found for rule in group["rules"]]


def test_what_is_scraped():
    (jobs,) = [block["scrape_configs"] for block in blocks() if "scrape_configs" in block]
    (job,) = jobs
    assert job["job_name"] == "offbeat"
    port = next(row[2] for row in rows("Settings") if "--admin-listen" in row[0]).split(":")[1]
    replaced = [rule.get("replacement", "") for rule in job["relabel_configs"]]
    assert f"$1:{port.split(',')[0]}" in replaced


def test_alerts_say_what_they_must():
    names = [rule["alert"] for rule in rules()]
    assert len(names) == len(set(names)) > 10
    for rule in rules():
        assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}, rule
        assert rule["labels"]["severity"] in {"page", "ticket"}
        assert rule["annotations"]["summary"]


def test_alerts_ask_for_what_there_is(metrics):
    """Metrics, their labels, and values of labels."""
    known = families(metrics)
    for rule in rules():
        expr = rule["expr"]
        for name, matchers in re.findall(r"([a-z]\w+)\{([^}]*)\}", expr):
            base = re.sub(r"_(bucket|sum|count)$", "", name)
            labels = known[base][1] if base in known else {}
            allowed = set(labels) | OF_PROMETHEUS.get(name, set())
            for label, sign, value in re.findall(r'(\w+)\s*(=~?)\s*"([^"]*)"', matchers):
                assert label in allowed, f"{rule['alert']}: {name} has no label {label}"
                complete = label in {"reason", "state", "method", "result"}
                assert not complete or sign != "=" or value in labels[label], (rule["alert"], value)
        bare = re.sub(r'\{[^}]*\}|\[[^\]]*\]|(?:by|on|without)\s*\([^)]*\)|"[^"]*"', " ", expr)
        asked = set(re.findall(r"(?<![\w.])[a-z_]\w*(?!\w*\s*\()", bare)) - WORDS_OF_PROMQL
        assert asked, rule["alert"]
        assert asked <= samples(metrics) | set(OF_PROMETHEUS), (rule["alert"], asked)


def test_the_codes_of_alerts_are_those_of_grpc():
    names = set()
    for rule in rules():
        for value in re.findall(r'code=~?"([^"]*)"', rule["expr"]):
            names |= set(value.split("|"))
    source = (ROOT / "server" / "service" / "src" / "metrics" / "mod.rs").read_text()
    assert names
    assert all(f'=> "{name}"' in source for name in names)


def test_the_line_of_the_log():
    """The page shows a line as it is written."""
    (line,) = re.findall(r"```json\n(.*?)\n```", PAGE, re.DOTALL)
    shown = json.loads(line)
    flags = ["--listen", "127.0.0.1:0", "--admin-listen", "off", "--log-format", "json"]
    command = re.search(r"```sh\noffbeat (serve .*)\n```", PAGE)
    assert command
    words = command[1].split()
    log = subprocess.Popen(
        [BINARY, *words, *flags[:4]],
        env=ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert log.stderr is not None
        address = json.loads(log.stderr.readline())["address"]
        trace = f"00-{shown['trace_id']}-{shown['parent_id']}-01"
        headers = {"content-type": "application/json", "traceparent": trace}
        request = urllib.request.Request(f"http://{address}/{SLOTS}", ASKED, headers)
        urllib.request.urlopen(request, timeout=10).close()
        written = json.loads(log.stderr.readline())
        assert set(written) == set(shown)
        same = ("level", "message", "method", "code", "trace_id", "parent_id", "target")
        assert {name: written[name] for name in same} == {name: shown[name] for name in same}
    finally:
        log.terminate()
        assert log.wait(timeout=20) == 0
        log.stderr.close()
