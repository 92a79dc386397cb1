#!/usr/bin/env bash
# The main job, from nothing: builds the sidecar, starts it, and lets a Python
# producer schedule 100,000 rows of an SQLite table over a cycle of 8 hours.
# Needs Rust and Python 3.9 or later; everything else it makes under target/.
set -euo pipefail
cd "$(dirname "$0")/../.."

echo "building the sidecar (some minutes the first time)" >&2
cargo build --release --locked --quiet --package offbeat
venv=target/bank_sync
if ! "$venv/bin/python" -c 'import offbeat' 2>/dev/null; then
    rm -rf "$venv"
    python3 -m venv "$venv" || {
        echo "run.sh: this Python cannot make virtual environments; on Debian: apt-get install python3-venv" >&2
        exit 1
    }
    echo "installing the Python client into $venv" >&2
    "$venv/bin/pip" install --quiet --disable-pip-version-check --editable ./clients/python
fi

folder=$(mktemp -d)
target/release/offbeat serve --listen "unix:$folder/offbeat.sock" --log warn &
sidecar=$!
trap 'kill $sidecar 2>/dev/null; wait $sidecar 2>/dev/null; rm -rf "$folder"' EXIT
until target/release/offbeat health --address "unix:$folder/offbeat.sock" 2>/dev/null; do
    kill -0 $sidecar # gives up if the sidecar has ended
    sleep 0.05
done

export PYTHONIOENCODING=utf-8 # for the chart
OFFBEAT_ADDRESS="unix:$folder/offbeat.sock" "$venv/bin/python" examples/bank_sync/producer.py "$@"
