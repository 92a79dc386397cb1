"""Runs the comparisons one after the other, and writes docs/benchmarks.md from their output.

run.py [SECTION...]; `benchmarks/run.sh` prepares what it needs. Every script prints lines of a
name and a figure, separated by a tab; the texts in this file contain no figures.
"""

from __future__ import annotations

import json
import math
import os
import platform
import re
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUILT = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
KEPT = BUILT / "bench" / "results"
PAGE = ROOT / "docs" / "benchmarks.md"
PYTHON = os.environ.get("OFFBEAT_PYTHON", sys.executable)
PACKAGES = ("grpcio", "protobuf", "simpy", "ciw", "apportionment")
DEBIAN = ("libgrpc++-dev", "libcurl4", "ruby-google-protobuf")

Lines = list[list[str]]

INTRODUCTION = """
Written by `just bench`, of what it measured: each figure beside its peers, from one run on one
machine. On another machine figures differ more than ratios do. Nothing fails when one changes.
"""

INSTRUCTIONS = """
[`counts.tsv`](../benchmarks/instructions/counts.tsv) holds the instructions of hot paths, counted
under callgrind. `just counts` compares them within 3 %: noise cannot touch them. They are of one
compiler, which the table names; beside another nothing is compared, and the
run says so. callgrind knows no AVX-512, so that the kernels are those of AVX2 and plain.
"""


@dataclass(frozen=True)
class Section:
    """One comparison: what runs, and what its figures are compared with."""

    title: str
    intro: str
    command: list[str]
    unit: str = ""
    #: Pairs of patterns: each row that the first one matches is divided by the row of the second.
    ratios: list[tuple[str, str]] = field(default_factory=list)
    timeout: int = 240


def program(name: str) -> list[str]:
    return ["taskset", "-c", "0", str(BUILT / "release" / "examples" / name)]


