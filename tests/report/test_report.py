"""The page of a simulation, in a real browser: drawn, usable, silent, and as wide as its window."""

from __future__ import annotations

import time

import pytest
from opened import (
    COLOUR,
    EXAMPLES,
    INK,
    NARROW,
    OVERFLOW,
    SCREENSHOTS,
    WIDE,
    Opened,
    simulated,
)
from samples import HOSTILE, SAMPLES

# All variants that users see, and two that try to break the page.
FORMS = [
    (name, width, scheme)
    for name in SAMPLES
    for width, scheme in [(WIDE, "light"), (NARROW, "dark"), (WIDE, "dark"), (NARROW, "light")][
        : 2 if name in ("hostile", "crowded") else 4
    ]
]


@pytest.mark.parametrize(("name", "width", "scheme"), FORMS)
def test_page_is_drawn(browser, pages, name, width, scheme):
    sample = SAMPLES[name]()
    with Opened(browser, pages[name], width, scheme) as opened:
        page = opened.page
        opened.settle()
        assert page.evaluate(OVERFLOW) <= 0

        drawn = page.evaluate(INK)
        expected = ["queue-depth", "throughput", "enqueued", "busy-workers", "intervals"]
        expected += ["chart panel ring"] * sum(1 for one in sample["strategies"] if one["slots"])
        expected += ["lanes"] if sample["lanes"] else []
        assert [one["name"].replace(" alone", "") for one in drawn] == expected
        for one in drawn:
            if name == "minimal" and one["name"] == "intervals":
                continue  # no user ran twice: the page says so
            assert one["ink"] > (4_000 if one["name"] == "lanes" else 0), one

        assert page.text_content("#winner") == sample["ranking"][0]
        form = "wide" if width == WIDE else "narrow"
        page.screenshot(path=SCREENSHOTS / f"{name}-{form}-{scheme}.png", full_page=True)


@pytest.mark.parametrize("name", ["week", "hostile"])
def test_page_follows_its_window(browser, pages, name):
    with Opened(browser, pages[name], WIDE) as opened:
        for width in (320, 768, 2200, 1024, NARROW):
            opened.page.set_viewport_size({"width": width, "height": 800})
            opened.settle()
            opened.settle()
            assert opened.page.evaluate(OVERFLOW) <= 0
            widths = opened.page.evaluate(
                "[...document.querySelectorAll('.uplot')].map(one => one.offsetWidth)"
            )
            assert len(widths) >= 4
            # In rows, the names are beside the plots.
            assert min(1120, width) * 0.6 < max(widths) < width
            places = opened.page.evaluate(
                "[...document.querySelectorAll('.uplot')].map(one => one.parentNode.clientWidth)"
            )
            assert widths == places


def test_summary_has_the_figures(browser, pages):
    with Opened(browser, pages["week"], WIDE) as opened:
        page = opened.page
        lead = page.text_content(".answer .lead").replace("\xa0", " ")
        assert "first by all four criteria" in lead
        assert "95 % start within 1.1 s" in lead
        panels = page.text_content(".criteria").replace("\xa0", " ")
        assert "90 % of the intervals between a user's runs differ by less than 22 s" in panels
        assert "29,000 jobs enqueued in a second" in panels
        rows = page.locator("#ranking tbody tr")
        assert rows.count() == 5
        assert rows.first.locator("th").text_content() == "slots (TWISTER)"
        assert rows.first.locator(".rank").all_text_contents() == ["1"] * 4
        opened.unfold("#all-figures > summary")
        for name in ("jobs_finished", "max_queue_depth"):
            value = SAMPLES["week"]()["strategies"][0]["figures"][name]
            assert f"{value:,}" in page.text_content("#all-figures table")


def test_legend_hides_a_strategy_in_all_charts(browser, pages):
    with Opened(browser, pages["week"], WIDE) as opened:
        page = opened.page
        twister = page.locator(".legend button", has_text="slots (TWISTER)")
        before = page.evaluate(COLOUR, ["throughput", "slots (TWISTER)"])
        assert before > 100
        assert page.locator("#intervals .ridge .about:first-child").count() == 5
        assert page.locator("#rings .ring").is_visible()

        twister.click()
        page.mouse.move(5, 5)
        opened.settle()
        assert twister.get_attribute("aria-pressed") == "false"
        assert page.locator("#intervals .ridge .about:first-child").count() == 4
        assert not page.locator("#rings .ring").is_visible()
        for chart in ("queue-depth", "throughput", "enqueued", "busy-workers"):
            assert page.evaluate(COLOUR, [chart, "slots (TWISTER)"]) < before / 50
            labels = page.locator(f"#{chart} [role=img]").all()
            assert labels
            assert not any("TWISTER" in label.get_attribute("aria-label") for label in labels)

        twister.press("Enter")
        opened.settle()
        assert page.evaluate(COLOUR, ["throughput", "slots (TWISTER)"]) > 100
        assert page.locator("#rings .ring").is_visible()

        # Hiding the last strategy shows all of them again.
        for chip in page.locator(".legend button[aria-pressed]").all():
            chip.click()
        assert page.locator(".legend button[aria-pressed=true]").count() == 5


