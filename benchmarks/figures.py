"""Figures of a section by their names, and numbers as people write them."""

from __future__ import annotations

import re

Lines = list[list[str]]


def figures(lines: Lines) -> dict[str, float]:
    """Return the figures of a section by name; of the kernels, a name is two cells."""
    return {
        ", ".join(line[:2]) if len(line) == 4 else line[0]: number(
            line[-2 if len(line) == 4 else 1]
        )
        for line in lines
    }


def find(found: dict[str, float], pattern: str) -> float | None:
    """Return the first figure whose name a pattern matches."""
    matching = (figure for name, figure in found.items() if matches(pattern, name))
    return next(matching, None)


def matches(pattern: str, name: str) -> bool:
    """Patterns know `.*` alone."""
    return bool(re.fullmatch(".*".join(map(re.escape, pattern.split(".*"))), name))


def number(text: str) -> float:
    found = re.match(r"[\d.,]+(?:e[+-]?\d+)?", text)
    return float(found[0].replace(",", "")) if found else 0.0


def significant(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
