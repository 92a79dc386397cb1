#!/usr/bin/env bash
# Compares decisions by the client alone with the same ones from a sidecar, in three languages:
# benchmarks/alone/run.sh [TURNS], after a release build. OFFBEAT_BIN names the sidecar.
set -euo pipefail
cd "$(dirname "$0")/../.."
python=${OFFBEAT_PYTHON:-$PWD/target/bench/venv/bin/python}
address=127.0.0.1:${PORT:-23288}
folder=$(mktemp -d)
"${OFFBEAT_BIN:-${CARGO_TARGET_DIR:-target}/release/offbeat}" serve --listen "$address" --listen "unix:$folder/socket" \
    --admin-listen off 2>"$folder/log" &
trap 'kill $!; rm -r "$folder"' EXIT
sleep 0.5
unix=unix:$folder/socket
PYTHONPATH=clients/python/src "$python" benchmarks/alone/alone.py "$address" "$unix" "$@" | sed 's/^/Python, /'
ruby -I clients/ruby/lib benchmarks/alone/alone.rb "$address" "$unix" "$@" | sed 's/^/Ruby, /'
php benchmarks/alone/alone.php "$address" "$unix" "$@" | sed 's/^/PHP, /'
