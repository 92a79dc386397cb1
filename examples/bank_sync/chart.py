"""Draws how many jobs are due in each minute of a cycle, with cron and with Offbeat, as SVG.

Readable on light and dark pages: the picture has a background and colours for both themes.
"""

from __future__ import annotations

from datetime import timedelta

WIDTH, HEIGHT, LEFT, RIGHT = 880, 500, 78, 860
STYLE = """
svg { --page: #ffffff; --ink: #1f2328; --dim: #59636e; --grid: #d8dee4;
  --cron: #b35900; --sync: #0b63c5; --report: #6f9fd8; }
@media (prefers-color-scheme: dark) {
  svg { --page: #0d1117; --ink: #e6edf3; --dim: #9198a1; --grid: #30363d;
    --cron: #f0883e; --sync: #2f81f7; --report: #8fc1ff; }
}
text { font: 14px system-ui, -apple-system, "Segoe UI", sans-serif;
  fill: var(--ink); }
.head { font-weight: 600; font-size: 16px; }
.dim { fill: var(--dim); font-size: 13px; }
.end { text-anchor: end; }
.middle { text-anchor: middle; }
.grid { stroke: var(--grid); }
.page { fill: var(--page); }
.cron { fill: var(--cron); stroke: var(--cron); vector-effect: non-scaling-stroke; }
.sync { fill: var(--sync); }
.report { fill: var(--report); }
"""


def _x(minute: float, minutes: int) -> float:
    return LEFT + (RIGHT - LEFT) * minute / minutes


def _text(x: float, y: float, words: str, kind: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" class="{kind}">{words}</text>'


def _rounded_up(value: int) -> int:
    """Round up to one digit followed by zeros, for the end of the axis."""
    unit: int = 10 ** (len(str(value)) - 1)
    return -(-value // unit) * unit


def _area(loads: list[int], top: float, base: float, most: int, kind: str) -> str:
    """Return the loads as steps from the zero line; the path holds the numbers themselves."""
    steps = [f"v{load - before}h1" for before, load in zip([0, *loads], loads)]
    wide, high = (RIGHT - LEFT) / len(loads), (base - top) / most
    return (
        f'<path class="{kind}" transform="translate({LEFT} {base:g}) scale({wide:.6f} {-high:.6f})"'
        f' d="M0,0{"".join(steps)}V0Z"/>'
    )


def _axes(top: float, base: float, most: int, minutes: int) -> list[str]:
    parts = []
    for value in (0, most // 2, most):
        y = base - (base - top) * value / most
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{RIGHT}" y1="{y:g}" y2="{y:g}"/>')
        parts.append(_text(LEFT - 8, y + 5, f"{value:,}", "dim end"))
    for hour in range(minutes // 60 + 1):
        parts.append(_text(_x(hour * 60, minutes), base + 18, f"{hour}:00", "dim middle"))
    return parts


def _account(one_account: dict[str, timedelta], y: float, minutes: int) -> list[str]:
    """Return the line of one account, with a mark for each of its jobs."""
    parts = [f'<line class="grid" x1="{LEFT}" x2="{RIGHT}" y1="{y:g}" y2="{y:g}"/>']
    for name, offset in one_account.items():
        x = _x(offset.total_seconds() / 60, minutes)
        parts.append(f'<circle class="{name}" cx="{x:.1f}" cy="{y:g}" r="6"/>')
        parts.append(_text(round(x) + 10, y - 8, f"{name} {offset}"))
    return parts


def draw(due: dict[str, list[int]], nearest: timedelta, one_account: dict[str, timedelta]) -> str:
    """Draw the jobs that are due in each minute, by kind, and the times of one account.

    ``nearest`` is the shortest time between two jobs of any account.
    """
    sync = due["sync"]
    both = [sum(kinds) for kinds in zip(*due.values())]
    minutes, jobs = len(both), sum(both)
    accounts = sum(sync)
    cron = [jobs] + [0] * (minutes - 1)
    legend = "".join(f'<tspan class="{name}">■</tspan> {name} · ' for name in due)
    hours = nearest.total_seconds() / 3600
    most_cron, most = _rounded_up(jobs), _rounded_up(max(both))
    summary = (
        f"{accounts:,} accounts, one sync and one report each, every {minutes // 60} hours."
        f" With cron on the hour {jobs:,} jobs are due in one minute;"
        f" with Offbeat at most {max(both):,}."
    )
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"'
        f' width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="{summary}">',
        f"<style>{STYLE}</style>",
        f'<rect class="page" width="{WIDTH}" height="{HEIGHT}" rx="8"/>',
        _text(20, 30, f"cron, on the hour: {jobs:,} jobs due in one minute", "head"),
        _text(RIGHT, 30, "jobs due a minute", "dim end"),
        *_axes(50, 180, most_cron, minutes),
        _area(cron, 50, 180, most_cron, "cron"),
        _text(20, 242, f"Offbeat: at most {max(both):,} jobs due in any minute", "head"),
        _text(
            RIGHT,
            242,
            f"{legend}jobs due a minute, enlarged {most_cron // most:,} times",
            "dim end",
        ),
        *_axes(262, 392, most, minutes),
        _area(both, 262, 392, most, "report"),
        _area(sync, 262, 392, most, "sync"),
        _text(20, 448, f"Two jobs of one account: at least {hours:g} hours apart", "head"),
        _text(RIGHT, 448, f"one of {accounts:,} accounts", "dim end"),
        *_account(one_account, 484, minutes),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"
