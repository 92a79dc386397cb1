# The recipes that developers and CI share. `just` lists them.

# list the recipes
[private]
help:
    @{{ just_executable() }} --list --unsorted --justfile {{ justfile() }}

# set up, lint and test everything, as CI does
test:
    ./tests/run.sh

# run the linters alone
lint:
    ./tests/run.sh lint

# check the words of pages and comments alone
prose:
    ./tests/prose/check.sh

# run the Rust tests alone
rust:
    ./tests/run.sh rust

# run the clients' tests, the README and the examples alone
clients:
    ./tests/run.sh clients

# count the instructions of hot paths, and compare them with a table
counts *arguments:
    ./benchmarks/instructions/run.sh {{ arguments }}

# repeat a suite with servers in it: rust, python, oldest, ruby, php or php-grpc
loop suite rounds="20":
    tests/support/loop.sh {{ suite }} {{ rounds }}

# kill the parts of a Celery project at random, for an hour or `--minutes`
soak *arguments:
    target/venv/bin/python tests/frameworks/soak.py {{ arguments }}

# run the main job
demo:
    ./examples/bank_sync/run.sh

# measure everything beside its peers, and write docs/benchmarks.md
bench *sections:
    ./benchmarks/run.sh {{ sections }}

# build the site of the documentation into target/site
site:
    python3 -m venv target/venv-site
    target/venv-site/bin/pip install --quiet --disable-pip-version-check --requirement site/requirements.txt
    NO_MKDOCS_2_WARNING=1 target/venv-site/bin/mkdocs build --strict

# format everything
format:
    cargo fmt --all
    cargo fmt --manifest-path fuzz/Cargo.toml
    target/tools/node_modules/.bin/buf format --write proto
    target/venv/bin/ruff format clients/python tests examples benchmarks deploy proto site

# regenerate the clients' code and the API reference from the protos
generate:
    clients/python/generate.sh
    clients/ruby/generate.sh
    clients/php/generate.sh
    target/venv/bin/python proto/reference.py

# accept today's protos as what later ones must not break (when they land)
proto-baseline:
    target/tools/node_modules/.bin/buf build proto --exclude-source-info --output proto/baseline.binpb
