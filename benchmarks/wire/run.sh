#!/usr/bin/env bash
# Measures batches over the wire beside deciding in process, in three languages:
# benchmarks/wire/run.sh [SECONDS [IDS A CALL]], after a release build. Nothing is pinned: the
# server divides a batch among the cores that are idle, while its client waits.
set -euo pipefail
cd "$(dirname "$0")/../.."
built=${CARGO_TARGET_DIR:-target}/release
address=127.0.0.1:23287
"$built/offbeat" serve --listen "$address" --admin-listen off 2>/dev/null &
trap 'kill $!' EXIT
sleep 0.5
measure() {
    local language=$1
    shift
    "$@" | sed "s/^/$language, /"
}
PYTHONPATH=clients/python/src measure Python "${OFFBEAT_PYTHON:-target/bench/venv/bin/python}" \
    benchmarks/wire/wire.py "$address" "$@"
measure Ruby ruby -I clients/ruby/lib benchmarks/wire/wire.rb "$address" "$@"
measure PHP php benchmarks/wire/wire.php "$address" "$@"
