"""The comparisons: what runs, and what its figures are compared with."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUILT = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()


@dataclass(frozen=True)
class Section:
    """One comparison; its script prints lines of a name and a figure, with a tab between them."""

    title: str
    intro: str
    command: list[str]
    unit: str = ""
    #: Pairs of patterns: each row that the first matches, over the row that the second names.
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
        timeout=400,
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
