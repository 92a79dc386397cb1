#!/usr/bin/env bash
# Measures the time per item as the size of the work grows: benchmarks/growth/run.sh, after a
# release build. Prints the curve's name, the size, and nanoseconds.
set -euo pipefail
cd "$(dirname "$0")/../.."
built=${CARGO_TARGET_DIR:-target}/release
taskset -c 0 "$built/examples/growth"
benchmarks/unary/run.sh growth
address=127.0.0.1:23286
taskset -c 1 "${OFFBEAT_BIN:-$built/offbeat}" serve --listen "$address" --admin-listen off 2>/dev/null &
trap 'kill $!' EXIT
sleep 0.5
PYTHONPATH=clients/python/src taskset -c 0 "${OFFBEAT_PYTHON:-target/bench/venv/bin/python}" \
    benchmarks/growth/named.py "$address"
