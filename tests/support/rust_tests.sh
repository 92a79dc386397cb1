#!/usr/bin/env bash
# Runs all tests of the Rust workspace, two programs at a time: some compute, others mostly wait.
# (`cargo test` runs one at a time.)
set -euo pipefail
cd "$(dirname "$0")/../.."

# Prints the package's folder and the program of each test. Examples are checked by the lints.
programs() {
    cargo test --quiet --locked --workspace --lib --bins --tests --no-run --message-format json-render-diagnostics | python3 -c '
import json, pathlib, sys

for line in sys.stdin:
    message = json.loads(line)
    if message.get("executable") and message["profile"]["test"]:
        print(pathlib.Path(message["manifest_path"]).parent, message["executable"], sep="\n")
'
}

# Prints what a test program says only if it fails.
run() {
    local output
    cd "$1" || return
    if output=$("$2" --quiet 2>&1 </dev/null); then
        echo "$(basename "${2%-*}"): $(grep '^test result' <<<"$output")"
    else
        printf '%s\n%s failed\n' "$output" "$2"
        return 1
    fi
}
export -f run

list=$(programs)
xargs --delimiter '\n' --max-args 2 --max-procs 2 bash -c 'run "$@"' run <<<"$list"
cargo test --quiet --locked --workspace --doc
