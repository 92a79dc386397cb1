#!/usr/bin/env bash
# Measures AssignSlot over gRPC beside an empty method of C++ gRPC, with one client for both:
# benchmarks/unary.sh, after a release build. Servers on one core, h2load on another.
set -euo pipefail
cd "$(dirname "$0")/.."
built=${CARGO_TARGET_DIR:-target}/release
cpp=${CARGO_TARGET_DIR:-target}/bench/cpp
benchmarks/cpp/build.sh "$cpp" >/dev/null
question=$(mktemp)
trap 'rm "$question"; kill $(jobs -p) 2>/dev/null' EXIT
# A day of 144 slots, by hash, and a UUID: the message in its frame.
python3 - "$question" <<'PY'
import sys
sys.path.insert(0, "benchmarks/instructions")
from check import question
message = question("AssignSlot")[1]
open(sys.argv[1], "wb").write(b"\0" + len(message).to_bytes(4, "big") + message)
PY

# PORT CONNECTIONS STREAMS: calls a second, and the mean time of one in microseconds.
load() {
    taskset -c 0 h2load -t 1 -c "$2" -m "$3" -D 2 --warm-up-time 1 -d "$question" \
        -H 'content-type: application/grpc' -H 'te: trailers' \
        "http://127.0.0.1:$1/offbeat.v1.SlotService/AssignSlot" |
        awk '/^finished in/ { rate = $4 } /^requests:/ { failed = $10 + $12 + $14 }
             /^status codes:/ { ok = $3 } END { if (failed > 0 || ok == 0) exit 1; print rate }'
}

middle() { sort -n | awk '{ all[NR] = $1 } END { printf "%.0f", all[int((NR + 1) / 2)] }'; }

taskset -c 1 "$built/offbeat" serve --listen 127.0.0.1:23281 --admin-listen off 2>/dev/null &
taskset -c 1 "$cpp/echo" 127.0.0.1:23282 2>/dev/null &
sleep 1
if [ "${1:-}" = growth ]; then
    for count in 1 2 4 8 16 32 64; do
        echo "connections, one stream each	$count	$(load 23281 "$count" 1 | awk '{ printf "%.0f", 1e9 / $1 }')"
    done
    for count in 1 2 4 8 16 32 64; do
        echo "streams of one connection	$count	$(load 23281 1 "$count" | awk '{ printf "%.0f", 1e9 / $1 }')"
    done
    exit
fi
for shape in "8 32" "1 1"; do
    read -r connections streams <<<"$shape"
    offbeat=() echo=()
    for _ in 1 2 3; do
        offbeat+=("$(load 23281 "$connections" "$streams")")
        echo+=("$(load 23282 "$connections" "$streams")")
    done
    echo "Offbeat, deciding, $connections × $streams streams	$(printf '%s\n' "${offbeat[@]}" | middle)"
    echo "C++ gRPC, empty, $connections × $streams streams	$(printf '%s\n' "${echo[@]}" | middle)"
done