SECTIONS = {
    "wire": Section(
        "Batches over the wire, and deciding in process",
        """
        IDs a second: `AssignSlots` with 20,000 IDs a call, TWISTER below 28,800 by the
        profile of the caller's own language, which is decided in process beside it; the
        answers were compared. `assign_packed` takes bytes and gives columns, with "offsets" the
        one column that is decided in process; `assign_slots` takes the language's own IDs, and
        gives rows. (Ruby and PHP unpack one column of a packed answer here, and leave others
        bytes.) Nothing is pinned. Medians of turns of a tenth of a second.
        """,
        ["benchmarks/wire/run.sh"],
        "IDs/s",
        [
            (f"{language}, {method}, {ids}", f"{language}, in process, {local}")
            for language, kinds in {
                "Python": {"UUIDs": "UUIDs", "integers": "integers"},
                "Ruby": {"UUIDs": "UUIDs", "integers": "integers"},
                "PHP": {"UUIDs": "mt_srand", "integers": "mt_srand"},
            }.items()
            for method in ("assign_packed", "assign_packed, offsets", "assign_slots")
            for ids, local in kinds.items()
        ]
        + [("PHP, assign_packed, UUIDs, as Ruby", "PHP, in process, mt_srand")],
    ),
    "alone": Section(
        "One decision, by the client alone",
        """
        Microseconds a call of `assign_slot` with one UUID (PHP's TWISTER: an integer) takes the
        caller: decided by the client itself (mode `local`, and `auto` where it needs no
        sidecar), and by a sidecar on the same machine (mode `remote`), over TCP and over a Unix
        socket. One thread, one call after another; the answers were compared. TWISTER is that of
        the caller's own language. Medians of 15 turns of 200 calls.
        """,
        ["benchmarks/alone/run.sh"],
        "µs",
        [
            (f"{language}, {question}, sidecar, {socket}", f"{language}, {question}, alone")
            for language in ("Python", "Ruby", "PHP")
            for question in ("HASH", "HASH, two kinds", "TWISTER")
            for socket in ("TCP", "Unix socket")
        ],
    ),
    "unary": Section(
        "One ID a call",
        """
        Calls a second: `AssignSlot` over gRPC, and the same messages of two services that decide
        nothing: a stock tonic one (`#[tokio::main]`, defaults) and C++ gRPC (callback interface,
        Debian's package). The driver on one core, the server on another; medians of five
        runs in turns.
        """,
        ["benchmarks/unary/run.sh"],
        "calls/s",
        [
            (f"Offbeat, {shape}", f"{peer}, empty, {shape}")
            for shape in (
                "HASH, 8 × 32 streams",
                "HASH, 1 × 1 streams",
                "TWISTER, 8 × 32 streams",
            )
            for peer in ("stock tonic", "C++ gRPC")
        ],
    ),
    "busy": Section(
        "Beside a busy process",
        """
        Milliseconds from a call of `AssignSlot` to its answer, at 1,000 calls a second, with a
        loop that never sleeps on the server's core.
        """,
        ["benchmarks/unary/run.sh", "busy"],
        "ms",
    ),
    "kernels": Section(
        "IDs decided, in process",
        """
        IDs a second on one core, the best of 120 short runs in turns. Draws below 28,800.
        `plain` is one ID after the other, for which a twister makes only the words drawn;
        `md-5` is given texts that are there already, the others write the ID's text too.
        """,
        program("kernel_speed"),
        "IDs/s",
    ),
    "spread": Section(
        "Spreading",
        """
        Jobs a second, the best of three; groups of 20 where nothing else is said. Feeders
        by hand are a page of code in each language, in one process.
        """,
        ["benchmarks/spread/run.sh"],
        "jobs/s",
        [
            ("Offbeat core, round robin, F = 64", f"{language}, feeders by hand, F = 64")
            for language in ("Python", "Ruby", "PHP")
        ]
        + [
            (
                f"{language}, columns of one stream, groups of 20",
                f"{language}, feeders by hand, F = 64",
            )
            for language in ("Python", "Ruby")
        ],
    ),
    "store": Section(
        "Named spreads in Redis",
        """
        Submitted before, then pulled and settled, the best of three; Redis on the same two
        cores. Beside them is what teams build by hand: it has no order but that in which jobs
        came, and a list loses what a consumer has when it dies. The budget is 20,000 jobs a
        second, and a pull beside 100,000 open groups that costs at most twice one beside 100.
        """,
        ["benchmarks/store/run.sh"],
        ratios=[
            (
                "in Redis, jobs/s of three consumers, 256 a call",
                "in memory, jobs/s of three consumers, 256 a call",
            ),
            (
                "in Redis, a pull of 16 beside 100,000 open groups, in µs",
                "in Redis, a pull of 16 beside 100 open groups, in µs",
            ),
        ],
        timeout=400,
    ),
    "simulator": Section(
        "The simulator",
        """
        A week of `examples/simulations/bank_sync_week.toml`: 604,800 s over the time it
        took, the best of three. The peers simulate its slots, in one thread. They do not
        all keep the same: Offbeat and the ticks count eight metrics in each second, SimPy
        keeps the waits and sojourns of jobs, Ciw a record of each job. In SQLite, Offbeat
        has a row for each second, written after the run, the ticks have one for each
        metric, as in the talk that they come from. The ticks round run times up to whole
        seconds.
        """,
        ["benchmarks/simulator/run.sh"],
        "",
        [
            ("Offbeat, in process: slots, times real time.*", peer)
            for peer in (
                "SimPy 4.1.2, slots.*",
                "Ciw 3.2.7, slots.*",
                "Ruby ticks, slots, metrics in memory.*",
            )
        ]
        + [
            (
                "Offbeat, whole process: slots, metrics as rows in SQLite.*",
                "Ruby ticks, slots, metrics as rows in SQLite.*",
            )
        ],
    ),
    "stages": Section(
        "Stages and lanes",
        """
        Searching every allocation is what the source of the rule does, though subsets that
        it throws away are left out here; `apportionment` computes D'Hondt in exact
        fractions.
        """,
        ["benchmarks/stages/run.sh"],
        ratios=[
            (
                "apportionment, D'Hondt in fractions, 10 stages, 16 workers",
                "10 stages, 16 workers, DHondt",
            ),
        ],
    ),
    "growth": Section(
        "How it grows",
        """
        Time for an item as the work doubles, and the exponent k of a fit to size^k: 0 is
        flat, so that the whole grows in proportion. Streams and connections are calls of
        `AssignSlot`, where more in flight cost less each.
        """,
        ["benchmarks/growth/run.sh"],
        "ns",
    ),
}


def main() -> int:
    wanted = sys.argv[1:] or list(SECTIONS)
    if unknown := [name for name in wanted if name not in SECTIONS]:
        print(f"usage: run.py [{' | '.join(SECTIONS)}]..., not {unknown[0]}", file=sys.stderr)
        return 64
    KEPT.mkdir(parents=True, exist_ok=True)
    begun, failed = time.monotonic(), []
    for name in wanted:
        print(f"== {name}", flush=True)
        lines = measured(SECTIONS[name])
        if lines is None:
            failed.append(name)
            continue
        result = {"lines": lines, "machine": machine(), "load": os.getloadavg()[0]}
        (KEPT / f"{name}.json").write_text(json.dumps(result, indent=1))
        PAGE.write_text(page())
    took = time.monotonic() - begun
    print(f"measured {len(wanted) - len(failed)} of {len(wanted)} sections in {took:.0f} s: {PAGE}")
    if failed:
        print(f"FAILED: {', '.join(failed)}", file=sys.stderr)
    return int(bool(failed))


