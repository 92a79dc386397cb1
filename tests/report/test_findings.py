"""The page's findings about impossible loads, outages, partners, and differences."""

from __future__ import annotations

import json
import re

import pytest
from opened import COLOUR, EXAMPLES, PIXELS, WIDE, Opened, page_of, simulated
from samples import SAMPLES
from scenarios import LANES, OVERLOAD


def words(locator) -> str:
    """Return the text with ordinary spaces."""
    return locator.text_content().replace("\xa0", " ")


def figures(page, label: str) -> list[str]:
    """Return a row of the table of all figures."""
    row = page.locator("#all-figures tr", has=page.get_by_text(label, exact=True))
    return [text.replace("\xa0", " ") for text in row.locator("td").all_text_contents()]


def test_nothing_is_called_best_where_all_jobs_pile_up(browser, tmp_path):
    results, report = simulated(tmp_path, OVERLOAD)
    assert all(one["feasibility"]["jobs_pile_up"] for one in results["strategies"])
    with Opened(browser, report, WIDE) as opened:
        page = opened.page
        text = words(page.locator("main"))
        for praise in ("Best for this load", "ranks first", "Last is"):
            assert praise not in text
        assert page.locator("#winner, .criteria, .rank.first:not(.ring *)").count() == 0
        assert words(page.locator("#verdict")) == "No strategy does this work"
        answer = words(page.locator(".answer"))
        # 1,000 jobs of 4 minutes in a day.
        assert "2.78 workers are needed on average, 2 are available" in answer
        left = sorted(round(one["figures"]["jobs_left"]) for one in results["strategies"])
        assert f"{left[0]:,}" in answer
        assert f"{left[-1]:,}" in answer
        assert "More than 3 workers" in answer
        # The finding is before the answer, and in every legend and table.
        assert page.locator("#findings + .answer").count() == 1
        assert page.locator("#findings li").all_text_contents() == results["findings"]
        for place in (
            ".legend button[aria-pressed]",
            "#ranking tbody th",
            "#intervals .ridge .named",
        ):
            marked = page.locator(place).all_text_contents()
            assert len(marked) == 2
            assert all("jobs pile up" in text for text in marked), place
        # The figures are those of the jobs that finished.
        opened.unfold("#all-figures > summary")
        assert all(text.endswith("*") for text in figures(page, "Mean time until done"))
        assert not any("*" in text for text in figures(page, "Mean wait"))
        note = "* Of the jobs that were done, alone"
        assert note in words(page.locator(".ranking"))
        assert page.locator("#all-figures td.best").count() == 0


def test_who_does_not_do_the_work_has_no_rank(browser, tmp_path):
    results, report = simulated(tmp_path, EXAMPLES / "pipeline.toml")
    piling = [one["name"] for one in results["strategies"] if one["feasibility"]["jobs_pile_up"]]
    assert piling == ["fixed workers"]
    with Opened(browser, report, WIDE) as opened:
        page = opened.page
        row = page.locator("#ranking tr", has_text="fixed workers")
        assert row.locator(".rank").count() == 0
        assert "jobs pile up" in words(row)
        assert "48 %" in words(row.locator(".not-done"))
        others = page.locator("#ranking tbody tr", has_not_text="fixed workers")
        assert [others.nth(at).locator(".rank").count() for at in range(3)] == [4] * 3
        assert "fixed workers" not in page.text_content("#winner")
        assert page.locator(".bars .first", has_text="fixed workers").count() == 0


BAND = (
    "([id, times, duration]) => {"
    + PIXELS
    + """
  return [...document.querySelectorAll(`#${id} .uplot`)].map((plot) => {
    const canvas = plot.querySelector("canvas");
    const data = pixels(canvas);
    const over = plot.querySelector(".u-over");
    const ratio = canvas.width / canvas.offsetWidth;
    const y = Math.round((over.offsetTop + 2) * ratio);
    return times.map((time) => {
      const x = Math.round((over.offsetLeft + over.offsetWidth * time / duration) * ratio);
      return [...data.slice(4 * (y * canvas.width + x), 4 * (y * canvas.width + x) + 4)].join();
    });
  });
}"""
)
TEXTS = """(id) => [...document.querySelectorAll(`#${id} canvas`)].map(
  (canvas) => textsOf(canvas).map((one) => one.text).filter((text) => text))"""
HOUR = 3600


