#!/usr/bin/env bash
# Compares the simulator with others: benchmarks/simulator/run.sh, after a release build. Prints how
# many times faster than real time a week of slots is simulated, the best of three.
set -euo pipefail
cd "$(dirname "$0")/../.."
built=${CARGO_TARGET_DIR:-target}/release
python=${OFFBEAT_PYTHON:-target/bench/venv/bin/python} # with SimPy and Ciw
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT
# Prints the scenario with only one of its strategies.
awk -v RS= -v ORS='\n\n' '!/^\[\[strategies/ || /"slots"/' \
    examples/simulations/bank_sync_week.toml >"$scratch/slots.toml"

process() {
    local what=$1 best= begun took
    shift
    for _ in 1 2 3; do
        rm -f "$scratch/slots.sqlite"
        begun=${EPOCHREALTIME/[.,]/}
        "$built"/offbeat-simulate "$scratch/slots.toml" "$@" >/dev/null
        took=$((${EPOCHREALTIME/[.,]/} - begun))
        if [ -z "$best" ] || [ "$took" -lt "$best" ]; then best=$took; fi
    done
    printf '%s, times real time\t%s\n' "$what" $((604800 * 1000000 / best))
}

"$built"/examples/scenario_speed | sed 's/^/Offbeat, in process: /'
process "Offbeat, whole process: slots, metrics in memory"
process "Offbeat, whole process: slots, metrics as rows in SQLite" --out "$scratch/slots.sqlite"
"$python" benchmarks/simulator/with_simpy.py
"$python" benchmarks/simulator/with_ciw.py
ruby benchmarks/simulator/ticks.rb
