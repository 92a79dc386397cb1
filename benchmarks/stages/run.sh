#!/usr/bin/env bash
# Measures lanes and stages beside other ways: benchmarks/stages/run.sh, after a
# release build. One run, one machine.
set -euo pipefail
cd "$(dirname "$0")/../.."
built=${CARGO_TARGET_DIR:-target}/release
python=${OFFBEAT_PYTHON:-target/bench/venv/bin/python}
"$built"/examples/stages_speed
"$python" benchmarks/stages/stages.py
"$built"/examples/lanes_speed