def test_outages_are_bands_with_names_in_every_chart_over_time(browser, outage):
    results, report = outage
    duration = results["scenario"]["duration"]
    with Opened(browser, report, WIDE) as opened:
        page = opened.page
        for chart in ("queue-depth", "throughput", "enqueued", "busy-workers"):
            # In B's outage, in the producer's, and in neither.
            times = [28.5 * HOUR, 62.5 * HOUR, 20.5 * HOUR, 50.5 * HOUR]
            plots = page.evaluate(BAND, [chart, times, duration])
            assert plots
            for of_partner, of_producer, *outside in plots:
                assert of_partner == of_producer, chart
                assert len(set(outside)) == 1
                assert of_partner != outside[0], chart
            first, *others = page.evaluate(TEXTS, chart)
            assert "B down" in first
            assert "nobody enqueues" in first
            assert not any("B down" in texts for texts in others)
        intro = words(page.locator("section", has=page.locator("#over-time")).locator(".intro"))
        assert "B is down (day 2 01:00 to 07:00)" in intro
        assert "nobody enqueues jobs (day 3 12:00 to 16:00)" in intro
        # The cause is given in words next to the values.
        over = page.locator("#queue-depth .u-over").first
        over.scroll_into_view_if_needed()
        box = over.bounding_box()
        page.mouse.move(box["x"] + box["width"] * 28.5 * HOUR / duration, box["y"] + 10)
        opened.settle()
        assert "B is down" in words(page.locator("#queue-depth .tip"))
        page.get_by_label("Time shown").select_option(label="B down, day\xa02\xa001:00")
        opened.settle()
        opened.settle()
        assert "00:00" in page.evaluate(TEXTS, "queue-depth")[-1]


def test_each_partner_has_a_chart_of_the_strategy_that_is_chosen(browser, outage):
    results, report = outage
    best = next(one for one in results["strategies"] if one["name"] == results["ranking"][0])
    with Opened(browser, report, WIDE) as opened:
        page = opened.page
        panels = page.locator("#partners figure")
        assert panels.count() == 2
        for place, partner in enumerate(best["partners"]):
            panel = panels.nth(place)
            assert panel.locator("h3").text_content() == partner["name"]
            # A row for each series with something in it, and a sentence for the others.
            drawn = [name for name, values in partner["series"].items() if any(values)]
            assert panel.locator("canvas").count() == len(drawn)
            assert panel.locator(".measure").count() == 4
            assert ("No attempt was left unanswered" in words(panel)) == ("failed" not in drawn)
        assert "failed" in drawn
        unit = words(panels.nth(1).locator(".unit"))
        assert unit == "5 calls a second allowed; down day 2 01:00 to 07:00"
        other = next(name for name in results["ranking"] if name == "random smear")
        before = page.evaluate(COLOUR, ["partners", other])
        page.get_by_label("Strategy ", exact=False).last.select_option(label=other)
        opened.settle()
        assert before == 0
        assert page.evaluate(COLOUR, ["partners", other]) > 100
        assert other in panels.first.locator(".plots").get_attribute("aria-label")
        panels.first.locator("summary").click()
        table = panels.first.locator("table")
        finished = round(best["partners"][0]["jobs_finished"])
        assert f"{finished:,}" in words(table)


def test_waits_have_one_scale_for_all_partners(browser, outage, tmp_path):
    results = json.loads(json.dumps(outage[0]))
    for one in results["strategies"]:
        waits = one["partners"][1]["series"]["mean_wait"]
        one["partners"][1]["series"]["mean_wait"] = [value and value * 20 for value in waits]
    file = tmp_path / "waits.html"
    file.write_text(page_of(results))
    with Opened(browser, file, WIDE) as opened:
        panels = opened.page.locator("#partners figure")
        marks = "canvas => textsOf(canvas).map(one => one.text).filter(text => !/^day/.test(text))"
        waits = [panels.nth(at).locator("canvas").last.evaluate(marks) for at in range(2)]
        assert waits[0] == waits[1]
        assert any("d" in text for text in waits[0])


