#!/usr/bin/env bash
# Compares named spreads in Redis with the same in memory, with Redis Streams by hand, and with
# lists as Sidekiq uses them: benchmarks/store/run.sh, after a release build. Redis runs on the same
# machine, and no process is pinned to a core.
set -euo pipefail
cd "$(dirname "$0")/../.."
built=${CARGO_TARGET_DIR:-target}/release
folder=$(mktemp -d)
trap 'kill $(jobs -p); rm -rf "$folder"' EXIT

# Starts a Redis with a folder of its own; its socket is FOLDER/NAME.sock.
redis() {
    local name=$1
    shift
    mkdir "$folder/$name"
    redis-server --port 0 --unixsocket "$folder/$name.sock" --dir "$folder/$name" --save "" "$@" >/dev/null &
    until [ -S "$folder/$name.sock" ]; do sleep 0.1; done
}

# Starts a server on a port, with further flags.
serve() {
    local port=$1
    shift
    "$built"/offbeat serve --listen "127.0.0.1:$port" --admin-listen off --max-spread-bytes 1073741824 "$@" 2>/dev/null &
}

redis plain
redis always --appendonly yes --appendfsync always
serve 23291
serve 23292 --spread-store "redis+unix://$folder/plain.sock"
serve 23293 --spread-store "redis+unix://$folder/always.sock"
serve 23294 --spread-store "redis+unix://$folder/plain.sock"
sleep 1
"$built"/examples/spread_store "in memory" 127.0.0.1:23291
"$built"/examples/spread_store "in Redis" 127.0.0.1:23292
"$built"/examples/spread_store "in Redis that writes each change to disk" 127.0.0.1:23293
"$built"/examples/spread_store "in Redis, two servers" 127.0.0.1:23292 127.0.0.1:23294
redis peers
"$built"/examples/redis_by_hand "$folder/peers.sock"
