#!/usr/bin/env bash
# Measures everything beside its peers, and writes docs/benchmarks.md: benchmarks/run.sh [SECTION...].
# Other sections keep the figures of their last run, in target/bench. It needs a quiet machine.
set -euo pipefail
cd "$(dirname "$0")/.."
missing=()
for tool in g++:g++ grpc_cpp_plugin:protobuf-compiler-grpc php:php-cli pkg-config:pkg-config \
    protoc:protobuf-compiler python3:python3 redis-server:redis-server ruby:ruby taskset:util-linux; do
    command -v "${tool%%:*}" >/dev/null || missing+=("${tool##*:}")
done
[ -f /usr/include/grpcpp/grpcpp.h ] || missing+=(libgrpc++-dev)
[ -f /usr/include/google/protobuf/timestamp.proto ] || missing+=(libprotobuf-dev)
ruby -e 'require "google/protobuf"; require "sqlite3"' 2>/dev/null || missing+=(ruby-google-protobuf ruby-sqlite3)
php -r 'exit((int) !(extension_loaded("curl") && extension_loaded("bcmath")));' 2>/dev/null || missing+=(php-bcmath php-curl)
[ -d /usr/share/php/Google/Protobuf ] || missing+=(php-google-protobuf)
if [ ${#missing[@]} -gt 0 ]; then
    sudo=
    [ "$(id -u)" -eq 0 ] || sudo=sudo
    $sudo apt-get update -qq
    DEBIAN_FRONTEND=noninteractive $sudo apt-get install -qq -y --no-install-recommends "${missing[@]}" >/dev/null
fi
# A venv of its own for the packages that Offbeat is compared with.
peers=${CARGO_TARGET_DIR:-target}/bench/venv
if ! "$peers/bin/python" -c 'import apportionment, ciw, grpc, matplotlib, simpy' 2>/dev/null; then
    python3 -m venv "$peers"
    "$peers/bin/pip" install --quiet --disable-pip-version-check simpy==4.1.2 ciw==3.2.7 apportionment==1.0 \
        matplotlib==3.10.9 grpcio protobuf googleapis-common-protos
fi
case $peers in /*) ;; *) peers=$PWD/$peers ;; esac
export OFFBEAT_PYTHON=$peers/bin/python PYTHONPATH=$PWD/clients/python/src
# Also what a section would build itself: its time limit is for what it measures.
cargo build --release --quiet --locked --workspace --examples --bins
cargo build --release --quiet --locked --manifest-path benchmarks/unary/Cargo.toml \
    --target-dir "${CARGO_TARGET_DIR:-target}/unary"
exec "$OFFBEAT_PYTHON" benchmarks/run.py "$@"
