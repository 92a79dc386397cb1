#!/usr/bin/env bash
# Measures lanes and stages beside other ways: benchmarks/stages/run.sh. One run, one machine.
set -euo pipefail
cd "$(dirname "$0")/../.."
cargo build --release --quiet --offline --workspace --examples
python=${OFFBEAT_PYTHON:-target/venv/bin/python}
{
    target/release/examples/stages_speed
    "$python" benchmarks/stages/stages.py
    target/release/examples/lanes_speed
} | while IFS=$'\t' read -r what figure; do printf '%-72s %15s\n' "$what" "$figure"; done
