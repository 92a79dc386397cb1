#!/usr/bin/env bash
# Compares `AssignSlot` with two services that exchange the same messages and decide nothing: one
# with stock tonic, one with C++ gRPC (if its packages are installed). Budgets: at least 0.7 of
# stock tonic's calls per second at 8 × 32, and at least as many as C++ gRPC.
#
#   benchmarks/unary/run.sh          calls per second; servers on core 1, the driver on core 0
#   benchmarks/unary/run.sh busy     the p99 of 1,000 calls/s, beside a busy loop on the server's
#                                    core; budget: 5 ms
#   benchmarks/unary/run.sh growth   nanoseconds per call, as connections and streams double
#
# OFFBEAT_BIN names the server; without it, `cargo build --release` makes one.
set -euo pipefail
cd "$(dirname "$0")/../.."
target=${CARGO_TARGET_DIR:-$PWD/target}
if [ -z "${OFFBEAT_BIN:-}" ]; then
    cargo build --release --quiet --locked --workspace --bin offbeat
    OFFBEAT_BIN=$target/release/offbeat
fi
cargo build --release --quiet --locked --manifest-path benchmarks/unary/Cargo.toml --target-dir "$target/unary"
bin=$target/unary/release
port=${PORT:-23400}
started=()
trap 'kill "${started[@]}" 2>/dev/null' EXIT

at() { echo "127.0.0.1:$((port + $1))"; }
start() { # NUMBER COMMAND…
    taskset -c 1 "${@:2}" 2>/dev/null &
    started+=($!)
    for _ in $(seq 100); do
        (exec 3<>"/dev/tcp/127.0.0.1/$((port + $1))") 2>/dev/null && return
        sleep 0.1
    done
    echo "run.sh: $2 does not listen" >&2
    exit 1
}
drive() { taskset -c 0 "$bin/drive" "$@"; }

start 0 "$OFFBEAT_BIN" serve --listen "$(at 0)" --admin-listen off
ours=Offbeat=$(at 0),${started[0]}

case ${1:-} in
busy)
    taskset -c 1 sh -c 'while :; do :; done' &
    started+=($!)
    drive --rate 1000 --connections 1 --seconds 5 "$ours" |
        awk -F '\t' 'NF > 1 { printf "%s, p50\t%.2f\n%s, p99\t%.2f\n", $1, $3 / 1e3, $1, $4 / 1e3 }'
    exit
    ;;
growth)
    curve() { # NAME SIZE CONNECTIONS STREAMS
        drive --rounds 1 --connections "$3" --streams "$4" "$ours" |
            awk -F '\t' -v name="$1" -v size="$2" '{ printf "%s\t%s\t%.0f\n", name, size, 1e9 / $2 }'
    }
    for count in 1 2 4 8 16 32 64; do curve "connections, one stream each" "$count" "$count" 1; done
    for count in 1 2 4 8 16 32 64; do curve "streams of one connection" "$count" 1 "$count"; done
    exit
    ;;
esac

start 1 "$bin/echo" "$(at 1)" "$(at 0)"
servers=("stock tonic, empty=$(at 1),${started[1]}" "$ours")
if pkg-config --exists grpc++ 2>/dev/null && command -v grpc_cpp_plugin >/dev/null; then
    benchmarks/cpp/build.sh "$target/bench/cpp" >/dev/null
    start 2 "$target/bench/cpp/echo" "$(at 2)"
    servers+=("C++ gRPC, empty=$(at 2),${started[2]}")
else
    echo "run.sh: without C++ gRPC (Debian: libgrpc++-dev, protobuf-compiler-grpc)" >&2
fi
drive "$@" "${servers[@]}"
drive --connections 1 --streams 1 "$@" "${servers[@]}"
drive --schedule TWISTER "$@" "${servers[@]}"