def test_queue_depth_is_logarithmic_when_peaks_are_far_apart(browser, pages):
    for name, pressed in (("week", "Logarithmic"), ("lanes", "Linear")):
        with Opened(browser, pages[name], WIDE) as opened:
            switch = opened.page.get_by_role("group", name="Scale of: Queue depth")
            button = switch.locator("button[aria-pressed=true]")
            assert button.text_content() == pressed
            switch.locator("button[aria-pressed=false]").click()
            assert button.text_content() != pressed


def test_values_at_the_pointer_and_zoom(browser, pages):
    with Opened(browser, pages["week"], WIDE) as opened:
        page = opened.page
        over = page.locator("#throughput .u-over").first
        over.scroll_into_view_if_needed()
        box = over.bounding_box()
        middle = box["y"] + box["height"] / 2
        page.mouse.move(box["x"] + 300, middle)
        opened.settle()
        assert page.locator("#throughput .tip .row").count() == 5
        assert page.locator("#queue-depth .tip").is_hidden()

        page.mouse.down()
        page.mouse.move(box["x"] + 420, middle, steps=4)
        page.mouse.up()
        opened.settle()
        assert page.locator(".reset").is_visible()
        page.click(".reset")
        assert page.locator(".reset").is_hidden()


def test_hostile_names_stay_text(browser, pages):
    with Opened(browser, pages["hostile"], WIDE) as opened:
        page = opened.page
        assert page.evaluate("window.broken") is None
        assert page.locator("img").count() == 0
        assert page.text_content("h1") == HOSTILE
        assert HOSTILE in page.text_content("#ranking")
        notes = page.locator(".notes li").all_text_contents()
        assert notes == SAMPLES["hostile"]()["scenario"]["notes"]
        opened.unfold("#all-figures > summary")
        partner = page.locator("#all-figures tbody", has_text=f"Partner: {HOSTILE}")
        assert (
            partner.locator("tr", has_text="Attempts refused").locator("td").all_text_contents()
            == ["2"] * 3
        )
        assert "4.5" in partner.locator("tr", has_text="Mean wait").text_content()
        assert "/*OFFBEAT:SCRIPT*/" in page.text_content("#ranking")


def test_every_chart_has_a_text_and_every_table_is_one(browser, pages):
    for name in ("week", "lanes"):
        with Opened(browser, pages[name], WIDE) as opened:
            page = opened.page
            figures = page.evaluate(
                """async () => {
                  for (const one of document.querySelectorAll("details")) one.open = true;
                  await new Promise(done => setTimeout(done, 100)); // some tables are made now
                  return [...document.querySelectorAll("figure")].map(figure => ({
                    labels: [...figure.querySelectorAll("[role=img]")].map(one => one.ariaLabel),
                    tables: figure.querySelectorAll("table").length,
                  }));
                }"""
            )
            assert len(figures) >= 6
            for figure in figures:
                assert figure["labels"]
                assert all(figure["labels"])
                assert figure["tables"] >= 1
            assert page.locator(".ring table").last.locator("tbody tr").count() >= 32
            unnamed = page.evaluate(
                "[...document.querySelectorAll('table')].filter(one =>"
                " !one.caption || !one.querySelector('th[scope=col]')).length"
            )
            assert unnamed == 0
            headings = page.evaluate(
                "[...document.querySelectorAll('h1, h2, h3')].map(one => +one.tagName[1])"
            )
            assert headings[0] == 1
            assert all(after <= before + 1 for before, after in zip(headings, headings[1:]))


def test_crowded_page_is_quick(browser, pages):
    begun = time.monotonic()
    with Opened(browser, pages["crowded"], WIDE) as opened:
        opened.settle()
        assert time.monotonic() - begun < 10
        # A click and its drawing; the limit is ten times a smooth frame, for slow machines.
        spent = opened.page.evaluate(
            """async () => {
              const begun = performance.now();
              document.querySelectorAll(".legend button")[1].click();
              await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
              return performance.now() - begun;
            }"""
        )
        assert spent < 1_000


def test_page_can_be_printed(browser, pages):
    # Even from dark mode, the printed page is white.
    with Opened(browser, pages["week"], WIDE, "dark") as opened:
        paper = opened.page.pdf(path=SCREENSHOTS / "week.pdf", format="A4", print_background=True)
        assert paper.count(b"/Type /Page\n") + paper.count(b"/Type /Page ") in range(3, 10)
        opened.settle()
        assert not opened.page.evaluate("document.documentElement.classList.contains('printing')")


@pytest.mark.parametrize(
    "scenario",
    ["bank_sync_week", "express_lanes", "lock_conflicts_two_kinds", "bank_down", "late_kinds"],
)
def test_the_simulator_writes_such_a_page(browser, tmp_path, scenario):
    results, report = simulated(tmp_path, EXAMPLES / f"{scenario}.toml")
    with Opened(browser, report, WIDE) as opened:
        page = opened.page
        assert page.text_content("#winner") == results["ranking"][0]
        assert page.locator("#findings li").all_text_contents() == [
            text.replace("day", "Day", 1) if text.startswith("day ") else text
            for text in results["findings"]
        ]
        drawn = {one["name"].replace(" alone", ""): one["ink"] for one in page.evaluate(INK)}
        assert all(drawn.values())
        assert ("lanes" in drawn) == (scenario == "express_lanes")
        has_outages = scenario == "late_kinds"
        assert ("nobody enqueues jobs" in page.text_content("main")) == has_outages
        assert ("Runs that came late" in page.text_content("#all-figures")) == has_outages
        page.screenshot(path=SCREENSHOTS / f"{scenario}.png", full_page=True)