def test_phases_say_what_was_needed_and_what_there_was(browser, outage):
    results, report = outage
    with Opened(browser, report, WIDE) as opened:
        page = opened.page
        assert not page.locator("#phases table").first.is_visible()
        opened.unfold("#phases > summary")
        tables = page.locator("#phases table")
        assert tables.count() == len(results["strategies"])
        rows = tables.first.locator("tbody tr")
        assert [words(rows.nth(at).locator("th")) for at in range(rows.count())] == [
            "day 1 00:00 to day 2 01:00",
            "day 2 01:00 to 07:00",
            "day 2 07:00 to day 3 12:00",
            "day 3 12:00 to 16:00",
            "day 3 16:00 to day 4 24:00",
        ]
        down = [words(rows.nth(at).locator("td").first) for at in range(rows.count())]
        assert down == ["–", "B", "–", "producer", "–"]
        # 0.4 of 0.3 jobs per second, for two minutes each, need 14.4 workers; the other 0.6
        # need 1.3: a sync of 20 s, and two jobs of 1 s.
        cells = [words(cell) for cell in rows.nth(1).locator("td").all()]
        needed, available, busy = (float(text) for text in cells[1:4])
        assert needed == pytest.approx(15.7, abs=0.3)
        assert available == 4
        assert busy > 3.9
        assert float(cells[-1]) > 3  # workers wait for B without success
        assert cells[-2] == "5"


def test_what_is_equal_is_no_contest(browser, tmp_path):
    results, report = simulated(tmp_path, LANES)
    with Opened(browser, report, WIDE) as opened:
        page = opened.page
        assert page.text_content("#winner") == "two lanes"
        assert page.locator(".answer .label").text_content() == "Least slowdown"
        titles = page.locator(".criterion h3").all_text_contents()
        assert titles[:2] == ["Slowdown", "Wait"]
        equal = words(page.locator(".equal"))
        assert "Both strategies are equal, within 1 %, by" in equal
        peak = results["strategies"][0]["figures"]["peak_enqueued_per_second"]
        assert f"most jobs enqueued in a second: {peak:g}" in equal
        assert "means over 2 seeds" in equal
        assert "No spikes of jobs" not in titles
        assert "Figures are means over 2 seeds" in words(page.locator("header"))
        assert re.search(r"mean over 2 seeds", words(page.locator(".criteria")))


def test_a_difference_below_one_percent_is_none(browser, tmp_path):
    results = SAMPLES["week"]()
    results["strategies"] = results["strategies"][:2]
    first, second = results["strategies"]
    results["ranking"] = [first["name"], second["name"]]
    second["figures"] = {**first["figures"]}
    first["ranks"] = second["ranks"] = dict.fromkeys(first["ranks"], 1)
    for key in ("throughput_variation", "mean_wait"):
        second["figures"][key] *= 1.005
    second["figures"]["p99_wait"] *= 1.05
    file = tmp_path / "equal.html"
    file.write_text(page_of(results))
    with Opened(browser, file, WIDE) as opened:
        page = opened.page
        assert words(page.locator("#winner")) == "at once and random smear"
        assert "They are equal by all four criteria, within 1 %." in words(page.locator(".answer"))
        assert page.locator(".criterion").count() == 0
        assert "Last is" not in words(page.locator("main"))
        opened.unfold("#all-figures > summary")
        best = page.locator("#all-figures tr", has=page.locator("td.best"))
        assert [words(row.locator("th")) for row in best.all()] == ["99th percentile of the wait"]
        assert best.locator("td.best").count() == 1


def test_lines_that_hide_one_another_get_rows_with_one_scale(browser, tmp_path):
    results = SAMPLES["week"]()
    results["strategies"] = results["strategies"][:2]
    first, second = results["strategies"]
    results["ranking"] = [first["name"], second["name"]]
    steps = len(first["series"]["workers"])
    second["series"] = {**first["series"], "busy_workers": [20] * steps}
    # The series differ a lot, but in each step the other one is higher.
    first["series"]["finished_per_second"] = [1, 3] * (steps // 2)
    second["series"]["finished_per_second"] = [3, 1] * (steps // 2)
    file = tmp_path / "hidden.html"
    file.write_text(page_of(results))
    with Opened(browser, file, WIDE) as opened:
        page = opened.page
        assert page.locator("#queue-depth .uplot").count() == 2
        assert page.locator("#throughput .uplot").count() == 2
        assert page.locator("#busy-workers .uplot").count() == 1
        names = page.locator("#queue-depth .strip .about").all_text_contents()
        assert names == ["at once", "random smear"]
        scales = page.evaluate(TEXTS, "queue-depth")
        ticks = [
            [text for text in texts if "day" not in text and ":" not in text] for texts in scales
        ]
        assert ticks[0] == ticks[1]
        switch = page.get_by_role("group", name="Lines of: Queue depth")
        switch.get_by_text("Together").click()
        assert page.locator("#queue-depth .uplot").count() == 1
