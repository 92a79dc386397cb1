#!/usr/bin/env bash
# Generates src/offbeat/v1 and v1beta1 from the protos. With a folder as argument, there instead.
#
# The generators are pinned to the oldest whose output runs on Debian 12's
# protobuf and grpc; it runs on the newest as well, and the tests try that.
set -euo pipefail
cd "$(dirname "$0")"
out=${1:-src}
venv=../../target/python-generate
if [ ! -x "$venv/bin/python" ]; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check \
        grpcio-tools==1.51.3 protobuf==4.21.12 setuptools==68.2.2
fi
rm -rf "$out/offbeat/v1" "$out/offbeat/v1beta1"
"$venv/bin/python" -W ignore -m grpc_tools.protoc -I ../../proto \
    --python_out="$out" --pyi_out="$out" --grpc_python_out="$out" \
    ../../proto/offbeat/*/*.proto
# Files without a service have nothing there.
grep -LE 'class \w+Servicer' "$out"/offbeat/v1*/*_pb2_grpc.py | xargs rm
touch "$out/offbeat/v1/__init__.py" "$out/offbeat/v1beta1/__init__.py"
