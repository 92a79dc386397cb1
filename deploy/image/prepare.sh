#!/usr/bin/env bash
# Gathers what the image holds in target/image: the static binary, the licences,
# and the bill of materials. OFFBEAT_STATIC_BIN=FILE takes a binary that is there already.
set -euo pipefail
cd "$(dirname "$0")/../.."
target=$(uname -m)-unknown-linux-gnu
context=target/image

binary=${OFFBEAT_STATIC_BIN:-}
if [ -z "$binary" ]; then
    # Without the builder's own folders in it, so that who builds is not seen in what is built.
    remap="--remap-path-prefix=$PWD=/offbeat --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo"
    # The frame pointers are those of .cargo/config.toml, which counts no longer if RUSTFLAGS are set.
    RUSTFLAGS="-C force-frame-pointers=yes -C target-feature=+crt-static $remap" \
        cargo build --release --locked --package offbeat --target "$target"
    binary=${CARGO_TARGET_DIR:-target}/$target/release/offbeat
fi
# The image has no loader and no libraries, so that a dynamic binary would not start there.
if readelf --program-headers "$binary" | grep -q INTERP; then
    echo "prepare.sh: $binary is not static" >&2
    exit 1
fi

rm -rf "$context"
install -d -m 0770 "$context/run/offbeat" # of the Unix socket
install -m 0755 "$binary" "$context/offbeat"
install -m 0644 LICENSE "$context/LICENSE"
python3 deploy/image/materials.py --binary "$context/offbeat" --target "$target" \
    --bill "$context/offbeat.cdx.json" --licenses "$context/THIRD-PARTY-LICENSES.gz"
