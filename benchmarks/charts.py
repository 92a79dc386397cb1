"""Five charts of the figures, as SVG that follows the reader's light or dark scheme."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
from figures import figures, find, significant
from matplotlib.figure import Figure

#: Drawn in the colours on the left, and shown in a variable of the style, by its name.
COLOURS = {
    "#fefefe": "page",
    "#1f2328": "ink",
    "#59636e": "dim",
    "#0b63c5": "ours",
    "#8c959f": "peer",
}
PAGE, INK, DIM, OURS, PEER = COLOURS
STYLE = """<style>
svg { --page: #ffffff; --ink: #1f2328; --dim: #59636e; --ours: #0b63c5; --peer: #8c959f; }
@media (prefers-color-scheme: dark) {
  svg { --page: #0d1117; --ink: #e6edf3; --dim: #9198a1; --ours: #58a6ff; --peer: #6e7681; }
}
</style>"""


@dataclass(frozen=True)
class Chart:
    """Bars of one section: labels, and the names of their figures."""

    name: str
    title: str
    says: str
    section: str
    unit: str
    #: Groups of bars, with a space between them.
    groups: list[list[tuple[str, str]]]
    #: For figures that differ by orders of magnitude.
    is_logarithmic: bool = False

    def draw(self, results: dict[str, dict], folder: Path) -> bool:
        """Write NAME.svg; return whether there are figures for it."""
        found = figures(results.get(self.section, {"lines": []})["lines"])
        places, bars, place = [], [], 0.0
        for group in self.groups:
            for label, figure in group:
                value = find(found, figure)
                if value:
                    bars.append((label, value))
                    places.append(place)
                    place += 1
            place += 0.6
        if not bars:
            return False
        mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": self.name})
        mpl.rcParams["font.family"] = ["sans-serif"]
        figure = Figure(figsize=(8.8, 0.9 + 0.32 * places[-1]), layout="constrained")
        axes = figure.add_subplot(xscale="log" if self.is_logarithmic else "linear")
        axes.set_facecolor("none")
        colours = [OURS if label.startswith("Offbeat") else PEER for label, _ in bars]
        drawn = axes.barh(places, [value for _, value in bars], color=colours, height=0.72)
        values = [significant(value) for _, value in bars]
        axes.bar_label(drawn, values, padding=4, color=DIM, fontsize=9)
        axes.set_yticks(places, [label for label, _ in bars], color=INK, fontsize=10)
        axes.invert_yaxis()
        axes.margins(x=0.16)
        axes.tick_params(axis="y", length=0)
        axes.xaxis.set_visible(False)
        axes.spines[:].set_visible(False)
        axes.set_title(f"{self.title}, {self.unit}", loc="left", color=INK, fontsize=11)
        written = io.StringIO()
        figure.savefig(written, format="svg", facecolor=PAGE, metadata={"Date": None})
        (folder / f"{self.name}.svg").write_text(follow_scheme(written.getvalue(), self.title))
        return True


def follow_scheme(svg: str, title: str) -> str:
    """Replace colours by variables that depend on the scheme, and say what is shown."""
    for colour, name in COLOURS.items():
        svg = svg.replace(f"fill: {colour}", f"fill: var(--{name})")
    start = svg.index("<svg")
    end = svg.index(">", start)
    label = f' role="img" aria-label="{title}"'
    return svg[start:end] + label + ">\n" + STYLE + svg[end + 1 :]


LANGUAGES = {"Python": "UUIDs", "Ruby": "UUIDs", "PHP": "mt_srand"}
CHARTS = [
    Chart(
        "batches",
        "Batches of 20,000 IDs",
        "A batch goes to the sidecar faster than each language decides it by itself.",
        "wire",
        "IDs/s",
        [
            [
                (f"Offbeat, packed, from {name}", f"{name}, assign_packed, UUIDs"),
                (f"Offbeat, rows, from {name}", f"{name}, assign_slots, UUIDs"),
                (f"{name}, in process", f"{name}, in process, {local}"),
            ]
            for name, local in LANGUAGES.items()
        ],
    ),
    Chart(
        "one_decision",
        "One decision: the time that a caller waits",
        "A client that decides alone asks nobody; a sidecar costs one round trip on the machine.",
        "alone",
        "µs, less is better",
        [
            [
                (f"Offbeat, {name} alone", f"{name}, HASH, alone"),
                (f"Offbeat, {name}, by Unix socket", f"{name}, HASH, sidecar, Unix socket"),
                (f"Offbeat, {name}, by TCP", f"{name}, HASH, sidecar, TCP"),
            ]
            for name in LANGUAGES
        ],
    ),
    Chart(
        "calls",
        "One ID a call, 8 × 32 calls in flight",
        "The peers answer the same messages and decide nothing.",
        "unary",
        "calls/s",
        [
            [
                ("Offbeat", "Offbeat, HASH, 8 × 32 streams"),
                ("stock tonic, empty", "stock tonic, empty, HASH, 8 × 32 streams"),
                ("C++ gRPC, empty", "C++ gRPC, empty, HASH, 8 × 32 streams"),
            ]
        ],
    ),
    Chart(
        "spreads",
        "Jobs pulled and settled by three consumers",
        "The peers keep no order but that in which jobs came.",
        "store",
        "jobs/s",
        [
            [
                (f"Offbeat, {what}", f"{what}, jobs/s of three consumers, 256 a call")
                for what in (
                    "in memory",
                    "in Redis",
                    "in Redis, two servers",
                    "in Redis that writes each change to disk",
                )
            ],
            [
                (
                    "a stream of Redis by hand",
                    "a stream of Redis by hand, jobs/s of three consumers, 256 a call",
                ),
                (
                    "a list as Sidekiq has it, one a call",
                    "a list as Sidekiq has it, jobs/s of three consumers, one a call",
                ),
            ],
        ],
    ),
    Chart(
        "simulator",
        "A simulated week",
        "The same slots in four simulators; a step of this scale is ten times.",
        "simulator",
        "times real time (logarithmic)",
        [
            [
                ("Offbeat", "Offbeat, in process: slots, times real time.*"),
                ("Ruby, tick by tick", "Ruby ticks, slots, metrics in memory.*"),
                ("SimPy", "SimPy 4.1.2, slots.*"),
                ("Ciw", "Ciw 3.2.7, slots.*"),
            ]
        ],
        is_logarithmic=True,
    ),
]
