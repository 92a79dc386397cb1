"""The dial shows where slots and kinds are in the cycle, for every placement of kinds."""

from __future__ import annotations

import pytest
from opened import WIDE, Opened, simulated
from scenarios import WINDOWS

DIAL = """() => [...document.querySelectorAll(".ring")].map((ring) => ({
  name: ring.querySelector("h3 bdi").textContent,
  marks: [...ring.querySelectorAll("svg .number")].map((one) => [
    one.textContent,
    Math.atan2(+one.getAttribute("x"), -(+one.getAttribute("y") - 4)) / (2 * Math.PI),
  ]),
  hands: ring.querySelectorAll("svg .hand").length,
  rows: [...ring.querySelectorAll("table.kinds tbody tr")].map(
    (row) => [...row.querySelectorAll("th, td")].slice(1).map((cell) => cell.textContent)),
}))"""

# Whether the dial has a bar at a time of the cycle, given as a share of it.
FILLED = """(times) => {
  const svg = document.querySelector(".ring svg");
  const bars = [...svg.querySelectorAll(".bars")];
  const { width } = svg.getBoundingClientRect();
  const at = (time) => {
    for (let radius = width * 0.2; radius < width * 0.4; radius += 1) {
      const point = svg.createSVGPoint();
      point.x = radius * Math.sin(2 * Math.PI * time);
      point.y = -radius * Math.cos(2 * Math.PI * time);
      if (bars.some((bar) => bar.isPointInFill(point))) return true;
    }
    return false;
  };
  return times.map(at);
}"""


def test_a_kind_that_stands_anywhere_is_in_no_slot_of_the_dial(browser, outage):
    results, report = outage
    strategies = {one["name"]: one for one in results["strategies"] if one["slots"]}
    with Opened(browser, report, WIDE) as opened:
        dials = opened.page.evaluate(DIAL)
        assert {dial["name"] for dial in dials} == set(strategies) == {"slots", "anywhere"}
        for dial in dials:
            slots = strategies[dial["name"]]["slots"]
            count = len(slots["loads"])
            by_slot: dict[int, list[int]] = {}
            for number, kind in enumerate(slots["kinds"], 1):
                if kind["slot"] is None:
                    assert dial["rows"][number - 1] == [
                        kind["name"],
                        "anywhere, elsewhere for each user",
                    ]
                else:
                    by_slot.setdefault(kind["slot"], []).append(number)
                    assert dial["rows"][number - 1][1] == f"{kind['slot']:,}"
            # Kinds in the same slot share a mark at that slot.
            assert dial["hands"] == len(by_slot)
            marks = {text: turn % 1 for text, turn in dial["marks"]}
            assert marks == {
                ", ".join(map(str, numbers)): pytest.approx((slot + 0.5) / count, abs=0.01)
                for slot, numbers in by_slot.items()
            }
        anywhere = strategies["anywhere"]["slots"]["kinds"]
        assert [kind["slot"] for kind in anywhere] == [0, None, None]


def test_the_dial_leaves_the_time_free_in_which_no_job_may_come(browser, tmp_path):
    results, report = simulated(tmp_path, WINDOWS)
    slots = results["strategies"][0]["slots"]
    with Opened(browser, report, WIDE) as opened:
        [dial] = opened.page.evaluate(DIAL)
        # Some points at each hour, as there is a gap between two bars.
        near = [[hour + step / 100 for step in range(5)] for hour in (0.4, 3, 5.5, 22.5, 23.4)]
        for hours in near:
            assert any(opened.page.evaluate(FILLED, [hour / 24 for hour in hours])), hours
        free = [hour / 240 for hour in range(61, 220)]
        assert not any(opened.page.evaluate(FILLED, free))
        # All slots are in eight hours; the sixth one is followed by the hour from 22:00 to 23:00.
        marks = dict(dial["marks"])
        assert set(marks) == {"1", "2"}
        for number, kind in enumerate(slots["kinds"][:2], 1):
            hour = (kind["slot"] + 0.5) * 8 / len(slots["loads"])
            hour = hour if hour < 6 else hour + 16
            assert marks[str(number)] % 1 == pytest.approx(hour / 24, abs=0.01)
        assert dial["rows"][2] == ["weekly", "by its own cycle or windows"]


def test_kinds_of_one_slot_share_a_mark(browser, pages):
    with Opened(browser, pages["lanes"], WIDE) as opened:
        dials = {one["name"]: one for one in opened.page.evaluate(DIAL)}
        marks = dict(dials["slots (HASH)"]["marks"])
        # The second and the third kind of the sample are both in slot 16.
        assert set(marks) == {"1", "2, 3", "4", "5"}
