# Sourced: builds the targets; `all` are their names, and `built` is where their binaries are.

# shellcheck shell=bash disable=SC2034
if ! cargo fuzz --version >/dev/null 2>&1; then
    tools=$PWD/../target/tools/cargo-fuzz
    [ -x "$tools/bin/cargo-fuzz" ] ||
        cargo install --quiet --locked --root "$tools" cargo-fuzz@0.13.2
    PATH=$tools/bin:$PATH
fi
# All our code is safe Rust: without the sanitizer of addresses the stable compiler will do, at three
# times the speed.
cargo fuzz build --sanitizer none
built=${CARGO_TARGET_DIR:-target}/$(rustc -vV | sed -n 's/^host: //p')/release
mapfile -t all < <(cargo fuzz list)
