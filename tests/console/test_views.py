"""Live views of schedules, spreads and the service; access to them; and accessibility."""

from __future__ import annotations

import json
import re
import subprocess
import urllib.error
import urllib.request
from datetime import timedelta

import offbeat
import pytest
from offbeat import NamedSpread
from support.server import BINARY, ROOT, Server

AXE = ROOT / "server" / "console" / "node_modules" / "axe-core" / "axe.min.js"
SCREENSHOTS = ROOT / "target" / "console-screenshots"
VIEWS = {
    "playground": "#/playground",
    "calendar": "#/playground?schedule=newsletter/1",
    "schedules": "#/schedules?schedule=bank-sync/1",
    "spreads": "#/spreads?name=shown",
    "lanes": "#/lanes",
    "stages": "#/stages",
    "simulations": "#/simulations",
    "service": "#/service",
}


@pytest.fixture
def client(sidecar: Server) -> offbeat.Client:
    return offbeat.Client(f"127.0.0.1:{sidecar.port}")


def spread_of(client: offbeat.Client, name: str) -> NamedSpread:
    """A spread with ready jobs, leased jobs, and a dead letter."""
    lease = timedelta(minutes=5)
    spread = client.named_spread(name, feeder_count=4, lease_duration=lease, max_attempt_count=1)
    spread.producer().submit("acme", ["a1", "a2", "a3", "a4"])
    dead, _ = spread.pull("worker-1", 2).jobs
    spread.settle([(dead, offbeat.SettleAction.NACK)])
    return spread


def test_schedules_and_the_next_day(sidecar, opened):
    page = opened(sidecar, "#/schedules")
    row = page.get_by_role("row").filter(has_text="bank-sync/1")
    row.wait_for()
    assert "8h" in row.inner_text()
    assert "balance, transactions" in row.inner_text()
    row.get_by_label("IDs of bank-sync/1").fill("2880000")
    row.get_by_label("IDs of bank-sync/1").blur()
    # 2,880,000 IDs, twice in 28,800 seconds.
    page.wait_for_selector("tr:has-text('bank-sync/1') >> td:text-is('200')")
    page.wait_for_selector("figcaption:has-text('Expected runs a minute'):has-text('12,041.67')")
    titles = page.locator(".bar title").all_text_contents()
    assert len(titles) == 288
    values = [float(title.rpartition(": ")[2].replace(",", "")) for title in titles]
    # 200 per second, and at night the newsletter's 10,000 over four hours.
    assert min(values) == pytest.approx(12_000)
    assert max(values) == pytest.approx(12_000 + 10_000 / 240)
    assert sum(values) * 5 == pytest.approx(200 * 86_400 + 10_000, rel=1e-4)


def test_another_period_is_tried_by_a_slider(sidecar, opened):
    page = opened(sidecar, "#/schedules")
    page.get_by_role("row").filter(has_text="bank-sync/1").get_by_role("button").click()
    page.get_by_role("slider").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("label:has-text('8 h → 16 h')")
    page.wait_for_selector("dt:has-text('Longest gap')")
    figures = dict(
        zip(page.locator("dt").all_inner_texts(), page.locator("dd").all_inner_texts(), strict=True)
    )
    assert figures["Runs a second, before → after"] == "0.694 → 0.347"
    gaps = page.locator("figure").filter(has_text="Gap between the last old").locator(".bar title")
    counts = [int(title.rpartition(": ")[2].replace(",", "")) for title in gaps.all_text_contents()]
    assert sum(counts) == 2_000
    day = page.locator("figure").filter(has_text="over a day after the change")
    day.wait_for()
    after = [float(t.rpartition(": ")[2]) for t in day.locator(".bar title").all_text_contents()]
    # Two runs in 16 hours for each of 10,000 IDs, and at night the newsletter's in four hours.
    assert min(after) == pytest.approx(20_000 / 960, abs=0.01)
    assert max(after) == pytest.approx(20_000 / 960 + 10_000 / 240, abs=0.01)
    assert "Before, the fullest: 83.33" in day.inner_text()
    assert day.locator("path.before").count() == 1


