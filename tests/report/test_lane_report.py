"""The page of a lane plan, in a real browser: drawn, silent, and as wide as its window."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BINARY = os.environ.get("OFFBEAT_BIN", str(ROOT / "target/release/offbeat"))
SCREENSHOTS = ROOT / "target" / "report-screenshots"
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"

#: Texts of a chart that overlap.
OVERLAPS = """() => [...document.querySelectorAll("svg")].flatMap((svg) => {
  const box = (text) => [text, text.getBoundingClientRect()];
  const texts = [...svg.querySelectorAll("text")].map(box);
  return texts.flatMap(([one, a], at) => texts.slice(at + 1)
    .filter(([, b]) => a.width > 0 && a.left < b.right - 1 && b.left < a.right - 1
      && a.top < b.bottom - 2 && b.top < a.bottom - 2)
    .map(([other]) => `${one.textContent} / ${other.textContent}`));
})"""

#: Texts that leave the panel of their chart.
OUTSIDE = """() => [...document.querySelectorAll("svg text")].filter((text) => {
  const [own, panel] = [text, text.closest(".panel")].map((one) => one.getBoundingClientRect());
  return own.width > 0 && (own.left < panel.left || own.right > panel.right);
}).map((text) => text.textContent)"""


def night() -> str:
    """Mails, webhooks, reports in two lengths, and imports with a heavy tail."""
    rng, rows, now = random.Random(7), ["id,type,at,seconds"], 0.0
    for number in range(20_000):
        now += rng.expovariate(4)
        draw = rng.random()
        if draw < 0.55:
            kind, size = "send_email", rng.lognormvariate(-1.7, 0.5)
        elif draw < 0.85:
            kind, size = "webhook", rng.lognormvariate(-0.5, 1.1)
        elif draw < 0.97:
            kind, size = "report", rng.gauss(1.2, 0.2) if rng.random() < 0.8 else rng.gauss(45, 8)
        else:
            kind, size = "import", min(3_600, 2 * rng.paretovariate(1.15))
        rows.append(f"{number},{kind},{now:.3f},{max(0.01, size):.3f}")
    return "\n".join(rows)


def two_lengths() -> str:
    return "\n".join((["0.5"] * 9 + ["20"]) * 100)


def many_types() -> str:
    """As many types as possible, with names that must be escaped in HTML."""
    rng = random.Random(1)
    names = [f"</text><script>alert({at})</script> a name that is long {at}" for at in range(64)]
    rows = [
        f"{name},{rng.expovariate(1 / (0.1 + at / 4)):.6f}" for at, name in enumerate(names)
    ] * 40
    return "\n".join(["type,seconds", *rows])


COLUMNS = ["--column", "seconds", "--by", "type"]
PLANS = {
    "night": (night, ["--workers", "12", *COLUMNS, "--time-column", "at"]),
    "timeouts": (two_lengths, ["--workers", "4", "--arrival-rate", "1.2"]),
    "full": (two_lengths, ["--workers", "4", "--arrival-rate", "1.58"]),
    "alike": (lambda: "1\n1.1\n0.9\n", ["--workers", "4", "--arrival-rate", "3"]),
    "constant": (lambda: "1\n" * 9, ["--workers", "4", "--arrival-rate", "3"]),
    "hostile": (many_types, ["--workers", "20", "--arrival-rate", "1.2", *COLUMNS]),
}


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> dict[str, Path]:
    folder, result = tmp_path_factory.mktemp("lanes"), {}
    for name, (jobs, flags) in PLANS.items():
        result[name] = folder / f"{name}.html"
        command = [BINARY, "lanes", "plan", *flags, "--report", result[name]]
        done = subprocess.run(command, input=jobs(), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    return result


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 390, 700, 1000, 1280, 1600])
@pytest.mark.parametrize("name", PLANS)
def test_the_page_of_a_plan(browser, pages, name, width, scheme):
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, device_scale_factor=1
    )
    page = context.new_page()
    complaints, requests = [], []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(pages[name].as_uri())
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"lanes-{name}-{width}-{scheme}.png", full_page=True)
    assert page.evaluate(OVERFLOW) <= 0
    assert page.evaluate(OVERLAPS) == []
    assert page.evaluate(OUTSIDE) == []
    shown = (
        "() => [...document.querySelectorAll('svg')].filter((svg) => svg.clientWidth > 0).length"
    )
    sections = page.locator("section:has(svg)").count()
    assert page.evaluate(shown) == sections >= 1, "one drawing of each chart"
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == {"light": "rgb(251, 251, 250)", "dark": "rgb(17, 20, 23)"}[scheme]
    assert page.locator("script").count() == 0
    context.close()
    assert (complaints, requests) == ([], [pages[name].as_uri()])
