#!/usr/bin/env bash
# Checks the words of pages and of comments; `run.sh lint` runs it, and installs textlint.
set -euo pipefail
cd "$(dirname "$0")/../.."
tools=$PWD/target/tools/prose/node_modules

check() {
    "$tools/.bin/textlint" --config tests/prose/.textlintrc.js --rules-base-directory "$tools" --format unix "$@"
}

# docs/reference is made of the protos, and so is the generated code of the clients.
mapfile -t pages < <(git ls-files '*.md' ':!docs/reference' ':!benchmarks' ':!tests' ':!fuzz')
mapfile -t sources < <(git ls-files 'server/*.rs' 'clients/*.php' 'clients/*.py' 'clients/*.rb' \
    ':!clients/php/generated' ':!*/offbeat/v1/*' ':!*/offbeat/v1beta1/*')
status=0
check "${pages[@]}" || status=1
PROSE=comments check "${sources[@]}" || status=1
exit "$status"
