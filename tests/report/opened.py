"""The page of a simulation in a real browser, and the pixels that it paints."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
ASSETS = ROOT / "server" / "simulate" / "assets"
EXAMPLES = ROOT / "examples" / "simulations"
SCREENSHOTS = ROOT / "target" / "report-screenshots"
WIDE, NARROW = 1400, 390


def page_of(results: dict) -> str:
    """Fill the template with sample results."""
    return page_of_text(json.dumps(results))


def page_of_text(results: str) -> str:
    """Fill the template as the server does: with "<" escaped in the results."""
    escaped = results.replace("<", "\\u003c")
    return re.sub(
        r"/\*OFFBEAT:([\w./]+)\*/",
        lambda match: escaped if match[1] == "RESULTS" else (ASSETS / match[1]).read_text(),
        (ASSETS / "template.html").read_text(),
    )


def simulated(folder: Path, scenario: str | Path) -> tuple[dict, Path]:
    """Return the results of a scenario (a text or a file), and the page that is written."""
    binary = os.environ.get("OFFBEAT_BIN", ROOT / "target" / "release" / "offbeat")
    path = scenario
    if isinstance(scenario, str):
        path = folder / "scenario.toml"
        path.write_text(scenario)
    report = folder / "report.html"
    command = [binary, "simulate", path, "--report", report, "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert report.read_text() == page_of_text(done.stdout.strip())
    return json.loads(done.stdout), report


# Records the texts written on each canvas, with their boxes in pixels of the canvas.
NOTE_TEXTS = """(() => {
  const notes = new WeakMap();
  const { fillText, clearRect } = CanvasRenderingContext2D.prototype;
  window.textsOf = (canvas) => notes.get(canvas) || [];
  CanvasRenderingContext2D.prototype.clearRect = function (...box) {
    notes.set(this.canvas, []);
    return clearRect.apply(this, box);
  };
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...more) {
    const size = this.measureText(text);
    const [left, right] = [x - size.actualBoundingBoxLeft, x + size.actualBoundingBoxRight];
    const [top, bottom] = [y - size.actualBoundingBoxAscent, y + size.actualBoundingBoxDescent];
    const corners = [[left, top], [right, top], [left, bottom], [right, bottom]]
      .map(([px, py]) => this.getTransform().transformPoint({ x: px, y: py }));
    const xs = corners.map((one) => one.x);
    const ys = corners.map((one) => one.y);
    const box = {
      text,
      left: Math.min(...xs),
      right: Math.max(...xs),
      top: Math.min(...ys),
      bottom: Math.max(...ys),
    };
    notes.set(this.canvas, [...(notes.get(this.canvas) || []), box]);
    return fillText.call(this, text, x, y, ...more);
  };
})();"""


class Opened:
    """A page in a tab of its own, with its console errors and its requests."""

    def __init__(self, browser, file: Path, width: int, scheme: str = "light"):
        self.context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, device_scale_factor=1
        )
        self.context.add_init_script(NOTE_TEXTS)
        self.page = self.context.new_page()
        self.page.set_default_timeout(10_000)
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on(
            "console",
            lambda message: (
                message.type in ("error", "warning") and self.complaints.append(message.text)
            ),
        )
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.url = file.as_uri()
        self.page.goto(self.url)
        self.page.wait_for_selector("html[data-ready]")

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *error) -> None:
        self.context.close()
        if not any(error):
            assert self.complaints == []
            assert self.requests == [self.url]

    def unfold(self, summary: str) -> None:
        """Click a summary, and wait for the content that is created when its part first opens.

        The browser fires the toggle event in a separate task after the click.
        """
        found = self.page.locator(summary).first
        found.click()
        found.locator("xpath=following-sibling::*").first.wait_for()

    def settle(self) -> None:
        """Wait until changes are drawn."""
        self.page.evaluate(
            "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )


# The pixels of a canvas, read from a copy: reading the canvas itself causes a console warning.
PIXELS = """const pixels = (canvas) => {
  const copy = document.createElement("canvas");
  copy.width = canvas.width;
  copy.height = canvas.height;
  const context = copy.getContext("2d", { willReadFrequently: true });
  context.drawImage(canvas, 0, 0);
  return context.getImageData(0, 0, copy.width, copy.height).data;
};
"""

# The number of coloured pixels of each canvas (of all drawn pixels for the chart of lanes, which is
# black and white), and the number of shapes with any extent.
INK = (
    "() => {"
    + PIXELS
    + """return [...document.querySelectorAll("figure")].map((figure) => {
  const canvases = [...figure.querySelectorAll("canvas")];
  if (canvases.length) {
    let ink = 0;
    for (const data of canvases.map(pixels)) {
      for (let at = 0; at < data.length; at += 4) {
        const [r, g, b] = [data[at], data[at + 1], data[at + 2]];
        const coloured = Math.max(r, g, b) - Math.min(r, g, b) > 40;
        if (data[at + 3] > 100 && (coloured || figure.id === "lanes")) ink += 1;
      }
    }
    return { name: figure.id || figure.className, ink };
  }
  const shapes = [...figure.querySelectorAll("svg path")].filter((one) => one.getBBox().width > 0);
  return { name: figure.id || figure.className, ink: shapes.length };
}); }"""
)

# How many pixels of a chart have the colour of a strategy.
COLOUR = (
    "([id, strategy]) => {"
    + PIXELS
    + """
  const chip = document.querySelector(`.legend button[title="${strategy}"] .swatch`);
  const probe = document.createElement("i");
  probe.style.color = chip.style.getPropertyValue("--c");
  document.body.append(probe);
  const wanted = getComputedStyle(probe).color.match(/\\d+/g).map(Number);
  probe.remove();
  let count = 0;
  for (const data of [...document.querySelectorAll(`#${id} canvas`)].map(pixels)) {
    for (let at = 0; at < data.length; at += 4) {
      if (data[at + 3] > 200 && wanted.every((value, i) => Math.abs(data[at + i] - value) < 12)) {
        count += 1;
      }
    }
  }
  return count;
}"""
)

OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
