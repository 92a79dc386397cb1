#!/usr/bin/env bash
# The whole example: builds the sidecar, starts it, and lets a Python producer
# schedule two jobs for each of 200,000 rows of an SQLite table, every 8 hours.
# Needs Rust and Python 3.9 or later; it creates everything else under target/.
# With OFFBEAT_ADDRESS it uses the sidecar at that address, and needs only Python.
# Arguments go to producer.py: `run.sh --svg docs/images/bank_sync.svg` draws README's picture.
set -euo pipefail
cd "$(dirname "$0")/../.."

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

if [ -z "${OFFBEAT_ADDRESS:-}" ]; then
    echo "building the sidecar (some minutes the first time)" >&2
    cargo build --release --locked --quiet --package offbeat
    folder=$(mktemp -d)
    export OFFBEAT_ADDRESS="unix:$folder/offbeat.sock"
    target/release/offbeat serve --listen "$OFFBEAT_ADDRESS" --log warn &
    sidecar=$!
    trap 'kill $sidecar 2>/dev/null; wait $sidecar 2>/dev/null; rm -rf "$folder"' EXIT
    until target/release/offbeat health --address "$OFFBEAT_ADDRESS" 2>/dev/null; do
        kill -0 $sidecar # fails, and ends this script, if the sidecar has ended
        sleep 0.05
    done
fi

export PYTHONIOENCODING=utf-8 # for the bars
"$venv/bin/python" examples/bank_sync/producer.py "$@"
