"""The page of what was measured: budgets, charts, tables."""

from __future__ import annotations

import math
import os

from budgets import BUDGETS
from charts import CHARTS
from figures import Lines, figures, matches, significant
from sections import ROOT, SECTIONS, Section

PAGE = ROOT / "docs" / "benchmarks.md"
IMAGES = ROOT / "docs" / "images" / "benchmarks"

INTRODUCTION = """
Written by `just bench`, of what it measured: each figure beside its peers, in one run on one
machine. On another machine, figures differ more than ratios do. Benchmarks are not tests: nothing
fails when a figure changes.
"""

KEPT = """
A [budget](decisions/0021-budgets.md) is a figure that a user would notice if it were broken, with
room to spare. Below one, the simplest code wins.
"""

APART = """
Three budgets are measured apart. Batches through the clients are compared with those of an earlier
binary ([how](../benchmarks/README.md#budgets)). Image, idle memory and time to the first answer,
and what attackers can do, are tests, which fail.
"""

INSTRUCTIONS = """
[`counts.tsv`](../benchmarks/instructions/counts.tsv) holds the instructions of hot paths, counted
under callgrind. `just counts` compares them within 3 %: noise cannot touch them. They depend on
the compiler, which the table names; with another, nothing is compared, and the run says so.
callgrind knows no AVX-512, so that the kernels are those of AVX2 and plain.
"""


def write(results: dict[str, dict]) -> None:
    """Write the page and its charts of results, by the names of their sections."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    verdicts = [row for budget in BUDGETS if (row := budget.row(results))]
    parts = ["# Benchmarks\n", wrapped(INTRODUCTION) + "\n", "## Budgets\n", wrapped(KEPT) + "\n"]
    parts.append(markdown(["", "budget", "measured", ""], verdicts))
    parts += [wrapped(APART) + "\n", "## Five charts\n"]
    for chart in CHARTS:
        if chart.draw(results, IMAGES):
            figures_at = anchor(SECTIONS[chart.section].title)
            picture = f"![{chart.title}](images/benchmarks/{chart.name}.svg)"
            parts.append(f"{chart.says} [The figures](#{figures_at}).\n\n{picture}\n")
    parts.append("## Machine\n")
    machines = list(dict.fromkeys(result["machine"] for result in results.values()))
    for text in machines:
        names = [name for name, result in results.items() if result["machine"] == text]
        which = "" if len(machines) == 1 else f"`{'`, `'.join(names)}`: "
        parts.append(wrapped(which + text) + "\n")
    for name, result in results.items():
        parts.append(measured(name, SECTIONS[name], result))
    parts.append("## Instruction counts\n\n" + wrapped(INSTRUCTIONS) + "\n")
    PAGE.write_text("\n".join(parts))


def measured(name: str, section: Section, result: dict) -> str:
    parts = [f"## {section.title}\n\n{wrapped(section.intro)}\n"]
    if result["load"] > 1.5 * (os.cpu_count() or 1):
        parts.append(f"The machine was busy: its load was {result['load']:.1f} at the end.\n")
    lines = result["lines"]
    parts.append(curves(lines) if name == "growth" else table(section, lines))
    if section.ratios and (found := ratios(section, lines)):
        parts.append(found)
    return "\n".join(parts)


def anchor(title: str) -> str:
    """Return the anchor that GitHub and the site make of a heading."""
    kept = "".join(letter for letter in title.lower() if letter.isalnum() or letter in " -")
    return kept.replace(" ", "-")


def wrapped(text: str) -> str:
    lines, line = [], ""
    for word in text.split():
        if len(line) + len(word) + 1 > 100:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return "\n".join([*lines, line])


def table(section: Section, lines: Lines) -> str:
    if section.title.startswith("IDs decided"):
        rows = [[*line[:2], shown(line[2]), line[3]] for line in lines]
        return markdown(["", "", section.unit, "times the first"], rows)
    return markdown(["", section.unit], [[line[0], shown(line[1])] for line in lines])


def ratios(section: Section, lines: Lines) -> str:
    found = figures(lines)
    rows = []
    for above, below in section.ratios:
        peer = next((name for name in found if matches(below, name)), None)
        for name, figure in found.items():
            if peer is not None and matches(above, name) and found[peer]:
                rows.append([name, peer, f"{figure / found[peer]:,.2f}"])
    return markdown(["", "over", "times"], rows) if rows else ""


def curves(lines: Lines) -> str:
    found: dict[str, list[tuple[int, float]]] = {}
    for name, size, time_taken in lines:
        found.setdefault(name, []).append((int(size), float(time_taken)))
    parts = []
    for name, points in found.items():
        steps = " ".join(f"{size:,}: {significant(value)}," for size, value in points).rstrip(",")
        parts.append([name, steps, f"{exponent(points):+.2f}"])
    return markdown(["", "size: ns an item", "k"], parts)


def exponent(points: list[tuple[int, float]]) -> float:
    """The slope of a line through the logarithms, by least squares."""
    xs = [math.log(size) for size, _ in points]
    ys = [math.log(value) for _, value in points]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys)) / sum((a - x) ** 2 for a in xs)


def markdown(head: list[str], rows: list[list[str]]) -> str:
    def line(cells: list[str]) -> str:
        return "| " + " | ".join(cells) + " |"

    return "\n".join([line(head), "|" + "---|" * len(head), *map(line, rows)]) + "\n"


def shown(text: str) -> str:
    figure, _, unit = text.partition(" ")
    return f"{int(figure):,} {unit}".strip() if figure.isdigit() else text