def test_stages_by_a_slider(sidecar, opened):
    page = opened(sidecar, "#/stages")
    page.wait_for_selector("h2:has-text('Moves')")
    workers = lambda: [  # noqa: E731
        int(page.locator("tbody tr").nth(row).locator("b").inner_text()) for row in range(3)
    ]
    # Backlog times run time: 600, 800 and 100 s. Each worker goes where the workload over w + 1
    # falls most, as `divided` does one by one.
    assert workers() == divided([600, 800, 100], 20)
    slider = page.get_by_role("slider")
    slider.focus()
    slider.press("ArrowRight")
    page.wait_for_selector("label:has-text('21 workers')")
    page.wait_for_function(
        "() => [...document.querySelectorAll('tbody b')].reduce("
        "(sum, one) => sum + Number(one.innerText), 0) === 21"
    )
    assert workers() == divided([600, 800, 100], 21)
    page.get_by_label("Backlog of fetch").fill("-1")
    page.get_by_label("Backlog of fetch").blur()
    page.get_by_role("alert").wait_for()


def divided(workloads: list[int], workers: int) -> list[int]:
    counts = [0] * len(workloads)
    for _ in range(workers):
        gains = [
            workload / (count + 1) - workload / (count + 2)
            for workload, count in zip(workloads, counts, strict=True)
        ]
        counts[gains.index(max(gains))] += 1
    return counts


def test_lanes_for_run_times_that_are_typed(sidecar, opened):
    page = opened(sidecar, "#/lanes?p50=1s&p90=20s&rate=1&workers=20")
    page.wait_for_selector("th:has-text('Workers are busy')", timeout=30_000)
    # The mean of the lognormal distribution is 15.4 s: one job per second for 20 workers.
    assert re.search(r"Workers are busy 7\d(\.\d+)? %", page.locator("table").inner_text())
    page.wait_for_selector("figcaption:has-text('Mean slowdown by the timeout')")
    page.get_by_label("Jobs a second").fill("2")
    page.get_by_label("Jobs a second").blur()
    page.wait_for_selector("[role=alert]:has-text('all that 20 workers can do')")


