#!/usr/bin/env bash
# Builds echo.cc into the given folder, with the Debian packages
# libgrpc++-dev, libprotobuf-dev, pkg-config and protobuf-compiler-grpc.
set -euo pipefail
out=$(realpath -m "$1")
cd "$(dirname "$0")"
[ "$out/echo" -nt echo.cc ] && exit
mkdir -p "$out"
protos=../../proto
protoc -I $protos -I /usr/include --cpp_out="$out" --grpc_out="$out" \
    --plugin=protoc-gen-grpc="$(command -v grpc_cpp_plugin)" $protos/offbeat/v1/{slots,audit,due_runs,id,migration,reciprocal,schedule,sql,error_reason}.proto
g++ -std=c++17 -O2 -I"$out" -o "$out/echo" echo.cc "$out"/offbeat/v1/*.cc \
    $(pkg-config --cflags --libs grpc++ protobuf)
