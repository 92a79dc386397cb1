#!/usr/bin/env bash
# Repeats a suite with servers in it, to find tests that fail now and then. It needs what run.sh
# sets up, and the release build of the sidecar. Several can run beside each other: tests that
# wait too little for a busy machine are faults, too.
#
#     tests/support/loop.sh rust|python|oldest|ruby|php|php-grpc ROUNDS
#
# Prints a line for each round. What a failed round said is in target/loop/SUITE-ROUND.
set -euo pipefail
cd "$(dirname "$0")/../.."
suite=${1:?usage: loop.sh SUITE ROUNDS} rounds=${2:?usage: loop.sh SUITE ROUNDS}
case $suite in
rust | python | oldest | ruby | php | php-grpc) ;;
*)
    echo "loop.sh: unknown suite $suite" >&2
    exit 64
    ;;
esac
export CARGO_INCREMENTAL=0
# Rust's tests know where the binary is, and a server warns of variables that set nothing.
[ "$suite" = rust ] || export OFFBEAT_BIN="$PWD/target/release/offbeat"
mkdir -p target/loop
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT

phpunit_round() {
    # A folder of its own: a test moves the client's folder away briefly.
    cd clients/php || return
    TMPDIR=$temporary php "$@" "$(command -v phpunit)" --do-not-cache-result
}

round() {
    case $suite in
    rust) cargo test --quiet --locked --workspace --no-fail-fast --test '*' ;;
    python) (cd clients/python && ../../target/venv/bin/pytest --quiet -p no:cacheprovider) ;;
    oldest) (cd clients/python && ../../target/venv-oldest/bin/pytest --quiet -p no:cacheprovider) ;;
    ruby)
        local file status=0
        for file in clients/ruby/test/*_test.rb; do
            ruby -w -Iclients/ruby/lib -Iclients/ruby/test "$file" || status=1
        done
        return "$status"
        ;;
    php) (phpunit_round) ;;
    php-grpc) (phpunit_round -d extension="$PWD/target/php-grpc/modules/grpc.so") ;;
    esac
}

failed=0
for number in $(seq "$rounds"); do
    log=target/loop/$suite-$number
    started=$SECONDS
    if round </dev/null >"$log" 2>&1; then
        echo "$suite $number: ok ($((SECONDS - started)) s)"
        rm "$log"
    else
        echo "$suite $number: FAILED ($((SECONDS - started)) s), see $log"
        failed=$((failed + 1))
    fi
done
echo "$failed of $rounds rounds failed"
[ "$failed" -eq 0 ]