def test_a_simulation_as_the_command_line_has_it(sidecar, opened, tmp_path):
    page = opened(sidecar, "#/simulations")
    scenario = tmp_path / "scenario.toml"
    scenario.write_text(page.get_by_label("Scenario (TOML)").input_value())
    page.get_by_role("button", name="Simulate").click()
    report = page.frame_locator("iframe.report")
    winner = report.locator("#winner")
    winner.wait_for(timeout=30_000)
    command = [BINARY, "simulate", scenario, "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    expected = json.loads(done.stdout)
    assert json.loads(page.locator("iframe.report").get_attribute("data-results")) == expected
    assert winner.inner_text() == expected["ranking"][0]
    for finding in expected["findings"]:
        assert report.get_by_text(finding).count() >= 1
    # The frame is as high as the report, so nothing in it scrolls, and its charts are drawn.
    page.wait_for_function(
        """() => {
          const page = document.querySelector("iframe.report").contentDocument;
          const root = page.documentElement;
          return root.dataset.ready && root.scrollHeight <= root.clientHeight + 1
            && page.querySelectorAll(".uplot canvas").length >= 4;
        }"""
    )
    assert page.locator("iframe.report").bounding_box()["height"] > 1_500
    page.screenshot(path=SCREENSHOTS / "report-in-place.png", full_page=True)
    page.get_by_label("Scenario (TOML)").fill('name = "no users"')
    page.get_by_label("Scenario (TOML)").blur()
    page.get_by_role("button", name="Simulate").click()
    page.get_by_role("alert").wait_for()


def test_a_simulation_shows_its_progress(sidecar, opened):
    page = opened(sidecar, "#/simulations")
    scenario = page.get_by_label("Scenario (TOML)").input_value()
    # A simulation takes the server about half a second.
    long = scenario.replace('"2d"', '"15d"').replace("5000", "9000").replace("= 8\n", "= 16\n")
    page.get_by_label("Scenario (TOML)").fill(long)
    page.get_by_label("Scenario (TOML)").blur()
    page.evaluate(
        """() => {
          window.seen = [];
          const note = () => {
            const bar = document.querySelector("progress");
            if (bar) window.seen.push(bar.value);
          };
          const all = { subtree: true, childList: true, attributes: true };
          new MutationObserver(note).observe(document.body, all);
        }"""
    )
    page.get_by_role("button", name="Simulate").click()
    page.frame_locator("iframe.report").locator("#winner").wait_for(timeout=30_000)
    assert any(0 < value < 1 for value in page.evaluate("window.seen"))


def test_a_simulation_is_stopped(sidecar, opened):
    page = opened(sidecar, "#/simulations")
    page.route("**/console/simulate", lambda route: None)  # it never ends
    page.get_by_role("button", name="Simulate").click()
    page.get_by_role("button", name="Stop").click()
    page.unroute("**/console/simulate")
    page.get_by_role("button", name="Simulate").click()
    page.frame_locator("iframe.report").locator("#winner").wait_for(timeout=30_000)
    assert page.get_by_role("alert").count() == 0


def test_a_day_says_which_schedules_it_leaves_out(opened, tmp_path):
    schedules = tmp_path / "schedules.toml"
    names = {"fine": 8_640, "coarse": 96}
    schedules.write_text(
        "".join(
            f'[[schedule]]\nname = "{name}"\nversion = 1\nperiod = "24h"\nslot_count = {count}\n'
            for name, count in names.items()
        )
        + 'exclusions = ["22:00-23:00 UTC"]\n'
    )
    with Server("--schedules", str(schedules)) as server:
        page = opened(server, "#/schedules")
        note = page.get_by_text("Not drawn")
        note.wait_for()
        assert "fine" in note.inner_text()
        assert "coarse" not in note.inner_text()
        assert "coarse" in page.get_by_text("Drawn as without their exclusions").inner_text()


def test_spreads_are_live_and_dead_letters_come_back(sidecar, opened, client):
    spread = spread_of(client, "mail")
    page = opened(sidecar, "#/spreads?name=mail")
    row = page.get_by_role("row").filter(has_text="mail")
    row.wait_for()
    cells = row.locator("td").all_inner_texts()
    # Groups, ready, leased, settled, a second, dead letters, consumers.
    assert [cells[0], cells[1], cells[2], cells[5]] == ["1", "2", "1", "1"]
    turns = page.locator("ol.turns li")
    turns.first.wait_for()
    assert turns.all_inner_texts() == ["acme job 2", "acme job 3"]
    spread.producer().submit("umbrella", ["u1"])
    page.wait_for_selector("ol.turns li:has-text('umbrella')")
    # One of the four feeders has acme; the next one begins with umbrella.
    assert turns.all_inner_texts() == ["umbrella job 0", "acme job 2", "acme job 3"]
    letter = page.get_by_role("row").filter(has_text="attempts exhausted")
    assert "a1" not in letter.inner_text()
    letter.get_by_role("button", name="show").click()
    assert "a1" in letter.inner_text()
    letter.get_by_role("button", name="Redrive").click()
    page.wait_for_selector("text=There are no dead letters.")
    page.wait_for_selector("tr:has-text('mail') >> td:nth-of-type(2):text-is('4')")
    page.wait_for_selector("ol.turns li:nth-of-type(4)")
    shown = turns.all_inner_texts()
    pulled = [f"{job.group_id} job {job.job_index}" for job in spread.pull("worker-2", 4).jobs]
    assert shown == pulled
    spread.discard()
    page.wait_for_selector("button:text-is('mail')", state="detached")


def test_a_console_that_may_not_write_shows_no_payloads(opened, tmp_path):
    with Server() as server:
        spread_of(offbeat.Client(f"127.0.0.1:{server.port}"), "letters")
        page = opened(server, "#/spreads?name=letters")
        page.wait_for_selector("text=1 dead letter.")
        assert "--console-write" in page.locator("main").inner_text()
        assert page.get_by_role("button", name="Redrive").count() == 0


def test_the_service_since_the_page_was_opened(sidecar, opened, client):
    page = opened(sidecar, "#/service")
    page.wait_for_selector("td:has-text('--listen'), th:has-text('--listen')")
    page.wait_for_timeout(500)
    for number in range(7):
        client.assign_slot(offbeat.Schedule(timedelta(hours=8)), number)
    row = page.get_by_role("row").filter(has_text="SlotService/AssignSlot")
    row.wait_for()
    page.wait_for_function(
        "() => [...document.querySelectorAll('tr')].some((row) =>"
        " row.innerText.startsWith('SlotService/AssignSlot') && row.cells[1].innerText === '7')"
    )
    with pytest.raises(offbeat.InvalidArgument):
        client.assign_slot(offbeat.Schedule(timedelta(hours=8)), "x" * 2_000)
    page.wait_for_selector("th:text-is('OUT_OF_RANGE')")


def test_a_hidden_page_asks_for_nothing(sidecar, opened):
    page = opened(sidecar, "#/service")
    page.wait_for_selector("th:has-text('--listen')")
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    hide = """(hidden) => {
      Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }"""
    page.evaluate(hide, True)
    page.wait_for_timeout(2_500)  # what was asked before
    asked.clear()
    page.wait_for_timeout(4_500)
    assert asked == []
    page.evaluate(hide, False)
    page.wait_for_timeout(2_500)
    assert any(url.endswith("/metrics") for url in asked)


def test_a_service_with_tokens_asks_for_one(opened, tmp_path):
    tokens = tmp_path / "tokens"
    tokens.write_text("a-token-0123456789abcdef\n")
    with Server("--token-file", str(tokens)) as server:
        page = opened(server)
        page.wait_for_selector("text=The service asks for a token.")
        page.get_by_label("Token", exact=True).fill("a-token-0123456789abcdef")
        page.get_by_role("button", name="Use").click()
        page.wait_for_selector("caption:has-text('Next runs')")
        assert page.get_by_label("Token", exact=True).count() == 0


def test_the_keyboard_reaches_everything(sidecar, opened):
    page = opened(sidecar)
    # Features that do not exist yet must not be reachable.
    for text in (
        "caption:has-text('Next runs')",
        "label:has-text('Look into')",
        "button:text-is('Python')",
    ):
        page.wait_for_selector(text)
    reached = []
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.append(
            page.evaluate(
                "(document.activeElement.getAttribute('aria-label')"
                " ?? document.activeElement.closest('label')?.firstChild.textContent"
                " ?? document.activeElement.textContent).trim()"
            )
        )
    for name in ("Schedules", "ID", "Period", "Next runs", "Python", "Database", "Look into"):
        assert name in reached, (name, reached)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 390])
