#!/usr/bin/env bash
# Counts the instructions of hot paths and compares them with the table beside this:
# benchmarks/instructions/run.sh [--write]. What it counts is what `cargo build --release` makes.
set -euo pipefail
cd "$(dirname "$0")/../.."
cargo build --release --locked --quiet --package offbeat
cargo build --release --locked --quiet --package offbeat-core --example hot_paths
built=${CARGO_TARGET_DIR:-target}/release
python3 benchmarks/instructions/check.py "$@" "$built/examples/hot_paths" "$built/offbeat"
