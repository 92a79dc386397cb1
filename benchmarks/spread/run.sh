#!/usr/bin/env bash
# Measures spreads, in process and over loopback, beside spreaders written by hand:
# benchmarks/spread/run.sh. One run, one machine; jobs a second, the best of three (or two).
set -euo pipefail
cd "$(dirname "$0")/../.."
cargo build --release --quiet --offline --workspace --examples --bins
python=${OFFBEAT_PYTHON:-target/venv/bin/python}
address=127.0.0.1:23288
target/release/offbeat serve --listen "$address" 2>/dev/null &
trap 'kill $!' EXIT
sleep 0.5
{
    target/release/examples/spread_speed
    "$python" benchmarks/spread/spread.py 3 64
    ruby benchmarks/spread/spread.rb 3 64
    php benchmarks/spread/spread.php 3 64
    target/release/examples/spread_wire "$address"
    "$python" benchmarks/spread/reader.py "$address"
    ruby -I clients/ruby/lib benchmarks/spread/reader.rb "$address"
} | while IFS=$'\t' read -r what figure; do
    printf '%-62s %15s\n' "$what" "$(printf '%s' "$figure" | sed ':a; s/\B[0-9]\{3\}\>/,&/; ta')"
done
