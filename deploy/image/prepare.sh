#!/usr/bin/env bash
# Gathers the contents of the image in target/image: the static binary, the licences,
# and the bill of materials. OFFBEAT_STATIC_BIN=FILE uses an existing binary.
set -euo pipefail
cd "$(dirname "$0")/../.."
target=$(uname -m)-unknown-linux-gnu
context=target/image

binary=${OFFBEAT_STATIC_BIN:-}
if [ -z "$binary" ]; then
    # Paths of the building machine must not appear in the binary.
    remap="--remap-path-prefix=$PWD=/offbeat --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo"
    # Repeats the frame pointers of .cargo/config.toml, because RUSTFLAGS overrides that file.
    RUSTFLAGS="-C force-frame-pointers=yes -C target-feature=+crt-static $remap" \
        cargo build --release --locked --package offbeat --target "$target"
    binary=${CARGO_TARGET_DIR:-target}/$target/release/offbeat
fi
# The image has no loader and no libraries, so a dynamic binary would not start in it.
if readelf --program-headers "$binary" | grep -q INTERP; then
    echo "prepare.sh: $binary is not static" >&2
    exit 1
fi

rm -rf "$context"
install -d -m 0770 "$context/run/offbeat" # for the Unix socket
install -m 0755 "$binary" "$context/offbeat"
install -m 0644 LICENSE "$context/LICENSE"
python3 deploy/image/materials.py --binary "$context/offbeat" --target "$target" \
    --bill "$context/offbeat.cdx.json" --licenses "$context/THIRD-PARTY-LICENSES.gz"
