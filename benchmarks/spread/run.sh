#!/usr/bin/env bash
# Compares spreads, in process and over loopback, with spreaders written by hand:
# benchmarks/spread/run.sh, after a release build. Prints jobs per second, the best of three (or two).
set -euo pipefail
cd "$(dirname "$0")/../.."
built=${CARGO_TARGET_DIR:-target}/release
python=${OFFBEAT_PYTHON:-target/bench/venv/bin/python}
address=127.0.0.1:23288
"$built"/offbeat serve --listen "$address" 2>/dev/null &
trap 'kill $!' EXIT
sleep 0.5
"$built"/examples/spread_speed
"$python" benchmarks/spread/spread.py 3 64
ruby benchmarks/spread/spread.rb 3 64
php benchmarks/spread/spread.php 3 64
"$built"/examples/spread_wire "$address"
"$python" benchmarks/spread/reader.py "$address"
ruby -I clients/ruby/lib benchmarks/spread/reader.rb "$address"
