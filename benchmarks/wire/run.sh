#!/usr/bin/env bash
# Compares batches over the wire with decisions in process, in three languages:
# benchmarks/wire/run.sh [SECONDS [IDS PER CALL]], after a release build. No process is pinned to a
# core.
#
# OFFBEAT_BIN names the server, OFFBEAT_WIRE_TREE the checkout with the clients and programs, and
# OFFBEAT_WIRE_LANGUAGES the languages.
set -euo pipefail
cd "$(dirname "$0")/../.."
tree=${OFFBEAT_WIRE_TREE:-$PWD}
python=${OFFBEAT_PYTHON:-$PWD/target/bench/venv/bin/python}
address=127.0.0.1:${PORT:-23287}
"${OFFBEAT_BIN:-${CARGO_TARGET_DIR:-target}/release/offbeat}" serve --listen "$address" --admin-listen off 2>/dev/null &
trap 'kill $!' EXIT
sleep 0.5
measure() {
    local language=$1
    shift
    case ${OFFBEAT_WIRE_LANGUAGES:-$language} in *"$language"*) "$@" | sed "s/^/$language, /" ;; esac
}
PYTHONPATH=$tree/clients/python/src measure Python "$python" "$tree/benchmarks/wire/wire.py" "$address" "$@"
measure Ruby ruby -I "$tree/clients/ruby/lib" "$tree/benchmarks/wire/wire.rb" "$address" "$@"
measure PHP php "$tree/benchmarks/wire/wire.php" "$address" "$@"
