#!/usr/bin/env bash
# Measures the simulator beside others: benchmarks/simulator/run.sh. One run, one machine; how many
# times faster than real time a week of slots is simulated, the best of three.
set -euo pipefail
cd "$(dirname "$0")/../.."
cargo build --release --quiet --offline --workspace --examples --bins
peers=target/venv-peers
[ -x "$peers/bin/pip" ] || python3 -m venv "$peers"
"$peers/bin/pip" install --quiet --disable-pip-version-check simpy==4.1.2 ciw==3.2.7
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT
# The scenario with one of its strategies.
awk -v RS= -v ORS='\n\n' '!/^\[\[strategies/ || /"slots"/' \
    examples/simulations/bank_sync_week.toml >"$scratch/slots.toml"

process() {
    local what=$1 best= begun took
    shift
    for _ in 1 2 3; do
        rm -f "$scratch/slots.sqlite"
        begun=${EPOCHREALTIME/[.,]/}
        target/release/offbeat simulate "$scratch/slots.toml" "$@" >/dev/null
        took=$((${EPOCHREALTIME/[.,]/} - begun))
        if [ -z "$best" ] || [ "$took" -lt "$best" ]; then best=$took; fi
    done
    printf '%s, times real time\t%s\n' "$what" $((604800 * 1000000 / best))
}

{
    target/release/examples/scenario_speed | sed 's/^/Offbeat, in process: /'
    process "Offbeat, whole process: slots, metrics in memory"
    process "Offbeat, whole process: slots, metrics as rows in SQLite" --out "$scratch/slots.sqlite"
    "$peers/bin/python" benchmarks/simulator/with_simpy.py
    "$peers/bin/python" benchmarks/simulator/with_ciw.py
    ruby benchmarks/simulator/ticks.rb
} | while IFS=$'\t' read -r what figure; do
    printf '%-84s %12s\n' "$what" "$(printf '%s' "$figure" | sed ':a; s/\B[0-9]\{3\}\>/,&/; ta')"
done
