#!/usr/bin/env bash
# Builds the targets, and runs each for a while: run.sh [SECONDS] [TARGET…]; 60 seconds, and all of
# them, if nothing is said. Starts from tests/corpus and keeps what it finds in fuzz/corpus. Exits
# with 1 if a target has found something; the input is then in fuzz/artifacts.
set -euo pipefail
cd "$(dirname "$0")"
seconds=60
if [[ ${1:-} =~ ^[0-9]+$ ]]; then
    seconds=$1
    shift
fi
source ./build.sh
if [ $# -gt 0 ]; then targets=("$@"); else targets=("${all[@]}"); fi

found=()
for target in "${targets[@]}"; do
    mkdir -p "corpus/$target" "artifacts/$target"
    # A scenario or a plan is simulated, and 46 bytes can ask for all that a call may work out:
    # three seconds, and four times that here, as every branch is counted.
    options=(-max_total_time="$seconds" -timeout=30 -rss_limit_mb=2048 -max_len=4096
        -print_final_stats=1 -artifact_prefix="artifacts/$target/")
    log=artifacts/$target.log
    if nice "$built/$target" "${options[@]}" "corpus/$target" "../tests/corpus/$target" >"$log" 2>&1; then
        result=passed
    else
        result=FOUND
        found+=("$target")
    fi
    number() { sed -n "s/^stat::$1: *//p" "$log"; }
    printf '%-14s %-7s %12s executions %8s a second %6s MB\n' "$target" "$result" \
        "$(number number_of_executed_units)" "$(number average_exec_per_sec)" \
        "$(number peak_rss_mb)"
    [ "$result" = passed ] || tail -n 40 "$log"
done
if [ ${#found[@]} -gt 0 ]; then
    echo "run.sh: found something: ${found[*]}; replay one with its binary and the artifact" >&2
    exit 1
fi
