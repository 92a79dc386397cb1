"""Compares batches through the clients against two binaries, which alternate in one run.

compare.py [ROUNDS [SECONDS]]: `OFFBEAT_BIN` names one binary, `OFFBEAT_BASELINE_BIN` the other,
and `OFFBEAT_BASELINE_TREE` a checkout whose clients match the baseline, if the API differs:

    git worktree add target/baseline 6657406

Each round runs `run.sh` with both, one language at a time, and the order changes from
round to round. The figures are medians over the rounds, and so is the ratio, whose budget is
0.8. On a busy machine the result means little.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
BUILT = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
LANGUAGES = ("Python", "Ruby", "PHP")
BUDGET = 0.8


def main() -> int:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    seconds = sys.argv[2] if len(sys.argv) > 2 else "0.3"
    baseline = os.environ.get("OFFBEAT_BASELINE_BIN")
    if baseline is None:
        print("compare.py: OFFBEAT_BASELINE_BIN is not set", file=sys.stderr)
        return 64
    ours = os.environ.get("OFFBEAT_BIN", str(BUILT / "release" / "offbeat"))
    sides = [(ours, str(ROOT)), (baseline, os.environ.get("OFFBEAT_BASELINE_TREE", str(ROOT)))]
    found: list[dict[str, list[float]]] = [{}, {}]
    for number in range(rounds):
        for language in LANGUAGES:
            for side in (0, 1) if number % 2 == 0 else (1, 0):
                for name, rate in measured(*sides[side], language, seconds):
                    found[side].setdefault(name, []).append(rate)
    ratios = []
    for name, rates in found[0].items():
        if name in found[1]:
            ratio = statistics.median(new / old for new, old in zip(rates, found[1][name]))
            ratios.append(ratio)
            new, old = statistics.median(rates), statistics.median(found[1][name])
            below = "  BELOW THE BUDGET" if ratio < BUDGET else ""
            print(f"{name}\t{new:.0f}\t{old:.0f}\t{ratio:.2f}{below}")
    print(f"median of the ratios\t{statistics.median(ratios):.2f}\tsmallest\t{min(ratios):.2f}")
    return 0


def measured(binary: str, tree: str, language: str, seconds: str) -> list[tuple[str, float]]:
    """The rows that one run prints, without those of decisions in process."""
    done = subprocess.run(
        [ROOT / "benchmarks" / "wire" / "run.sh", seconds],
        env={
            **os.environ,
            "OFFBEAT_BIN": binary,
            "OFFBEAT_WIRE_TREE": tree,
            "OFFBEAT_WIRE_LANGUAGES": language,
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=300,
    )
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    return [(name, float(rate)) for name, rate in rows if "in process" not in name]


if __name__ == "__main__":
    sys.exit(main())
