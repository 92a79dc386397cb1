"""Labels of the page never overlap, and are neither cut off nor broken within a word."""

from __future__ import annotations

import pytest
from opened import EXAMPLES, OVERFLOW, Opened, page_of, simulated
from samples import SAMPLES

WIDTHS = [360, 390, 640, 768, 1024, 1280, 1600]


def large() -> dict:
    """Return a week with two million jobs in the queue, and as many conflicts, in rows."""
    results = SAMPLES["week"]()
    for one in results["strategies"]:
        one["series"]["queue_depth"] = [depth * 91 for depth in one["series"]["queue_depth"]]
        one["figures"]["lock_conflicts"] *= 51
    first, second, *_ = results["strategies"]
    second["series"]["queue_depth"] = first["series"]["queue_depth"]
    return results


# The texts of each picture that overlap or leave the picture.
BAD_LABELS = """() => {
  const bad = [];
  const meet = (a, b) => a.left < b.right - 0.5 && b.left < a.right - 0.5
    && a.top < b.bottom - 0.5 && b.top < a.bottom - 0.5;
  const check = (where, boxes, frame) => boxes.forEach((box, index) => {
    for (const other of boxes.slice(index + 1)) {
      if (meet(box, other)) bad.push(`${where}: "${box.text}" on "${other.text}"`);
    }
    if (box.left < frame.left - 1 || box.right > frame.right + 1
      || box.top < frame.top - 1 || box.bottom > frame.bottom + 1) {
      bad.push(`${where}: "${box.text}" is cut off`);
    }
  });
  let count = 0;
  const place = (element) => element.closest("figure, section, table")?.id || element.className;
  for (const canvas of document.querySelectorAll("canvas")) {
    const texts = textsOf(canvas).filter((one) => one.text.trim());
    count += texts.length;
    check(place(canvas), texts, { left: 0, top: 0, right: canvas.width, bottom: canvas.height });
  }
  for (const svg of document.querySelectorAll("svg")) {
    const texts = [...svg.querySelectorAll("text")].map((one) => {
      const { left, right, top, bottom } = one.getBoundingClientRect();
      // The font's box is higher than its letters are.
      return { text: one.textContent, left, right, top: top + 2, bottom: bottom - 2 };
    });
    count += texts.length;
    const panel = svg.closest(".panel").getBoundingClientRect();
    check(place(svg), texts, panel);
  }
  // Elements side by side in lines of text.
  for (const group of document.querySelectorAll(".ranked, .bars, .strip, .head, .ridge, .facts")) {
    const parts = [...group.querySelectorAll(
      ".rank, .figure, .name, .track, .value, .about, .plot, h3, .unit, .switches, dt, dd")];
    const boxes = parts.filter((one) => one.offsetWidth > 0).map((one) => {
      const { left, right, top, bottom } = one.getBoundingClientRect();
      return { text: one.textContent || one.className, left, right, top, bottom };
    });
    count += boxes.length;
    const box = group.getBoundingClientRect();
    check(group.className, boxes, { left: box.left, right: box.right, top: -1e9, bottom: 1e9 });
    for (const rank of group.matches(".ranked") ? [group] : []) {
      const [mark, figure] = [".rank", ".figure"].map(
        (one) => rank.querySelector(one)?.getBoundingClientRect());
      if (mark && figure?.width && figure.top < mark.bottom - 4 && figure.left - mark.right < 6) {
        bad.push(`${rank.textContent}: the rank touches its figure`);
      }
    }
  }
  return { bad, count };
}"""

# Words of tables that are broken over lines, and cells that are wider than their column.
BROKEN_WORDS = """() => {
  const bad = [];
  let count = 0;
  for (const cell of document.querySelectorAll("th, td")) {
    if (!cell.offsetWidth) continue;
    if (cell.scrollWidth > cell.clientWidth + 1) bad.push(`too wide: ${cell.textContent}`);
    const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode;
      if (node.parentElement.closest(".long-word")) continue;
      for (const word of node.data.matchAll(/[^\\s-]+/g)) {
        if (word[0].length > 24) continue;
        const range = document.createRange();
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].length);
        count += 1;
        if (new Set([...range.getClientRects()].map((one) => Math.round(one.top))).size > 1) {
          bad.push(word[0]);
        }
      }
    }
  }
  return { bad, count };
}"""

OPEN_ALL = """async () => {
  for (const one of document.querySelectorAll("details")) one.open = true;
  await new Promise(done => setTimeout(done, 200)); // some tables are made now
}"""


@pytest.fixture(scope="session")
def express(tmp_path_factory):
    return simulated(tmp_path_factory.mktemp("express"), EXAMPLES / "express_lanes.toml")[1]


@pytest.fixture(scope="session")
def many(tmp_path_factory):
    path = tmp_path_factory.mktemp("large") / "large.html"
    path.write_text(page_of(large()))
    return path


@pytest.mark.parametrize("name", ["many", "lanes", "hostile", "nightly", "express"])
def test_labels_do_not_overlap(browser, pages, request, name):
    file = pages.get(name) or request.getfixturevalue(name)
    with Opened(browser, file, WIDTHS[0]) as opened:
        page = opened.page
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            for _ in range(3):
                opened.settle()
            labels = page.evaluate(BAD_LABELS)
            assert labels["bad"] == [], width
            assert labels["count"] > 50
        page.evaluate(OPEN_ALL)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            for _ in range(3):
                opened.settle()
            words = page.evaluate(BROKEN_WORDS)
            assert words["bad"] == [], width
            assert words["count"] > 100
            assert page.evaluate(OVERFLOW) <= 0


def test_labels_do_not_overlap_where_time_is_enlarged(browser, nightly):
    with Opened(browser, nightly, 390) as opened:
        page = opened.page
        for option in ("Day 2", "B down, day\xa02\xa001:00"):
            page.get_by_label("Time shown").select_option(label=option)
            opened.settle()
            opened.settle()
            for width in (360, 1280):
                page.set_viewport_size({"width": width, "height": 900})
                for _ in range(3):
                    opened.settle()
                assert page.evaluate(BAD_LABELS)["bad"] == [], (option, width)
            assert page.locator(".reset").is_visible()


def test_a_table_that_scrolls_says_so_and_keeps_its_first_column(browser, nightly):
    with Opened(browser, nightly, 768) as opened:
        page = opened.page
        opened.unfold("#all-figures > summary")
        opened.settle()
        opened.settle()
        frame = page.locator("#all-figures .scroll-frame")
        assert frame.locator(".scroll-hint").is_visible()
        assert "has-more" in frame.get_attribute("class")
        first = frame.locator("tbody tr:not(.group) th").first
        before = first.bounding_box()
        assert before["width"] > 200
        frame.locator(".scroll").evaluate("one => { one.scrollLeft = 1e6; }")
        opened.settle()
        opened.settle()
        assert first.bounding_box()["x"] == pytest.approx(before["x"], abs=1)
        assert "has-more" not in frame.get_attribute("class")
        # Tables do not scroll if there is room for them.
        page.set_viewport_size({"width": 1600, "height": 900})
        opened.settle()
        opened.settle()
        ranking = page.locator(".ranking .scroll-frame")
        assert not ranking.locator(".scroll-hint").is_visible()
