#!/usr/bin/env bash
# Puts Debian 13's Redis 8 and Valkey 8 into FOLDER: FOLDER/redis-server and FOLDER/valkey-server.
# Does nothing if they exist.
#
#     tests/support/debian13_redis.sh target/debian13-redis
set -euo pipefail
# shellcheck source=tests/support/debian13.sh
. "$(dirname "$0")/debian13.sh"
folder=${1:?usage: debian13_redis.sh FOLDER}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
if "$folder/redis-server" --version >"$folder/check.log" 2>&1 &&
    "$folder/valkey-server" --version >>"$folder/check.log" 2>&1; then
    exit 0
fi

rm -rf "$folder"
unpack_debian13 "$folder" redis-server valkey-server
for server in redis-server valkey-server; do
    start_by_own_loader "$folder" "$folder/usr/bin/$server" "$folder/$server"
    "$folder/$server" --version
done