@pytest.mark.parametrize("view", VIEWS)
def test_everybody_can_read_it(view, width, scheme, sidecar, opened, client):
    spread = spread_of(client, "shown")
    page = opened(sidecar, VIEWS[view], width, scheme)
    if view == "lanes":  # lane plans are simulated
        page.wait_for_selector("table", timeout=30_000)
    page.wait_for_timeout(1_500)
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"{view}-{width}-{scheme}.png", full_page=True)
    assert page.get_by_role("alert").count() == 0, page.get_by_role("alert").all_inner_texts()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    # The page's content security policy allows only its own scripts, so axe is evaluated instead.
    page.evaluate(AXE.read_text())
    found = page.evaluate("axe.run().then((results) => results.violations)")
    bad = [one for one in found if one["impact"] in ("serious", "critical")]
    assert bad == [], [(one["id"], [node["html"] for node in one["nodes"]]) for one in bad]
    spread.discard()


def test_the_page_asks_no_other_host(sidecar, opened):
    page = opened(sidecar)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.reload()
    page.wait_for_selector("caption:has-text('Next runs')")
    assert asked
    assert all(url.startswith(f"http://127.0.0.1:{sidecar.admin_port}/") for url in asked)


def test_other_machines_have_a_console_with_tls_and_tokens(opened, tmp_path):
    certificate, key, tokens = (tmp_path / name for name in ("c.pem", "k.pem", "tokens"))
    key_type = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key]
    made = ["openssl", "req", "-x509", *key_type, "-out", certificate, "-subj", "/CN=localhost"]
    subprocess.run(made, check=True, capture_output=True)
    tokens.write_text("a-token-0123456789abcdef\n")
    tls = ["--tls-certificate", certificate, "--tls-key", key, "--admin-tls"]
    flags = [str(flag) for flag in (*tls, "--token-file", tokens)]
    with Server(*flags, admin="0.0.0.0:0") as server:
        page = opened(server, protocol="https")
        page.get_by_label("Token", exact=True).fill("a-token-0123456789abcdef")
        page.get_by_role("button", name="Use").click()
        page.wait_for_selector("caption:has-text('Next runs')")
        page.goto(f"https://127.0.0.1:{server.admin_port}/#/service")
        page.get_by_role("row").filter(has_text="--admin-tls").wait_for()
        page.wait_for_timeout(2_500)  # it polls the metrics
        assert page.get_by_role("alert").count() == 0
        page.goto(f"https://127.0.0.1:{server.admin_port}/#/simulations")
        page.get_by_role("button", name="Simulate").click()
        page.frame_locator("iframe.report").locator("#winner").wait_for(timeout=30_000)


def test_other_machines_have_no_console_without(tmp_path):
    with Server("--admin-insecure", admin="0.0.0.0:0") as server:
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"http://127.0.0.1:{server.admin_port}/")
        assert refused.value.code == 404
        assert "--admin-tls" in re.sub(r"\s+", " ", refused.value.read().decode())
