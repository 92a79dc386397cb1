#!/usr/bin/env bash
# Puts the fewest inputs that reach what all of tests/corpus and fuzz/corpus reach into tests/corpus:
# keep.sh [TARGET…]. No more than 100 of a target, of all lengths, and few that take long; those that
# have a name stay.
set -euo pipefail
cd "$(dirname "$0")"
most=100
source ./build.sh
if [ $# -gt 0 ]; then targets=("$@"); else targets=("${all[@]}"); fi

fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
for target in "${targets[@]}"; do
    kept=../tests/corpus/$target
    mkdir -p "corpus/$target" "$fresh/$target" "$kept"
    # Longer ones are kept in fuzz/corpus alone.
    "$built/$target" -set_cover_merge=1 -max_len=1024 "$fresh/$target" "$kept" "corpus/$target" \
        >"$fresh/log" 2>&1 || {
        tail -n 40 "$fresh/log" >&2
        exit 1
    }
    find "$kept" -type f -regextype egrep -regex '.*/[0-9a-f]{16}' -delete
    # They are to be repeated with every test: of those that take long, a few will do.
    find "$fresh/$target" -type f -exec "$built/$target" {} + 2>&1 |
        sed -n 's/^Executed \(.*\) in \([0-9]*\) ms$/\2 \1/p' | sort -n |
        awk '$1 > 100 && ++slow > 2 {print $2}' | xargs -r rm
    mapfile -t inputs < <(find "$fresh/$target" -type f -printf '%s %p\n' | sort -n | cut -d ' ' -f 2-)
    count=${#inputs[@]}
    some=$((count < most ? count : most))
    for ((number = 0; number < some; number++)); do
        place=$((number * count / some))
        name=$(sha256sum <"${inputs[place]}" | head -c 16)
        cp "${inputs[place]}" "$kept/$name"
    done
    printf '%-14s %6s of %6s inputs\n' "$target" "$(find "$kept" -type f | wc -l)" "$count"
done
du -sb ../tests/corpus
