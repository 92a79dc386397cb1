#!/usr/bin/env bash
# Counts the instructions of hot paths in the release build, and compares them with counts.tsv:
# benchmarks/instructions/run.sh [--write].
set -euo pipefail
cd "$(dirname "$0")/../.."
cargo build --release --locked --quiet --package offbeat
cargo build --release --locked --quiet --package offbeat-core --example hot_paths
built=${CARGO_TARGET_DIR:-target}/release
python3 benchmarks/instructions/check.py "$@" "$built/examples/hot_paths" "$built/offbeat"
