#!/usr/bin/env bash
# Compares lanes and stages with other solutions: benchmarks/stages/run.sh, after a release build.
set -euo pipefail
cd "$(dirname "$0")/../.."
built=${CARGO_TARGET_DIR:-target}/release
python=${OFFBEAT_PYTHON:-target/bench/venv/bin/python}
"$built"/examples/stages_speed
"$python" benchmarks/stages/stages.py
"$built"/examples/lanes_speed
