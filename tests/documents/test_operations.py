"""The page on operations has the settings, metrics and alerts of the binary."""

from __future__ import annotations

import json
import re
import subprocess
import urllib.request

import yaml
from calls import ASKED
from exposition import WHERE_THERE_IS_ONE, Exposed
from settings import settings
from support.server import BINARY, ENVIRONMENT, ROOT

PAGE = (ROOT / "docs" / "operations.md").read_text()
SLOTS = "offbeat.v1.SlotService/AssignSlot"


def rows(heading: str) -> list[list[str]]:
    """The cells of the first table below a heading."""
    section = PAGE.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in section.split("\n") if line.startswith("|")]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:]]


def plain(cell: str) -> str:
    """A cell without its quotes."""
    return cell.strip("`")


def test_every_setting_with_its_default():
    shown = [tuple(map(plain, row[:3])) for row in rows("Settings")]
    assert len(shown) > 20
    assert shown == settings()


def test_no_other_setting_is_named():
    known = {name for flag, variable, _ in settings() for name in (flag, variable)}
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+|OFFBEAT_[A-Z0-9_]+", PAGE))
    # Of other commands.
    others = {"--release", "--timeout", "--from-sequence", "--signal"}
    others |= {"--address", "--admin-address", "--tls-ca", "--check-config", "--unix-socket"}
    others |= {"--invert-match"}
    # Of the clients, of Kubernetes, and a typo.
    others |= {"OFFBEAT_ADDRESS", "OFFBEAT_TIMEOUT", "OFFBEAT_PORT", "OFFBEAT_LISTENN"}
    assert named - others <= known | {"OFFBEAT_"}


def test_every_metric_and_no_other(exposed: Exposed) -> None:
    named = {
        plain(name): (kind, set(re.findall(r"`(\w+)`", labels)))
        for name, kind, labels, _ in rows("Metrics")
    }
    known = {name: of for name, of in exposed.metrics.items() if name not in WHERE_THERE_IS_ONE}
    assert len(named) > 15
    assert named == known
    # Words of the help, in the text of the page.
    words = set(re.findall(r"\b(?:offbeat|process)_\w+", PAGE))
    assert words <= {*exposed.samples, *known, *WHERE_THERE_IS_ONE}


def test_the_size_of_the_page_of_metrics(scraped: str) -> None:
    found = re.search(r"A page of metrics has some (\d+) kB", PAGE)
    assert found
    assert 0.5 < len(scraped) / (1_000 * int(found[1])) < 2


def test_the_settings_in_force_are_printed_as_shown():
    shown = re.search(r"```sh\n(OFFBEAT_MAX_REQUESTS.*)\n```\n\n```\n(.*?)```", PAGE, re.DOTALL)
    assert shown
    command = shown[1].replace("target/release/offbeat", str(BINARY))
    done = subprocess.run(
        ["bash", "-c", command], env=ENVIRONMENT, capture_output=True, text=True, check=True
    )
    assert done.stdout == shown[2]


def blocks() -> list[dict]:
    """The YAML of the page."""
    return [yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)]


def test_what_is_scraped():
    (jobs,) = [block["scrape_configs"] for block in blocks() if "scrape_configs" in block]
    (job,) = jobs
    assert job["job_name"] == "offbeat"
    port = next(row[2] for row in rows("Settings") if "--admin-listen" in row[0]).split(":")[1]
    replaced = [rule.get("replacement", "") for rule in job["relabel_configs"]]
    assert f"$1:{port.split(',')[0]}" in replaced


def test_the_line_of_the_log():
    """The page shows a log line exactly as the server writes it."""
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
        asked = json.dumps(ASKED).encode()
        request = urllib.request.Request(f"http://{address}/{SLOTS}", asked, headers)
        urllib.request.urlopen(request, timeout=10).close()
        lines = map(json.loads, iter(log.stderr.readline, ""))
        written = next(line for line in lines if line["message"] == "answered")
        assert set(written) == set(shown)
        same = ("level", "message", "method", "code", "trace_id", "parent_id", "target")
        assert {name: written[name] for name in same} == {name: shown[name] for name in same}
    finally:
        log.terminate()
        assert log.wait(timeout=20) == 0
        log.stderr.close()
