#!/usr/bin/env bash
# Measures `AssignSlot` beside a stock tonic service that takes and answers the same messages and
# decides nothing: benchmarks/unary/run.sh [OPTIONS of drive]. Servers are pinned to core 1, the
# driver to core 0; the last two lines have both on one. RUNTIMES=1 compares tokio's runtimes.
set -euo pipefail
cd "$(dirname "$0")/../.."
target=${CARGO_TARGET_DIR:-$PWD/target}
if [ -z "${OFFBEAT_BIN:-}" ]; then
    cargo build --release --quiet --locked --package offbeat
    OFFBEAT_BIN=$target/release/offbeat
fi
cargo build --release --quiet --locked --manifest-path benchmarks/unary/Cargo.toml --target-dir "$target/unary"
bin=$target/unary/release
port=${PORT:-23400}
started=()
trap 'kill "${started[@]}" 2>/dev/null' EXIT

at() { echo "127.0.0.1:$((port + $1))"; }
start() { # CORES COMMAND…
    taskset -c "$1" "${@:2}" 2>/dev/null &
    started+=($!)
    sleep 0.5
}

start 1 "$OFFBEAT_BIN" serve --listen "$(at 0)" --admin-listen off
start 1 "$bin/echo" "$(at 1)" "$(at 0)"
ours=offbeat=$(at 0),${started[0]}
echo=tonic=$(at 1),${started[1]}
drive() { taskset -c "$1" "$bin/drive" "${@:2}"; }

if [ -n "${RUNTIMES:-}" ]; then
    start 1 "$bin/echo" "$(at 2)" "$(at 0)" 1
    start 0,1 "$bin/echo" "$(at 3)" "$(at 0)" 2
    for load in "1 1" "1 32" "8 32" "64 8"; do
        read -r connections streams <<<"$load"
        drive 0 --connections "$connections" --streams "$streams" "$@" "$echo" \
            "pool of 1=$(at 2),${started[2]}" "pool of 2=$(at 3),${started[3]}"
    done
    exit
fi
for schedule in HASH TWISTER; do
    drive 0 --schedule "$schedule" "$@" "$echo" "$ours"
    drive 0 --schedule "$schedule" --connections 1 --streams 32 "$@" "$echo" "$ours"
done
drive 1 --connections 1 --streams 1 "$@" "$echo" "$ours"
drive 1 --connections 1 --streams 1 --schedule TWISTER "$@" "$echo" "$ours"