def measured(section: Section) -> Lines | None:
    """Run a section, and return the rows of names and figures that it printed."""
    environment = {**os.environ, "OFFBEAT_PYTHON": PYTHON}
    try:
        done = subprocess.run(
            section.command,
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            timeout=section.timeout,
            check=True,
        )
    except (subprocess.SubprocessError, OSError) as error:
        print(error, file=sys.stderr)
        return None
    lines = [line.split("\t") for line in done.stdout.splitlines() if "\t" in line]
    for line in lines:
        print("  " + "\t".join(line))
    return lines


def page() -> str:
    results = {}
    for name in SECTIONS:
        path = KEPT / f"{name}.json"
        if path.exists():
            results[name] = json.loads(path.read_text())
    machines = list(dict.fromkeys(result["machine"] for result in results.values()))
    parts = ["# Benchmarks\n", wrapped(INTRODUCTION) + "\n"]
    for index, text in enumerate(machines):
        names = [name for name, result in results.items() if result["machine"] == text]
        where = "" if len(machines) == 1 else f" ({', '.join(names)})"
        parts.append(f"## Machine{where if index or where else ''}\n\n{text}\n")
    for name, result in results.items():
        section = SECTIONS[name]
        parts.append(f"## {section.title}\n\n{wrapped(section.intro)}\n")
        if result["load"] > 1.5 * (os.cpu_count() or 1):
            parts.append(f"The machine was busy: a load of {result['load']:.1f} behind it.\n")
        lines = result["lines"]
        parts.append(curves(lines) if name == "growth" else table(section, lines))
        if section.ratios and (found := ratios(section, lines)):
            parts.append(found)
    parts.append("## Instruction counts\n\n" + wrapped(INSTRUCTIONS) + "\n")
    return "\n".join(parts)


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
    figures = {line[0]: number(line[1]) for line in lines}
    rows = []
    for above, below in section.ratios:
        peer = next((name for name in figures if re.fullmatch(escaped(below), name)), None)
        for name, figure in figures.items():
            if peer is not None and re.fullmatch(escaped(above), name) and figures[peer]:
                rows.append([name, peer, f"{figure / figures[peer]:,.2f}"])
    return markdown(["", "over", "times"], rows) if rows else ""


def escaped(pattern: str) -> str:
    """Escape a pattern, in which only `.*` is special."""
    return ".*".join(map(re.escape, pattern.split(".*")))


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


def significant(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def markdown(head: list[str], rows: list[list[str]]) -> str:
    def line(cells: list[str]) -> str:
        return "| " + " | ".join(cells) + " |"

    return "\n".join([line(head), "|" + "---|" * len(head), *map(line, rows)]) + "\n"


def number(text: str) -> float:
    found = re.match(r"[\d.,]+(?:e[+-]?\d+)?", text)
    return float(found[0].replace(",", "")) if found else 0.0


def shown(text: str) -> str:
    figure, _, unit = text.partition(" ")
    return f"{int(figure):,} {unit}".strip() if figure.isdigit() else text


def first_line(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    except OSError:
        return ""
    return (done.stdout.splitlines() or [""])[0]


def machine() -> str:
    """Describe the machine and the programs that ran on it."""
    cpu = Path("/proc/cpuinfo").read_text()

    def of_cpu(key: str) -> str:
        found = re.search(rf"^{key}\s*: (.*)$", cpu, re.MULTILINE)
        return found[1] if found else ""

    flags = of_cpu("flags").split()
    vectors = [name for flag, name in (("avx2", "AVX2"), ("avx512f", "AVX-512")) if flag in flags]
    model = f"{of_cpu('model name')} (family {of_cpu('cpu family')}, model {of_cpu('model')})"
    hypervisor = "a virtual machine" if "hypervisor" in flags else "no virtual machine"
    packages = first_line(
        PYTHON,
        "-c",
        "import importlib.metadata as m\n"
        f"print(', '.join(f'{{name}} {{m.version(name)}}' for name in {PACKAGES!r} "
        "if any(d.metadata['Name'].lower() == name for d in m.distributions())))",
    )
    debian = [
        f"{name} {version}"
        for name in DEBIAN
        if (version := first_line("dpkg-query", "--show", "--showformat=${Version}\n", name))
    ]
    versions = [
        first_line("rustc", "--version"),
        first_line(PYTHON, "--version"),
        first_line("ruby", "--version").partition(" (")[0],
        first_line("php", "--version").partition(" (")[0],
    ]
    commit = first_line("git", "rev-parse", "--short", "HEAD")
    day = time.strftime("%-d %B %Y", time.gmtime())
    return wrapped(
        f"{model}, {os.cpu_count()} cores of {hypervisor}, {', '.join(vectors) or 'no AVX2'}; "
        f"Linux {platform.release()}. {', '.join(versions)}. Python packages: {packages}. "
        f"Debian packages: {', '.join(debian)}. Offbeat {commit}, {day}."
    )


if __name__ == "__main__":
    sys.exit(main())
