"""Draws the places of kinds in the cycle and in a turn of late runs, as SVG on standard output.

Readable on light and dark pages: the picture has a background and colours for both themes. Places
are computed as HASH placement defines them: from the two halves of the MD5 of the ID.

python3 site/reciprocal_slots.py >docs/images/reciprocal_slots.svg
"""

from __future__ import annotations

from hashlib import md5
from math import cos, pi, sin

WIDTH, HEIGHT, RADIUS, MIDDLE = 880, 480, 130, 250
CYCLE, TURN = 8 * 3600, 3600
STYLE = """
svg { --page: #ffffff; --ink: #1f2328; --dim: #59636e; --grid: #d0d7de;
  --first: #0b63c5; --second: #b35900; }
@media (prefers-color-scheme: dark) {
  svg { --page: #0d1117; --ink: #e6edf3; --dim: #9198a1; --grid: #3d444d;
    --first: #58a6ff; --second: #f0883e; }
}
text { font: 14px system-ui, -apple-system, "Segoe UI", sans-serif;
  fill: var(--ink); }
.head { font-weight: 600; font-size: 16px; }
.dim { fill: var(--dim); font-size: 13px; }
.start { text-anchor: start; }
.end { text-anchor: end; }
.middle { text-anchor: middle; }
.page { fill: var(--page); }
.dial { fill: none; stroke: var(--grid); stroke-width: 10; }
.tick { stroke: var(--dim); stroke-width: 1.5; }
.first { stroke: var(--first); fill: var(--first); }
.second { stroke: var(--second); fill: var(--second); }
.axis { stroke-width: 2; stroke-dasharray: 5 5; }
.export { fill: var(--page); stroke-width: 4; }
text.first, text.second { stroke: none; }
"""
LABEL = (
    "Two dials. On the dial of a cycle of 8 hours, the import and the export of bolt and of dune "
    "stand opposite one another, 4 hours apart. On the dial of a turn of one hour, for late runs, "
    "they stand opposite one another again, 30 minutes apart."
)


def places(account: str) -> tuple[float, float]:
    """The place of an account, as a share of the cycle and of a turn."""
    digest = md5(account.encode()).digest()
    return tuple(int.from_bytes(half, "big") / 2**64 for half in (digest[:8], digest[8:]))


def point(centre: int, share: float, radius: float) -> tuple[float, float]:
    """A point on a dial; share 0 is at the top."""
    return centre + radius * sin(2 * pi * share), MIDDLE - radius * cos(2 * pi * share)


def text(x: float, y: float, words: str, kind: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}">{words}</text>'


def clock(seconds: int, in_hours: bool) -> str:
    """A time of the cycle in hours and minutes, or of a turn in minutes and seconds."""
    high, low = divmod(seconds // 60 if in_hours else seconds, 60)
    return f"{high}:{low:02}"


def labelled(centre: int, share: float, lines: list[tuple[str, str]]) -> list[str]:
    """Labels next to the dial, outside of it."""
    x, y = point(centre, share, RADIUS + 20)
    side = "start" if x > centre + 20 else "end" if x < centre - 20 else "middle"
    above = 17 * (len(lines) - 1)
    y += 5 - above * (1 + cos(2 * pi * share)) / 2
    return [
        text(x, y + 17 * row, words, f"{kind} {side}") for row, (words, kind) in enumerate(lines)
    ]


def dial(centre: int, period: int, shares: dict[str, float], marks: list[str]) -> list[str]:
    """One dial: ticks, an axis for each account, and its two kinds at the ends of the axis."""
    parts = [f'<circle class="dial" cx="{centre}" cy="{MIDDLE}" r="{RADIUS}"/>']
    for place, mark in enumerate(marks):
        share = place / len(marks)
        (x1, y1), (x2, y2) = point(centre, share, RADIUS - 5), point(centre, share, RADIUS + 5)
        parts.append(
            f'<line class="tick" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'
        )
        x, y = point(centre, share, RADIUS - 25)
        parts.append(text(x, y + 5, mark, "dim middle"))
    for (account, share), kind in zip(shares.items(), ["first", "second"]):
        (x1, y1), (x2, y2) = point(centre, share, RADIUS), point(centre, share + 0.5, RADIUS)
        parts.append(
            f'<line class="axis {kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'
        )
        parts.append(f'<circle class="{kind}" cx="{x1:.1f}" cy="{y1:.1f}" r="8"/>')
        parts.append(f'<circle class="{kind} export" cx="{x2:.1f}" cy="{y2:.1f}" r="7"/>')
        for at in (share, (share + 0.5) % 1):
            time = clock(int(at * period), period == CYCLE)
            parts += labelled(centre, at, [(account, kind), (time, "dim")])
    return parts


def picture() -> str:
    in_cycle = {account: places(account)[0] for account in ("bolt", "dune")}
    in_turn = {account: places(account)[1] for account in ("bolt", "dune")}
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" role="img" aria-label="{LABEL}">',
        f"<style>{STYLE}</style>",
        f'<rect class="page" width="{WIDTH}" height="{HEIGHT}" rx="8"/>',
        text(225, 36, "On time: the cycle, 8 hours", "head middle"),
        text(225, 58, "import and export are 4 hours apart", "dim middle"),
        text(655, 36, "Late: a turn, 1 hour", "head middle"),
        text(655, 58, "import and export are 30 minutes apart", "dim middle"),
        *dial(225, CYCLE, in_cycle, [f"{hour}:00" for hour in range(8)]),
        *dial(655, TURN, in_turn, [f"{minute}:00" for minute in range(0, 60, 10)]),
        '<circle class="first" cx="318" cy="452" r="7"/>',
        '<circle class="second" cx="338" cy="452" r="7"/>',
        text(354, 457, "import", "start"),
        '<circle class="first export" cx="448" cy="452" r="6"/>',
        '<circle class="second export" cx="468" cy="452" r="6"/>',
        text(484, 457, "export", "start"),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    print(picture(), end="")
